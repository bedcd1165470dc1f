"""`eds images`: the catalogue."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.addresses import ADDRESS
from eds.cli.console import Console, command
from eds.cli.options import one_of
from eds.cli.render import count, format_table
from eds.errors import ImageError, InputError
from eds.registry import READERS

if TYPE_CHECKING:
    from eds.io import Address
    from eds.project.catalogue import CatalogueResult, CheckResult
    from eds.project.near_duplicates import DuplicatesDecided, NearDuplicatesResult

SHOWN = 10  # bad files; all are in the list below .eds/scan
TREATED = {
    "keep": " (kept; --duplicates merge or leave-out)",
    "merge": " (merged into one product each)",
    "leave-out": " (one image of each is kept)",
}


class Bits(click.ParamType):  # type: ignore[type-arg]
    """A number of bits, or off."""

    name = "bits|off"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "int | str":
        """The number, or "off"."""
        if isinstance(value, int):
            return value
        if value == "off":
            return "off"
        if not str(value).isdigit():
            raise InputError(f"invalid number of bits {value!r}", where="option --near", hint="Give 0 to 16, or off.")
        return int(value)


class Queries(click.ParamType):  # type: ignore[type-arg]
    """all, a number of images, a share, or diverse ones."""

    name = "all|N|share|diverse[:N]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "int | float | str":
        """The number or share, or "all"."""
        if isinstance(value, (int, float)):
            return value
        if value == "all" or value.partition(":")[0] == "diverse":
            return str(value)
        try:
            return float(value) if "." in value else int(value)
        except ValueError as error:
            raise InputError(
                f"invalid number {value!r}", where="option --queries", hint="Give all, 200, 0.1 or diverse:200."
            ) from error


class Columns(click.ParamType):  # type: ignore[type-arg]
    """Our columns and those of a file, or answers and their meaning: ours=theirs,..."""

    name = "ours=theirs,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        """What is left of each = -> what is right of it."""
        if isinstance(value, dict):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        where = f"option {param.opts[0] if param else '--map'}"
        wrong = ["".join(part) for part in pairs if not part[0].strip() or not part[2].strip()]
        if wrong:
            raise InputError(f"{wrong[0]!r} maps nothing", where=where, hint="Write ours=theirs, e.g. path=file.")
        names = [ours.strip() for ours, _, _ in pairs]
        if duplicates := [ours for ours in dict.fromkeys(names) if names.count(ours) > 1]:
            raise InputError(f"{', '.join(duplicates)} is mapped twice", where=where, hint="Map each column once.")
        return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


check_option = click.option(
    "--check", type=one_of(choices.FileCheck), default="full", help="Decode every image, or read its header."
)
workers = click.option("--workers", type=click.IntRange(0), default=0, help="Threads; 0: one per core.")


def scan_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads images into the catalogue."""
    for add in (
        workers,
        click.option("--replace", is_flag=True, help="Replace a table that another command made."),
        click.option("--near", type=Bits(), default=4, help="Near duplicates: bits in which hashes may differ."),
        check_option,
        click.option("--duplicates", type=one_of(choices.Duplicates), help="What happens to identical files."),
        click.option("--on-bad", type=one_of(choices.OnBad), help="Skip and list bad files, or fail."),
        click.option("--queries", type=Queries(), help="Queries; see above (default: all, at most 1000)."),
    ):
        function = add(function)
    return function


@click.group()
def images() -> None:
    """The catalogue: scan, import, check and view images."""


@command(images, "scan", example="eds images scan --layout tree --queries 200")
@click.argument("folder", metavar="[FOLDER|URL]", type=ADDRESS, required=False)
@click.option("--layout", type=one_of(choices.Layout), help="What the subfolders mean (default: as last, or auto).")
@scan_options
def scan(console: Console, folder: "Address | None", layout: str | None, replace: bool, **options: Any) -> None:
    """Scan a folder or s3:// prefix; rereads what changed.

    --queries all, 200 or 0.1 (drawn by category), or diverse:200 (of each group of similar vectors one image; compute
    vectors first).
    """
    from eds.project.catalogue import ScanOptions

    result = console.project.scan(folder, layout=layout, options=ScanOptions(**options), replace=replace)
    console.show(result, render_catalogue)


