"""`eds images`: the catalogue: scan or import pictures, check them, look at them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.addresses import ADDRESS
from eds.cli.console import Console, command, given
from eds.cli.image_options import bits_of, mapping_of, queries_of
from eds.cli.options import one_of
from eds.cli.render import format_table
from eds.errors import ImageError, InputError, ProjectError
from eds.registry import READERS

if TYPE_CHECKING:
    from eds.images.sources import Catalogue
    from eds.io import Address
    from eds.project import Project

SCAN = "images.scan"
SHOWN = 10  # bad files told on the screen; all are in the list beside the project

PLACE = click.Path(path_type=Path)
on_bad = click.option("--on-bad", type=one_of(choices.OnBad), help="Skip and list bad files, or refuse.")
queries = click.option("--queries", metavar="all|N|SHARE", help="Which images are queries: all, N of them, or 0.1.")
closely = click.option(
    "--check",
    type=one_of(choices.FileCheck),
    default="full",
    help="Decode every picture, or look at its header.",
)
near = click.option("--near", metavar="BITS|off", default="4", help="Near duplicates: bits in which hashes may differ.")
replace = click.option("--replace", is_flag=True, help="Replace a table that another command made.")
workers = click.option("--workers", type=click.IntRange(0), default=0, help="Threads; 0: one per core.")


def looking(function: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads pictures into the catalogue."""
    for add in (workers, replace, near, closely, on_bad, queries):
        function = add(function)
    return function


@click.group()
def images() -> None:
    """Scan or import the catalogue's pictures, check them, look at them."""


@command(images, "scan", example="eds images scan --layout tree --queries 200")
@click.argument("pictures", metavar="[FOLDER|URL]", type=ADDRESS, required=False)
@click.option("--layout", type=one_of(choices.Layout), default="auto", help="What the folders say.")
@looking
def scan(console: Console, pictures: "Address | None", replace: bool, **options: Any) -> None:
    """Read a folder of pictures, or s3://bucket/prefix, into the table images; a second scan reads what changed."""
    with console.project.writing("eds images scan"):
        project = _prepared(console.project, "scan", replace, pictures)
        document = _scan(project, given(options))
        _settle(console.project, project)
    console.answer(document, lambda: _told(document))


@command(images, "import", example="eds images import catalogue.csv --map id=sku,path=file --queries 0.1")
@click.argument("files", type=PLACE, nargs=-1, required=True)
@click.option("--format", "kind", type=one_of(READERS, "auto"), default="auto", help="How the files are to be read.")
@click.option("--map", "columns", default="", metavar="OURS=THEIRS,...", help="Which column of the file is which.")
@click.option("--root", type=ADDRESS, help="The image root (folder or URL), where it is not the one of eds.toml.")
@click.option("--gallery-phase", "gallery", multiple=True, help="VSD's wild task: a phase that candidates come from.")
@click.option("--wild-phase", "wild", multiple=True, help="A phase whose images are queries only.")
@click.option("--without-files", is_flag=True, help="Do not look for the pictures: size and sha256 stay empty.")
@looking
def import_(
    console: Console,
    files: tuple[Path, ...],
    kind: str,
    columns: str,
    root: "Address | None",
    gallery: tuple[str, ...],
    wild: tuple[str, ...],
    without_files: bool,
    replace: bool,
    **options: Any,
) -> None:
    """Read lists of images (CSV, Parquet, JSON, VSD, DeepFashion, Hugging Face) into the table images."""
    from eds.images.detect import detect
    from eds.images.sources import Source, read_source

    with console.project.writing("eds images import"):
        project = _prepared(console.project, "import", replace, root)
        name = detect(files) if kind == "auto" else kind
        source = Source(files, project.pictures, mapping_of(columns), gallery_phases=gallery)
        found = read_source(name, source)
        words = {"format": name, "map": columns, "gallery_phase": list(gallery), "wild_phase": list(wild)}
        params = {"arguments": [*map(str, files)], **words, "without_files": without_files or None, **given(options)}
        chosen: dict[str, Any] = {"look": not without_files, "wild_phases": wild, "files": files}
        document = _keep(project, found, "images.import", params, **chosen, **options)
        _settle(console.project, project)
    console.answer({"format": name, **document}, lambda: _told(document))


@command(images, "check", example="eds images check --json")
@closely
@workers
def check(console: Console, check: str, workers: int) -> None:
    """Hold the table images against the files: missing, damaged, changed, there twice."""
    from eds.images.verify import check_files

    table = console.project.read("images")
    with console.progress("checking", "files") as progress:
        problems = check_files(
            table,
            console.project.pictures,
            check="header" if check == "header" else "full",
            workers=workers,
            progress=progress,
        )
    counts = problems["problem"].value_counts().to_dict()
    console.answer(
        {"images": len(table), "counts": counts, "problems": problems},
        lambda: (
            format_table(
                ["image", "problem", "detail"], problems[["image_id", "problem", "detail"]].to_numpy().tolist()
            )
            if len(problems)
            else f"All {len(table):,} images are as the table says."
        ),
    )
    wrong = sum(counts.get(name, 0) for name in ("unreadable", "changed"))
    if wrong:
        raise ImageError(f"{wrong:,} images are not as the table says", do="Restore them, or scan again.")


