"""Import and export of benchmarks, in every format of eds.benchmarks.formats."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds import io as storage
from eds.benchmarks.benchmark import PAIR, Benchmark, Location, Runs
from eds.benchmarks.card import count_statistics, render_card
from eds.benchmarks.folder import SUMS, check_target, export_folder, verify_checksums
from eds.benchmarks.formats import (
    FORMATS,
    convert_options,
    format_names,
    format_options,
    load_format,
    source_required,
)
from eds.benchmarks.pictures import unpacked_pictures
from eds.benchmarks.validate import (
    SEPARATE_HERE,
    Faults,
    check_benchmark,
    check_ids,
    separate_products,
    with_catalogue,
)
from eds.errors import InputError, ProjectError
from eds.io.reading import reading
from eds.project.dataset_card import CardText, make_card
from eds.project.import_votes import VoteImport, check_votes, with_own_names
from eds.project.label_store import opened
from eds.project.remote_paths import local_folder
from eds.project.results import Result
from eds.project.transaction import parts_of, refuse_others, transaction
from eds.tables import NEIGHBORS, check_model_name, read_groups

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.project.decide import Votes
    from eds.tables import Provenance

__all__ = [
    "FORMATS",
    "CardText",
    "ExportResult",
    "ImportResult",
    "export",
    "format_names",
    "format_options",
    "import_benchmark",
    "source_required",
    "store_benchmark",
]
FORMAT_OF_HUBS = "hf"


@dataclass(frozen=True)
class ExportResult(Result):
    """An export: its files, what the format does not hold of this project, and the statistics on its card."""

    format: str
    folder: str
    files: int
    listed: tuple[str, ...]  # the files and folders at the top; a folder ends with a slash
    not_held: tuple[str, ...]
    statistics: Mapping[str, Any]


@dataclass(frozen=True)
class ImportResult(Result):
    """An import: sizes of the catalogue and of what came, and notes."""

    format: str
    kept_catalogue: bool  # the project's own
    images: int
    products: int
    queries: int
    candidates: int
    excluded: int  # images that the source names and the catalogue excludes
    pictures: int  # files unpacked below the image root
    pairs: int
    positives: int
    suspects: int
    votes: int  # new in the label store
    runs: Mapping[str, int]  # rows of each model's lists
    notes: tuple[str, ...]


def export(
    project: "Project",
    format_name: str,
    to: str | Path,
    *,
    card: CardText | None = None,
    lists: bool = True,
    hide_experts: bool = False,
    with_random: bool = False,
    replace: bool = False,
    **options: Any,
) -> ExportResult:
    """Write the project's benchmark to a folder or address; see `Project.export`."""
    write, target = load_format(format_name, "write"), storage.checked(to)
    values = convert_options(format_name, "write", options)
    everything, labels = _collect(project, lists=lists, hide_experts=hide_experts)
    marked = with_random or getattr(FORMATS.load(format_name), "MARKS_RANDOM", True)
    benchmark = everything if marked else _without_random(everything)
    random = 0
    if everything.truth is not None and benchmark.truth is not None:
        random = len(everything.truth) - len(benchmark.truth)
    made = make_card(project, benchmark, labels, card or CardText())
    if values.get("keep_metadata"):
        kept = "The pictures keep their metadata: EXIF, GPS, XMP, comments."
        statements = {**made.statements, "Collection": [*made.statements.get("Collection", ()), kept]}
        made = dataclasses.replace(made, statements=statements)
    benchmark = dataclasses.replace(benchmark, card=made)
    if project.dry_run:
        _rehearse_export(project, target, benchmark, format_name, replace=replace)
    with local_folder(target, last=SUMS, replace=replace) as folder:
        with export_folder(folder, replace=replace) as building:
            not_held = write(benchmark, building, **values)
            if random:
                why = "they serve p, recall and columns of their own (--with-random includes them)"
                not_held.append(f"{random:,} labels of random pairs and sampled negatives: {why}")
            if labels is not None and len(labels.gold):
                not_held.append(f"the known answers of {len(labels.gold):,} gold pairs: withheld")
            readme = building / "README.md"
            front = readme.read_text(encoding="utf-8") if readme.exists() else ""
            readme.write_text(render_card(benchmark, format_name, not_held, front), encoding="utf-8")
        files = sum(path.is_file() for path in folder.rglob("*"))
        top = sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name))
        listed = tuple(f"{path.name}/" if path.is_dir() else path.name for path in top)
    return ExportResult(format_name, str(target), files, listed, tuple(not_held), count_statistics(benchmark))