@command(images, "import", example="eds images import catalogue.csv --map id=sku,path=file --queries 0.1")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--format", "format_name", type=one_of(READERS, "auto"), default="auto", help="Format of the files.")
@click.option("--map", "columns", type=Columns(), default="", help="Our columns in the file: ours=theirs,...")
@click.option("--root", type=ADDRESS, help="Image root, a folder or URL (default: eds.toml).")
@click.option("--gallery-phase", "gallery_phases", multiple=True, help="VSD wild task: a phase of candidates.")
@click.option("--wild-phase", "wild_phases", multiple=True, help="A phase whose images are queries only.")
@click.option("--without-files", is_flag=True, help="Do not read the images: size and sha256 stay empty.")
@scan_options
def import_(
    console: Console,
    files: tuple[Path, ...],
    without_files: bool,
    queries: Any,
    on_bad: str | None,
    check: Any,
    near: Any,
    duplicates: Any,
    workers: int,
    **options: Any,
) -> None:
    """Import image lists or datasets: CSV, VSD, CIFAR and others.

    --queries as in eds images scan.
    """
    from eds.project.catalogue import ScanOptions

    scan = ScanOptions(queries, on_bad, check, near, duplicates, workers)
    result = console.project.import_images(*files, options=scan, read_files=not without_files, **options)
    console.show(result, render_catalogue)


@command(images, "check", example="eds images check --json", reads=True)
@check_option
@workers
def check(console: Console, **options: Any) -> None:
    """Compare the table with the files."""
    result = console.project.check_images(**options)
    console.show(result, render_check)
    if result.wrong:
        raise ImageError(f"{result.wrong:,} images differ from the table", hint="Restore them, or scan again.")


@command(images, "find", example="eds images find dress --count 5", reads=True)
@click.argument("words", default="")
@click.option("--count", type=click.IntRange(1), default=12, help="Images to list.")
def find(console: Console, **options: Any) -> None:
    """Find images by id, product or category.

    Without WORDS a sample is drawn.
    """
    console.show_table(console.project.find_images(**options), "No image has these words.")


@images.group()
def duplicates() -> None:
    """Search and list near duplicates, and decide about them."""


@command(duplicates, "list", example="eds images duplicates list --open", reads=True)
@click.option("--open", "open_only", is_flag=True, help="Only pairs without a decision.")
def list_duplicates(console: Console, **options: Any) -> None:
    """List the near duplicates that were found."""
    console.show(console.project.near_duplicates(**options), render_near)


@command(duplicates, "search", example="eds images duplicates search")
@click.option(
    "--near", type=click.IntRange(0, 16), default=4, help="Bits in which hashes may differ.", show_default=True
)
def find_near_duplicates(console: Console, **options: Any) -> None:
    """Search near duplicates; scans and imports do so, too.

    For a catalogue that was drawn, or read without its files.
    """
    console.show(console.project.find_near_duplicates(**options), render_near)


