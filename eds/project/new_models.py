"""New models on a benchmark: vectors computed or copied, or a TREC run read, and kept in the project.

A backbone is computed as by `Project.embed`, a file of vectors is imported as by `Project.import_vectors`, a run as a
benchmark's: the same functions, so the same checks and the same tables.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from eds.errors import EdsError, InputError
from eds.project.models import read_recorded, record, roles, write_models

if TYPE_CHECKING:
    from eds.project import Project
    from eds.project.inputs import Inputs

VECTORS, RUNS = (".npy", ".npz", ".safetensors"), (".run", ".json", ".txt")  # runs may be compressed: .gz
RUN_COLUMN = "doc_id"  # of ranx' Parquet


def add_models(
    inputs: "Inputs", new: Mapping[str, str | Path], ids: Mapping[str, str | Path], *, allow_missing: bool = False
) -> None:
    """Add models to the project: by name a backbone, a file of vectors or a TREC run; `ids` belong to the files.

    Everything that can be checked without computing is checked first. The caller holds the project.
    """
    kinds = check_models(inputs.project, new, ids)
    if new:
        inputs.images()  # without a catalogue nothing can be added: the error says what to do
    project = inputs.project
    for name in kinds:  # to be compared; a model that is known keeps its role
        if roles(project, inputs).get(name, "removed") == "removed":
            record(project, name, role="evaluated", inputs=inputs)
    specs = [
        f"{name}={new[name]}"
        for name, kind in kinds.items()
        if kind == "backbone" and not _is_trained_here(project, name, str(new[name]))
    ]
    if specs:
        _refuse_without_pictures(inputs, specs, allow_missing=allow_missing)
        inputs.project.embed(specs)
    for name, kind in kinds.items():
        file, beside = Path(new[name]), Path(ids[name]) if name in ids else None
        if kind == "vectors":
            inputs.project.import_vectors(name, file, beside, partial=allow_missing)
        elif kind == "run":
            _import_run(inputs.project, name, file, beside)


def _is_trained_here(project: "Project", name: str, spec: str) -> bool:
    """Whether the model's vectors are the codes that its training wrote: `hash:NAME` computes these and no others."""
    state = project.state("embeddings", name)
    return state.operation == "training.hash" and state.condition == "fresh" and spec == f"hash:{name}"


def check_models(
    project: "Project", new: Mapping[str, str | Path], ids: Mapping[str, str | Path]
) -> dict[str, Literal["backbone", "vectors", "run"]]:
    """Return what each new model is; raise one error that lists every fault."""
    from eds.tables import check_model_name

    kinds: dict[str, Literal["backbone", "vectors", "run"]] = {}
    faults = [f"{name}: ids without a new model of that name" for name in ids if name not in new]
    faults += [f"{name}: there is no file {str(file)!r}" for name, file in ids.items() if not Path(file).is_file()]
    for name, item in new.items():
        try:
            check_model_name(name)
            kinds[name] = _kind_of(item)
        except InputError as error:
            faults.append(f"{name}: {error}")
            continue
        if kinds[name] == "run" and name in project.models("embeddings"):
            faults.append(f"{name}: this model has vectors, which would be scored instead of the run: rename it")
    if faults:
        raise InputError("the new models cannot be added", where="new models", hint="Correct them:", faults=faults)
    return kinds


@contextmanager
def remove_if_refused(project: "Project") -> Iterator[None]:
    """Remove lists and records that were added in the block if it is refused: later commands would trip over them."""
    before, recorded = set(project.models("neighbors")), read_recorded(project)
    try:
        yield
    except EdsError:
        for name in set(project.models("neighbors")) - before:
            project.path("neighbors", name).unlink()
        now, known = read_recorded(project), {model.name: model for model in recorded}
        there = set(project.models("embeddings"))
        kept = [known.get(model.name, model) for model in now if model.name in there or model.name in known]
        if len(kept) < len(now):
            write_models(project, kept)
        raise


def _kind_of(item: str | Path) -> Literal["backbone", "vectors", "run"]:
    """Return what the item is: a text names a backbone, or a file; a path names a file."""
    if isinstance(item, str) and not Path(item).exists():
        from eds.backbones import MODERN, PRESETS

        if ":" in item.partition("@")[0] or item.partition("@")[0] in {*PRESETS, *MODERN}:
            return "backbone"
    file = Path(item)
    suffix = Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
    if not file.exists():
        raise InputError(f"{str(item)!r} is neither a backbone nor a file")
    if file.is_dir() or suffix in VECTORS:
        return "vectors"
    if suffix in RUNS:
        return "run"
    if suffix == ".parquet":
        return "run" if RUN_COLUMN in _parquet_columns(file) else "vectors"
    raise InputError(f"{file} is neither vectors nor a run", hint=f"Use {', '.join((*VECTORS, '.parquet', *RUNS))}.")


def _parquet_columns(file: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(file).names)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the file is damaged ({error})", where=str(file), hint="Write it again.") from error


def _refuse_without_pictures(inputs: "Inputs", specs: list[str], *, allow_missing: bool) -> None:
    """Refuse before anything is computed: imported benchmarks mostly come without pictures."""
    root = inputs.project.pictures
    if isinstance(root, str):
        return  # remote pictures are read one by one
    paths = inputs.images("path")["path"]
    absent = [path for path in paths if not (root / path).is_file()]
    if absent and not (allow_missing and len(absent) < len(paths)):
        raise InputError(
            f"{len(absent):,} of {len(paths):,} pictures are missing, as {absent[0]!r}, and {specs[0]} needs them",
            where=str(root),
            hint="Put them there, leave them out (--allow-missing), or bring vectors or a run of the model.",
        )


def _import_run(project: "Project", name: str, file: Path, ids: Path | None) -> None:
    from eds.benchmarks.formats import trec
    from eds.project.exchange import store_benchmark

    benchmark = replace(trec.read_files(None, {name: file}, ids), images=None)
    params = {"new": f"{name}={file}", "ids": f"{name}={ids}" if ids else None}
    for note in store_benchmark(project, benchmark, "metrics.score", params).notes:
        if note.startswith(str(file)):  # the others are about the catalogue, which is the project's own
            project.say(f"Note: {note}.")
