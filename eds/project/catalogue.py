"""The catalogue: images scanned or imported into the table `images`, checked against their files, shown as a sheet.

What is not in the table is in lists beside it, below `.eds/scan`: bad.csv, exact.csv, near.csv.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from eds.choices import Duplicates, FileCheck
from eds.errors import ImageError, InputError, ProjectError
from eds.images.duplicates import apply_policy
from eds.images.roles import assign_roles
from eds.images.scan import Scan, scan
from eds.images.sources import Catalogue, Source, read_source
from eds.io import Address
from eds.io.files import write_text
from eds.project import Project
from eds.project.changed_pictures import note_changes
from eds.project.excluded_images import write_excluded
from eds.project.image_root import settled_root, write_root
from eds.project.near_duplicates import FILE as DECISIONS_FILE
from eds.project.near_duplicates import LISTED, decided_images, keep_rows, write_near
from eds.project.results import Result

if TYPE_CHECKING:
    from eds.project.price import Price

SCAN, IMPORT = "images.scan", "images.import"
SAMPLE = 1000  # queries: drawn where all of more images would be
SHOWN = 10  # bad files named in an error
Queries = str | int | float | None  # all, diverse or diverse:N; None: as the reader says, else all, or a sample of many
Near = int | Literal["off"]


@dataclass(frozen=True)
class ScanOptions:
    """How images become the table; None of on_bad and duplicates leaves it to eds.toml."""

    queries: Queries = None
    on_bad: str | None = None  # skip or fail
    check: FileCheck = "full"
    near: Near = 4  # bits by which the hashes of near duplicates may differ
    duplicates: Duplicates | None = None  # what happens to images of identical files
    workers: int = 0

    def params(self) -> dict[str, Any]:
        """The options that decide the table and differ from their defaults."""
        default = ScanOptions()
        values = {name: getattr(self, name) for name in ("queries", "on_bad", "check", "near", "duplicates")}
        return {name: value for name, value in values.items() if value != getattr(default, name)}


@dataclass(frozen=True)
class QueryProposal(Result):
    """What judging costs if all images are queries, and if a sample is; at most, before models share pairs."""

    drawn: bool  # whether the sample was taken, as nobody said how many; False: all are queries, as before
    queries: int
    sample: int
    models: int
    price: "Price"  # of all
    sample_price: "Price"


@dataclass(frozen=True)
class CatalogueResult(Result):
    """What was written, and what was found in the files."""

    format: str
    images: int
    products: int
    roles: Mapping[str, int]
    read: int  # files
    reused: int  # files unchanged since the last scan
    bad: pd.DataFrame  # path, reason
    exact_groups: int | None  # of images with the same bytes; None: the files were not read
    near_pairs: int | None  # of near duplicates; the list has the closest of them
    duplicates: str  # what was done with images of identical files: keep, merge or leave-out
    lists: str  # folder of the lists
    proposal: "QueryProposal | None"  # where all images would be queries, and there are many
    notes: tuple[str, ...]

    @property
    def near_listed(self) -> int:
        """Pairs of near duplicates in their list."""
        return min(self.near_pairs or 0, LISTED)


@dataclass(frozen=True)
class CheckResult(Result):
    """What differs between the table and the files: missing, unreadable, changed, not read yet, or duplicate."""

    images: int
    counts: Mapping[str, int]  # by problem
    problems: pd.DataFrame  # image_id, problem, detail

    @property
    def wrong(self) -> int:
        """Images that cannot be read, or that changed."""
        return sum(self.counts.get(name, 0) for name in ("missing", "unreadable", "changed"))


def scan_images(
    project: Project,
    folder: Address | None,
    *,
    layout: str | None = None,
    options: ScanOptions = ScanOptions(),
    replace: bool = False,
) -> CatalogueResult:
    """Scan a folder of images; see `Project.scan`."""
    from eds.images.folder import read

    with project.writing(SCAN):
        _check_replace(project, SCAN, replace)
        rooted = settled_root(project, folder)
        layout, options = _as_last_time(project, layout, options)
        params = {**({"layout": layout} if layout != "auto" else {}), **options.params()}
        catalogue = read(Source((), rooted.pictures, layout=layout))
        result = _write(rooted, "folder", catalogue, SCAN, params, options)
        _settle_root(project, rooted)
    return result


def _as_last_time(project: Project, layout: str | None, options: ScanOptions) -> tuple[str, ScanOptions]:
    """Layout, queries and duplicates as given, else as in the last scan of this project."""
    state = project.state("images")
    before = state.params if state.operation == SCAN else {}
    again = {
        name: before[name] for name in ("queries", "duplicates") if name in before and getattr(options, name) is None
    }
    if layout is None and "layout" in before:
        again["layout"] = layout = before["layout"]
    if again:
        known = ", ".join(f"{name} {value}" for name, value in again.items())
        project.say(f"as in the last scan: {known}")
    again.pop("layout", None)
    return layout or "auto", replace(options, **again)


def import_images(
    project: Project,
    files: Sequence[Path],
    *,
    format_name: str = "auto",
    columns: Mapping[str, str] | None = None,
    root: Address | None = None,
    gallery_phases: Sequence[str] = (),
    wild_phases: Sequence[str] = (),
    read_files: bool = True,
    options: ScanOptions = ScanOptions(),
    replace: bool = False,
) -> CatalogueResult:
    """Import lists of images; see `Project.import_images`."""
    from eds.images.detect import detect

    with project.writing(IMPORT):
        _check_replace(project, IMPORT, replace)
        rooted = settled_root(project, root)
        name = detect(tuple(files)) if format_name == "auto" else format_name
        source = Source(tuple(files), rooted.pictures, dict(columns or {}), gallery_phases=tuple(gallery_phases))
        params = {
            "arguments": [str(file) for file in files],
            "format": name,
            "map": ",".join(f"{ours}={theirs}" for ours, theirs in (columns or {}).items()),
            "gallery_phase": list(gallery_phases),
            "wild_phase": list(wild_phases),
            "without_files": None if read_files else True,
            **options.params(),
        }
        result = _write(
            rooted, name, read_source(name, source), IMPORT, params, options, files, wild_phases, read_files=read_files
        )
        _settle_root(project, rooted)
    return result


def check_images(project: Project, *, check: FileCheck = "full", workers: int = 0) -> CheckResult:
    """Compare the table with the files; see `Project.check_images`."""
    from eds.images.verify import check_files

    table = project.read("images")
    with project.progress("checking", "files") as progress:
        problems = check_files(table, project.pictures, check=check, workers=workers, progress=progress)
    return CheckResult(len(table), _counts(problems["problem"]), problems)


def write_sheet(
    project: Project,
    to: Address | None = None,
    *,
    by: str = "category",
    count: int = 60,
    columns: int = 6,
    caption: str = "image_id",
    seed: int | None = None,
) -> Address:
    """Write a contact sheet; see `Project.contact_sheet`."""
    from eds.images.sheet import contact_sheets
    from eds.images.sheet_page import contact_page
    from eds.io import name_of
    from eds.io.files import replacing
    from eds.project.remote_paths import local_file

    to = to or project.root / "sheet.png"
    suffix = Path(name_of(to)).suffix.lower()
    if suffix not in (".html", ".htm", ".png", ".jpg", ".jpeg"):
        raise InputError(
            f"{name_of(to)} is neither image nor page", where="option --out", hint="Name it .png or .html."
        )
    shown: dict[str, Any] = {
        "by": by,
        "count": count,
        "caption": caption,
        "seed": project.config.project.seed if seed is None else seed,
        "title": project.config.project.name,
    }
    table = project.read("images")
    if project.would_write(to, "a contact sheet"):
        project.end_rehearsal()
    with local_file(to) as file:
        if suffix in (".html", ".htm"):
            with project.progress("reading", "images") as progress:
                write_text(file, contact_page(table, project.pictures, progress=progress, **shown))
        else:
            pages = contact_sheets(table, project.pictures, columns=columns, **shown)
            for number, drawn in enumerate(pages, 1):
                with replacing(file if number == 1 else file.with_stem(f"{file.stem}-{number}")) as temporary:
                    drawn.save(temporary, "PNG" if suffix == ".png" else "JPEG", quality=90)
            if len(pages) > 1:
                project.say(f"{len(pages):,} pages: the others are beside it, {file.stem}-2{file.suffix} and so on")
    return to


def refresh(project: Project) -> CatalogueResult | None:
    """Scan again if the table is absent or came from a scan (only changed files are read); imports stay as they are."""
    state = project.state("images")
    if state.condition == "fresh" and state.operation != SCAN:
        return None
    if state.condition not in ("absent", "damaged") and state.operation != SCAN:
        raise ProjectError(
            f"images.parquet is {state.condition}: {'; '.join(state.reasons)}",
            where=str(project.root),
            hint=f"Make it again: {state.made_by}." if state.made_by else "",
        )
    params = dict(state.params)
    layout = params.pop("layout", "auto")
    result = scan_images(project, None, layout=layout, options=ScanOptions(**params), replace=True)
    if state.condition == "fresh" and not result.read:
        return None
    project.say(f"images: {result.images:,} images of {result.products:,} products, {result.read:,} files read")
    return result


def _write(
    project: Project,
    name: str,
    catalogue: Catalogue,
    operation: str,
    params: Mapping[str, Any],
    options: ScanOptions,
    files: Sequence[Path] = (),
    wild_phases: Sequence[str] = (),
    *,
    read_files: bool = True,
) -> CatalogueResult:
    """Read the files, assign the roles and write the table; or refuse and leave the old one."""
    scanned: Scan | None = None
    notes = [*catalogue.notes]
    images = catalogue.images
    bad = pd.DataFrame(list(catalogue.bad), columns=["path", "reason"], dtype=object)
    near = None if options.near == "off" else options.near
    if read_files:
        with project.progress("scanning", "files") as progress:
            scanned = scan(
                images,
                project.pictures,
                check=options.check,
                near=near,
                cache=project.root / ".eds" / "scan.parquet",
                keep=not project.dry_run,
                workers=options.workers,
                progress=progress,
            )
        images = scanned.images
        notes += scanned.notes
        bad = pd.concat([bad, scanned.bad[["path", "reason"]].astype(object)], ignore_index=True)
    lists = _write_lists(project, bad, scanned)
    _refuse_bad(project, images, bad, options, lists)
    settings: dict[str, Any] = {"images.root": project.config.images.root}
    if options.on_bad is None:
        settings["images.on_bad"] = project.config.images.on_bad
    duplicates = options.duplicates or project.config.images.duplicates
    if options.duplicates is None:
        settings["images.duplicates"] = duplicates
    images, left_out, more = apply_policy(images, duplicates)
    notes += more
    proposal = None
    if options.queries is None and not wild_phases:
        proposal = _propose_queries(project, images, operation)
        if proposal is not None and proposal.drawn:
            options, params = replace(options, queries=SAMPLE), {**params, "queries": SAMPLE}
    if options.queries is not None or wild_phases:
        seed = settings["project.seed"] = project.config.project.seed
        assigned = _with_roles(project, images, options.queries, tuple(wild_phases), seed)
        if options.queries is not None and images["role"].nunique() > 1:
            notes.append("the roles of the list were replaced, as queries were asked for")
        if len(assigned) < len(images):
            notes.append(f"{len(images) - len(assigned):,} images of the wild phases were not drawn: left out")
        images = assigned
    images, changed_rows, decided = decided_images(project, images)
    if decided:
        notes.append(f"{len(changed_rows):,} images are merged or left out, as {DECISIONS_FILE} says")
    made_by = project.provenance(operation, settings, _parents(project, files), params=params)
    made_by = replace(made_by, later=decided)
    before = project.read("images", columns=["image_id", "sha256"]) if project.state("images").rows else None
    project.write(images, "images", made_by)
    if before is not None:
        note_changes(project, before, images)
    if not project.dry_run:
        keep_rows(project, changed_rows)
        left_out = [*left_out, *(set(changed_rows["image_id"]) - set(images["image_id"]))]
        if left_out:
            write_excluded(project, left_out)
    return CatalogueResult(
        name,
        len(images),
        int(images["product_id"].nunique()),
        _counts(images["role"]),
        scanned.read if scanned else 0,
        scanned.reused if scanned else 0,
        bad,
        int(scanned.exact["sha256"].nunique()) if scanned else None,
        len(scanned.near) if scanned and options.check == "full" and near is not None else None,
        duplicates,
        str(lists),
        proposal,
        tuple(notes),
    )


def _with_roles(
    project: Project, images: pd.DataFrame, queries: Queries, wild_phases: tuple[str, ...], seed: int
) -> pd.DataFrame:
    """The images with the roles that `queries` says."""
    if queries is None or queries == "all":
        return assign_roles(images, queries="all", wild_phases=wild_phases, seed=seed)
    if not isinstance(queries, str):
        return assign_roles(images, queries=queries, wild_phases=wild_phases, seed=seed)
    from eds.project.varied_queries import varied_queries

    among = images[images["phase"].isin(wild_phases)] if wild_phases else images
    chosen = varied_queries(project, among["image_id"], queries, seed)
    return assign_roles(images, wild_phases=wild_phases, seed=seed, chosen=chosen)


def _propose_queries(project: Project, images: pd.DataFrame, operation: str) -> QueryProposal | None:
    """A sample of queries with its price, where all images of a large catalogue would be queries.

    It is drawn by default, unless the roles come from a list, or all images were queries before.
    """
    from eds.project.models import generators
    from eds.project.price import price_of

    queries = int((images["role"] != "candidate").sum())
    if queries <= SAMPLE:
        return None
    models = len(generators(project, "embeddings")) or len(project.config.embeddings.models) or 1
    pairs = models * project.config.suspects.k
    prices = price_of(project, queries * pairs), price_of(project, SAMPLE * pairs)
    drawn = queries == len(images) and project.state("images").operation != operation
    return QueryProposal(drawn, queries, SAMPLE, models, *prices)


def _counts(values: "pd.Series[str]") -> dict[str, int]:
    return {str(value): int(count) for value, count in values.value_counts().items()}


def _check_replace(project: Project, operation: str, replace: bool) -> None:
    """Refuse to replace an import by a scan or a scan by an import, unless `replace`."""
    state = project.state("images")
    if not (replace or state.condition == "absent" or state.operation == operation):
        raise ProjectError(
            f"images.parquet was made by {state.made_by or 'something unreadable'}",
            where=str(project.root),
            hint="Say --replace to replace it.",
        )


def _settle_root(project: Project, rooted: Project) -> None:
    """Write a new image root to eds.toml after the table, so that a verb that fails leaves it unchanged."""
    if rooted.config.images.root != project.config.images.root:
        write_root(rooted)
        project.config = rooted.config
        project.say(f"images.root is now {rooted.config.images.root}, written to eds.toml")


def _parents(project: Project, files: Sequence[Path]) -> list[Path]:
    """The imported files that lie in the project: when one changes, the table is stale."""
    home = project.root.resolve()
    inner = [file.resolve() for file in files if file.is_file()]
    return [project.root / file.relative_to(home) for file in inner if file.is_relative_to(home)]


def _write_lists(project: Project, bad: pd.DataFrame, scanned: Scan | None) -> Path:
    lists = project.root / ".eds" / "scan"
    if project.would("replace" if lists.exists() else "make", lists, "lists of bad files and duplicates"):
        return lists
    write_text(lists / "bad.csv", bad.to_csv(index=False))
    if scanned is not None:
        write_text(lists / "exact.csv", scanned.exact.to_csv(index=False))
        write_near(project, scanned.near)
    return lists


def _refuse_bad(project: Project, images: pd.DataFrame, bad: pd.DataFrame, options: ScanOptions, lists: Path) -> None:
    faults = [f"{path}: {reason}" for path, reason in zip(bad["path"][:SHOWN], bad["reason"], strict=False)]
    if not len(images):
        raise ImageError(
            f"not one of {len(bad):,} images can be used",
            where=str(project.pictures),
            hint="Repair the files or images.root; an import need not read the files: --without-files.",
            faults=faults,
        )
    if len(bad) and (options.on_bad or project.config.images.on_bad) == "fail":
        raise ImageError(
            f"{len(bad):,} files cannot be used",
            where=str(project.pictures),
            hint=f"Repair them, or leave them out: --on-bad skip. All are in {lists / 'bad.csv'}.",
            faults=faults,
        )