def _in_pairs(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> list[tuple[str, str]]:
    if len(names) % 2:
        raise InputError(f"{names[-1]} has no second image", hint="Name two images for each pair.")
    return list(zip(names[::2], names[1::2], strict=True))


@command(duplicates, "decide", example="eds images duplicates decide drop a.jpg copy-of-a.jpg")
@click.argument("decision", type=one_of(choices.DuplicateDecision))
@click.argument("pairs", nargs=-1, required=True, metavar="IMAGE IMAGE...", callback=_in_pairs)
def decide_duplicates(console: Console, **options: Any) -> None:
    """Decide pairs: keep both, merge products, or drop.

    drop leaves the second image of a pair out; merge gives both one product. Later scans and imports obey, and eds
    undo takes a decision back.
    """
    console.show(console.project.decide_duplicates(**options), render_decided)


def render_near(result: "NearDuplicatesResult") -> str:
    """A row per pair."""
    if not result.pairs:
        return "No images look alike."
    summary = f"{result.pairs:,} pairs look alike, {result.open:,} without a decision."
    rows = result.table.head(SHOWN).to_numpy().tolist()
    headings = ["image", "image", "bits apart", "same product", "decision", "by", "when"]
    rest = f"\nand {len(result.table) - SHOWN:,} more (--json has all)" if len(result.table) > SHOWN else ""
    return f"{summary}\n\n{format_table(headings, rows)}{rest}" if rows else summary


def render_decided(result: "DuplicatesDecided") -> str:
    """What the decision does to the catalogue."""
    change = {
        "keep": "Nothing changes",
        "merge": f"{result.merged:,} images have another product",
        "drop": f"{result.dropped:,} images are left out",
    }
    later = "" if result.decision == "keep" else " Next: eds run."
    return f"{result.pairs:,} pairs: {result.decision}. {change[result.decision]}: {result.images:,} images.{later}"


@command(images, "sheet", example="eds images sheet --by product --count 48 --out sheet.html")
@click.option("--out", "to", type=ADDRESS, help="A .png, .jpg or .html file (default: sheet.png).")
@click.option("--by", type=click.Choice(["category", "product"]), default="category", help="How images are grouped.")
@click.option("--count", type=click.IntRange(1), default=60, help="Approximate number of images.")
@click.option("--columns", type=click.IntRange(1, 40), default=6, help="Images in a row (not for HTML).")
@click.option("--caption", default="image_id", help="Column shown below each image.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the selection (default: the project's).")
def sheet(console: Console, **options: Any) -> None:
    """Make a contact sheet: an image or an HTML page."""
    path = str(console.project.contact_sheet(**options))
    console.answer({"sheet": path}, f"Wrote {path}.")


def render_catalogue(result: "CatalogueResult") -> str:
    """The size of the catalogue, then what is wrong with its files."""
    roles = ", ".join(f"{count:,} {role}" for role, count in sorted(result.roles.items()))
    files = f"{count(result.read, 'file')} read, {result.reused:,} unchanged since the last scan"
    lines = [
        f"{count(result.images, 'image')} of {count(result.products, 'product')} ({roles}); "
        + ("the files were not read." if result.exact_groups is None else f"{files}.")
    ]
    if result.exact_groups or result.near_pairs:
        near = "not searched" if result.near_pairs is None else f"{result.near_pairs:,} pairs"
        near += f", the closest {result.near_listed:,}" if (result.near_pairs or 0) > result.near_listed else ""
        treated = TREATED[result.duplicates] if result.exact_groups else ""
        lines.append(
            f"Duplicates: {count(result.exact_groups or 0, 'group')} of identical files"
            f"{treated}, near duplicates: {near}; listed in {result.lists}."
        )
    if len(result.bad):
        lines.append(f"Left out, as they cannot be used: {count(len(result.bad), 'file')} ({result.lists}/bad.csv):")
        lines += [f"  {path}: {reason}" for path, reason in result.bad[:SHOWN].to_numpy().tolist()]
        lines += [f"  and {len(result.bad) - SHOWN:,} more"] if len(result.bad) > SHOWN else []
    if (found := result.proposal) is not None:
        plural = "s" if found.models > 1 else ""
        every = f"at most {found.price.pairs:,} pairs with {found.models} model{plural}, {found.price.cost}"
        sample = f"at most {found.sample_price.pairs:,} pairs, {found.sample_price.cost}"
        lines.append(
            f"{found.sample:,} of {found.queries:,} images were drawn as queries: {sample}. All of them, --queries all:"
            f" {every}."
            if found.drawn
            else f"{found.queries:,} images are queries: {every}. A sample, --queries {found.sample}: {sample}."
        )
    return "\n".join([*lines, *(f"Note: {note}." for note in result.notes)])


def render_check(result: "CheckResult") -> str:
    """How many images differ from the table, and how; then the first of them."""
    counts = {**dict.fromkeys(("missing", "unreadable", "changed", "unseen", "duplicate"), 0), **result.counts}
    optional = [name for name in ("unreadable", "unseen") if not counts[name]]
    words = {"unseen": "never read", "duplicate": "the same file as another"}
    parts = [f"{count:,} {words.get(name, name)}" for name, count in counts.items() if name not in optional]
    summary = f"{result.images:,} images: {', '.join(parts)}."
    if not len(result.problems):
        return summary
    rows = result.problems[["image_id", "problem", "detail"]].to_numpy().tolist()
    rest = f"\nand {len(rows) - SHOWN:,} more (--json has all)" if len(rows) > SHOWN else ""
    return f"{summary}\n\n{format_table(['image', 'problem', 'detail'], rows[:SHOWN])}{rest}"