def _rehearse_export(
    project: "Project", target: storage.Address, benchmark: Benchmark, format_name: str, *, replace: bool
) -> None:
    """Refuse a folder that the export would refuse, and say what it would hold; the dry run ends here."""
    if not storage.is_remote(target):
        check_target(storage.local_path(target), replace=replace)
    exists = not storage.is_remote(target) and storage.local_path(target).exists()
    project.would("replace" if exists else "make", str(target), f"{format_name}: {_contents(benchmark)}")
    project.end_rehearsal()


def _contents(benchmark: Benchmark) -> str:
    """What a benchmark holds, in a line."""
    parts = [f"{0 if benchmark.images is None else len(benchmark.images):,} images"]
    parts += [f"{len(benchmark.truth):,} labels"] if benchmark.truth is not None else []
    parts += [f"{len(benchmark.votes):,} votes"] if benchmark.votes is not None else []
    parts += [f"lists of {', '.join(benchmark.runs)}"] if benchmark.runs else []
    return ", ".join(parts)


def would_push(project: "Project", what: str, *, lists: bool = True) -> None:
    """Say what would leave this machine; the dry run ends here."""
    if project.dry_run:
        benchmark, _ = _collect(project, lists=lists, hide_experts=False)
        project.would("change", what, f"{FORMAT_OF_HUBS}: {_contents(benchmark)}")
        project.end_rehearsal()