@command(images, "sheet", example="eds images sheet --by product --count 48 --out sheet.html")
@click.option("--out", type=ADDRESS, default=None, help="sheet.png, .jpg or .html (default: sheet.png in the project).")
@click.option("--by", type=click.Choice(["category", "product"]), default="category", help="What stands together.")
@click.option("--count", type=click.IntRange(1), default=60, help="About how many images.")
@click.option("--columns", type=click.IntRange(1, 40), default=6, help="Images beside each other (pictures only).")
@click.option("--caption", default="image_id", help="The column that stands under each image.")
@click.option(
    "--seed", type=click.IntRange(0), default=None, help="Another seed shows others (default: the project's)."
)
def sheet(
    console: Console, out: "Address | None", by: str, count: int, columns: int, caption: str, seed: int | None
) -> None:
    """Make a contact sheet of the catalogue: a picture, or an HTML page that needs nothing else."""
    from eds.images.sheet import contact_sheet
    from eds.images.sheet_page import contact_page
    from eds.io import name_of
    from eds.io.files import replacing, write_text

    project = console.project
    out = out or project.root / "sheet.png"
    chosen: dict[str, Any] = {
        "by": by,
        "count": count,
        "caption": caption,
        "seed": project.config.project.seed if seed is None else seed,
        "title": project.config.project.name,
    }
    table = project.read("images")
    name = name_of(out)
    suffix = Path(name).suffix.lower()
    if suffix not in (".html", ".htm", ".png", ".jpg", ".jpeg"):
        raise InputError(f"{name} is neither picture nor page", where="option --out", do="Name it .png or .html.")
    from eds.project.remote_paths import local_file

    with local_file(out) as file:
        if suffix in (".html", ".htm"):
            with console.progress("reading", "images") as progress:
                write_text(file, contact_page(table, project.pictures, progress=progress, **chosen))
        else:
            drawn = contact_sheet(table, project.pictures, columns=columns, **chosen)
            with replacing(file) as temporary:
                drawn.save(temporary, "PNG" if suffix == ".png" else "JPEG", quality=90)
    console.answer({"sheet": str(out)}, f"Wrote {out}.")


def run(project: "Project") -> None:
    """Scan if the table is absent or came from a scan (only changed files are read); imports are left alone."""
    state = project.state("images")
    if state.condition == "fresh" and state.operation != SCAN:
        return
    if state.condition not in ("absent", "damaged") and state.operation != SCAN:
        raise ProjectError(
            f"images.parquet is {state.condition}: {'; '.join(state.reasons)}",
            where=str(project.root),
            do=f"Make it again: {state.made_by}." if state.made_by else "",
        )
    document = _scan(project, state.params)
    if state.condition != "fresh" or document["read"]:
        project.say(_told(document))


def _prepared(project: "Project", verb: str, replace: bool, folder: "Address | None") -> "Project":
    from eds.project.catalogue import may_replace
    from eds.project.image_root import settled_root

    may_replace(project, verb, replace)
    return settled_root(project, folder)


def _settle(before: "Project", project: "Project") -> None:
    """Write the root to eds.toml after the table, so that a command that fails leaves it unchanged."""
    from eds.project.image_root import write_root

    if project.config.images.root != before.config.images.root:
        write_root(project)
        project.say(f"images.root is now {project.config.images.root}, written to eds.toml")


def _scan(project: "Project", options: Mapping[str, Any]) -> dict[str, Any]:
    from eds.images.folder import read
    from eds.images.sources import Source

    choices = dict(options)
    found = read(Source((), project.pictures, layout=choices.pop("layout", "auto")))
    return _keep(project, found, SCAN, options, **choices)


def _keep(
    project: "Project",
    found: "Catalogue",
    operation: str,
    params: Mapping[str, Any],
    *,
    queries: str | None = None,
    near: str = "4",
    files: tuple[Path, ...] = (),
    **choices: Any,
) -> dict[str, Any]:
    """Write the table; the answer as a document."""
    from eds.project.catalogue import Choices, keep

    chosen = Choices(queries=queries_of(queries), near=bits_of(near), **choices)
    with project.progress("scanning", "files") as progress:
        kept = keep(project, found, operation, params, chosen, files, progress)
    seen = kept.seen
    return {
        "images": len(kept.images),
        "products": int(kept.images["product_id"].nunique()),
        "roles": kept.images["role"].value_counts().to_dict(),
        "read": seen.read if seen else 0,
        "reused": seen.reused if seen else 0,
        "bad": kept.bad,
        "exact_groups": int(seen.exact["sha256"].nunique()) if seen else None,
        "near_pairs": len(seen.near) if seen and chosen.check == "full" and chosen.near is not None else None,
        "lists": str(kept.lists),
        "notes": kept.notes,
    }


def _told(document: dict[str, Any]) -> str:
    bad = document["bad"]
    looked = f"{document['read']:,} files read, {document['reused']:,} unchanged since the last scan"
    if document["exact_groups"] is None:
        looked = "the files were not looked at"
    lines = [
        f"{document['images']:,} images of {document['products']:,} products "
        f"({', '.join(f'{count:,} {role}' for role, count in sorted(document['roles'].items()))}); "
        f"{looked}."
    ]
    if document["exact_groups"] or document["near_pairs"]:
        near = "not looked for" if document["near_pairs"] is None else f"{document['near_pairs']:,} pairs"
        lines.append(
            f"Same file under several names: {document['exact_groups']:,} groups; nearly the same picture: "
            f"{near}. Listed in {document['lists']}; none was left out."
        )
    if len(bad):
        lines.append(f"{len(bad):,} files cannot be used and were left out ({document['lists']}/bad.csv):")
        lines += [f"  {path}: {reason}" for path, reason in bad[:SHOWN].to_numpy().tolist()]
        lines += [f"  and {len(bad) - SHOWN:,} more"] if len(bad) > SHOWN else []
    return "\n".join([*lines, *(f"Note: {note}." for note in document["notes"])])