class _Lists(Runs):
    """The lists of the models, read when a format writes them, a part at a time."""

    def __init__(self, project: "Project", models: Sequence[str]) -> None:
        self._project, self._models = project, models

    def __getitem__(self, model: str) -> "pd.DataFrame":
        if model not in self._models:
            raise KeyError(model)
        return self._project.read("neighbors", model)

    def parts(self, model: str) -> "Iterator[pd.DataFrame]":
        """Yield the lists of so many queries that a part has half a million rows, or one query's."""
        file = self._project.path("neighbors", model)
        for part in read_groups(file, NEIGHBORS, "query_id"):
            yield part.sort_values(["query_id", "rank"], ignore_index=True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


def _collect(project: "Project", *, lists: bool, hide_experts: bool) -> "tuple[Benchmark, Votes | None]":
    """Return the project's benchmark, and the content of its label store (None where there is none)."""
    exists = {name: project.path(name).exists() for name in ("images", "suspects", "truth")}
    if not exists["images"]:
        raise ProjectError(
            "there is no catalogue to export", where=str(project.root), hint="Start with eds images scan."
        )
    tables = {name: project.read(name) if exists[name] else None for name in exists}
    tables["truth"] = _without_undone(project, tables["truth"], tables["suspects"])
    faults = Faults()
    check_ids(project.read("images"), ["image_id", "product_id"], Location(project.path("images")), faults)
    faults.raise_any("ids of the catalogue break the readers of other formats", "Rename the images:")
    votes, labels = _votes(project)
    if votes is not None and hide_experts:
        names = {name: f"expert-{number}" for number, name in enumerate(sorted(votes["expert_id"].unique()), 1)}
        votes = votes.assign(expert_id=votes["expert_id"].map(names))
    runs = _Lists(project, project.models("neighbors") if lists else [])
    root = project.image_root if isinstance(project.pictures, Path) else None
    return Benchmark(tables["images"], tables["truth"], tables["suspects"], votes, runs, root), labels


def _votes(project: "Project") -> "tuple[Any, Votes | None]":
    if not (project.path("labels").exists() or project.config.labels.url):
        return None, None
    from eds.project.decide import read_votes
    from eds.project.label_store import opened
    from eds.schema import to_frame

    labels = read_votes(project)
    with opened(project) as store:
        from eds.labels.frames import labels_arrow

        votes = to_frame(store.snapshot(lambda connection: labels_arrow(connection, store.place)))
    return votes.rename(columns={"label_id": "vote_id"}), labels


def _without_undone(project: "Project", truth: Any, suspects: Any) -> Any:
    """Return the labels without those of draws that were undone: elsewhere nothing would tell what they were."""
    from eds.project.journal import withdrawn
    from eds.suspects import benchmark_labels

    if truth is None or suspects is None:
        return truth
    gone = withdrawn(project, suspects, judged=True)
    own = gone.merge(suspects[PAIR].drop_duplicates(), on=PAIR, how="left", indicator=True)["_merge"] == "left_only"
    kept = benchmark_labels(truth, gone[own.to_numpy()])
    if len(kept) < len(truth):
        project.say(f"{len(truth) - len(kept):,} labels of draws that were undone are left out.")
    return kept


def _without_random(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with only those labels that models are measured on."""
    from eds.suspects import benchmark_labels

    truth = benchmark.truth
    if truth is None:
        return benchmark
    return dataclasses.replace(benchmark, truth=benchmark_labels(truth, benchmark.suspects))


def import_benchmark(
    project: "Project",
    format_name: str,
    source: str | Path | None = None,
    *,
    campaign: str | None = None,
    separate: bool = False,
    replace: bool = False,
    **options: Any,
) -> ImportResult:
    """Import a benchmark; see `Project.import_benchmark`."""
    read = load_format(format_name, "read")
    values = convert_options(format_name, "read", options)
    sources = [] if source is None else [Path(source)]
    if not sources and source_required(format_name):
        raise InputError("no source is given", where=f"format {format_name}", hint="Name its folder or file.")
    if sources and not sources[0].exists():
        raise InputError("does not exist", where=str(source), hint="Name a folder or file that exists.")
    given = {"campaign": campaign, "separate": separate or None, "replace": replace or None, **values}
    params = {"arguments": list(map(str, sources)), **{name: _as_text(value) for name, value in given.items()}}
    files = [item for value in values.values() for item in (value if isinstance(value, tuple) else [value])]
    with project.writing(f"eds benchmarks import {format_name}"):
        notes = verify_checksums([*sources, *(file for file in files if isinstance(file, Path))])
        benchmark = _read(read, sources, values)
        benchmark = dataclasses.replace(benchmark, notes=(*notes, *benchmark.notes))
        return store_benchmark(
            project,
            benchmark,
            f"benchmarks.import.{format_name}",
            params,
            campaign=campaign,
            separate=separate,
            replace=replace,
        )


def import_pulled(
    project: "Project", folder: Path, params: Mapping[str, Any], *, separate: bool = False, replace: bool = False
) -> ImportResult:
    """Import a folder that was downloaded from a hub; `params` say from where."""
    with project.writing("eds benchmarks pull"):
        notes = verify_checksums([folder])
        benchmark = _read(load_format(FORMAT_OF_HUBS, "read"), [folder], {})
        benchmark = dataclasses.replace(benchmark, notes=(*notes, *benchmark.notes))
        return store_benchmark(project, benchmark, "benchmarks.pull", params, separate=separate, replace=replace)


def _as_text(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def store_benchmark(
    project: "Project",
    benchmark: Benchmark,
    operation: str,
    params: Mapping[str, Any],
    *,
    campaign: str | None = None,
    separate: bool = False,
    replace: bool = False,
) -> ImportResult:
    """Check the benchmark against the project, then write it; the caller holds the project.

    Tables that another kind of operation made are replaced only with `replace`.
    """
    benchmark, kept = _checked(project, benchmark, separate=separate, replace=replace)
    images: Any = benchmark.images
    tables: dict[str, Any] = {f"neighbors/{check_model_name(model)}": run for model, run in benchmark.runs.items()}
    tables |= {"truth": benchmark.truth, "suspects": benchmark.suspects, "images": None if kept else images}
    tables = {name: frame for name, frame in tables.items() if frame is not None}  # images last: all others need it
    refuse_others(project, tuple(tables), operation, replace)
    votes = None
    if benchmark.votes is not None:
        votes = VoteImport(benchmark.votes, benchmark.locations["votes"], campaign)
    parents = [project.path("images")] if kept else []
    made_by = project.provenance(operation, {}, parents, params=params)
    excluded = benchmark.excluded if benchmark.excluded and not kept else None
    if project.dry_run:
        _rehearse_import(project, benchmark, tables, made_by, votes)
    with (
        transaction(project) as work,
        unpacked_pictures(benchmark, project.image_root, work.note_picture) as pictures,
    ):
        work.put(tables, made_by, votes.run if votes else None, excluded)
    truth, suspects, roles = benchmark.truth, benchmark.suspects, images["role"]
    return ImportResult(
        format=operation.rpartition(".")[2] if operation != "benchmarks.pull" else FORMAT_OF_HUBS,
        kept_catalogue=kept,
        images=len(images),
        products=int(images["product_id"].nunique()),
        queries=int((roles != "candidate").sum()),
        candidates=int((roles != "query").sum()),
        excluded=len(benchmark.excluded),
        pictures=pictures,
        pairs=0 if truth is None else len(truth),
        positives=0 if truth is None else int(truth["value"].sum()),
        suspects=0 if suspects is None else len(suspects),
        votes=votes.added if votes else 0,
        runs={model: len(run) for model, run in benchmark.runs.items()},
        notes=(*benchmark.notes, *(votes.notes if votes else ())),
    )


def _rehearse_import(
    project: "Project", benchmark: Benchmark, tables: Mapping[str, Any], made_by: "Provenance", votes: VoteImport | None
) -> None:
    """Say what an import would write; the dry run ends here."""
    for name, frame in tables.items():
        project.write(frame, parts_of(name)[0], made_by, *parts_of(name)[1:])
    if benchmark.picture_shards or benchmark.picture_folder:
        project.would("make", project.image_root, "pictures of the benchmark that are not there yet")
    if votes is not None:
        with opened(project, create=True) as store:
            votes.run(store, "")
    project.end_rehearsal()


def _read(read: Callable[..., Benchmark], sources: Sequence[Path], values: Mapping[str, Any]) -> Benchmark:
    with reading(sources[0] if sources else "the files", hint="Nothing was imported. Write it again."):
        return read(*sources, **values)


def _checked(project: "Project", benchmark: Benchmark, *, separate: bool, replace: bool) -> tuple[Benchmark, bool]:
    """The benchmark as the project can take it, and whether the project's own catalogue is kept."""
    first = next(iter(benchmark.locations.values()), None)
    where = "the benchmark" if first is None else first.file
    with reading(where, "cannot be imported", "Nothing was imported. Write it again."):
        if benchmark.votes is not None:
            own_names = with_own_names(benchmark.votes, benchmark.locations["votes"])
            benchmark = dataclasses.replace(benchmark, votes=own_names)
        own = project.read("images") if project.path("images").exists() else None
        has_ids = "ids" in benchmark.locations and "catalogue" not in benchmark.locations
        benchmark, kept = with_catalogue(benchmark, own, project.image_root, replaced=replace)
        if separate and kept and own is not None:
            raise InputError(
                f"products can be separated only in an imported catalogue; the project's own ({len(own):,} images) "
                "is kept",
                where="images.parquet",
                hint="Use --replace, too: it takes the file's catalogue." if has_ids else f"Instead, {SEPARATE_HERE}.",
            )
        benchmark = separate_products(benchmark) if separate else benchmark
        benchmark, faults = check_benchmark(benchmark, kept=kept)
        if benchmark.votes is not None and benchmark.images is not None:
            check_votes(benchmark.votes, benchmark.images["image_id"], benchmark.locations["votes"], faults)
        faults.raise_any("the benchmark cannot be imported", "Nothing was imported:")
        return benchmark, kept
