"""One task of a release as a project: its tables, the models' vectors or runs, their lists, drawn negatives.

Results of an earlier call that are still up to date are reused, so that a second call continues where the first
stopped.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks.folder import verify_checksums
from eds.benchmarks.formats import vsd
from eds.benchmarks.reproduce.model_files import find_runs, find_vectors, official_lists, read_runs
from eds.benchmarks.reproduce.paper import GENERATORS, WILD, ZERO_SHOT, paper
from eds.errors import EdsError, InputError, ProjectError
from eds.io.files import digest, write_text
from eds.project.exchange import ImportResult, store_benchmark
from eds.project.project import Project
from eds.project.reporter import Reporter
from eds.project.reproduce.models import ModelPlan, select
from eds.project.results import to_jsonable
from eds.tables import Operation

COMMAND, OPERATION = "eds benchmarks reproduce vsd", "benchmarks.reproduce.vsd"
DEPTH = 500  # of the lists: negatives are drawn from ranks 100 to 500
READ_FILES = ".eds/reproduced_files.json"  # model -> digests of the files that its vectors were read from


@dataclass
class Task:
    """A task: its project, the source of each model, and what could not be had, with the reason."""

    name: str
    project: Project
    imported: ImportResult
    notes: list[str]
    sources: dict[str, str] = field(default_factory=dict)  # model -> embeddings or run
    runs: dict[str, pd.DataFrame] = field(default_factory=dict)  # as read, without the benchmark's rules
    missing: dict[str, str] = field(default_factory=dict)  # model -> why it could not be used
    no_negatives: str = ""  # why none were drawn
    negatives_note: str = ""  # which models they were drawn from, if not all


@dataclass(frozen=True)
class TaskSettings:
    """What shapes a task: the pictures' folder, phases of the candidates, products kept apart, depth of the pool."""

    images: Path
    gallery_phases: str
    separate: bool
    k: int


def begin(out: Path, name: str, files: vsd.Files, settings: TaskSettings, reporter: Reporter) -> Task:
    """Make or open the task's project in `out`, and import the release's tables."""
    project = _project(out / name, name, settings, reporter)
    options: dict[str, Any] = {**asdict(files), "gallery_phases": settings.gallery_phases}
    given = {**options, "separate": settings.separate}
    params = {key: str(value) if isinstance(value, Path) else value for key, value in given.items() if value}
    with project.writing(COMMAND):
        notes = verify_checksums(asdict(files).values())
        imported = store_benchmark(
            project, vsd.read(**options), "benchmarks.import.vsd", params, separate=settings.separate, replace=True
        )
    notes += imported.notes
    if name in (ZERO_SHOT, WILD) and imported.candidates != paper().text["D_catalog"]:
        expected = paper().text["D_catalog"]
        notes.append(f"the paper's catalogue has {expected:,} candidates, this one {imported.candidates:,}")
    table = project.read("images")
    both = table[table["role"] == "both"]
    if name == WILD and len(both):
        counts = ", ".join(f"{phase} {count:,}" for phase, count in table["phase"].value_counts().items())
        what = f"{len(both):,} queries of the wild task are among the candidates, as {both['image_id'].iloc[0]!r}"
        hint = f"Name the phases of the candidates: --gallery-phases PHASE,... ({counts})."
        raise InputError(what, where=str(files.metadata), hint=hint)
    return Task(name, project, imported, notes)


def _project(folder: Path, name: str, settings: TaskSettings, reporter: Reporter) -> Project:
    root = settings.images.resolve()
    try:
        project = Project.open(folder, reporter=reporter)
    except ProjectError:
        values: dict[str, Any] = {"project.name": f"VSD-Fashion, {name}", "images.root": str(root)}
        values |= {"neighbors.k": DEPTH, "suspects.k": settings.k}
        project = Project.create(folder, values, reporter=reporter)
    if project.image_root.resolve() != root or project.config.suspects.k != settings.k:
        what = f"was made from pictures in {project.image_root} and with -k {project.config.suspects.k}"
        raise InputError(what, where=str(folder), hint="Name another folder: --out DIR.")
    return project


def add_models(task: Task, plan: ModelPlan, known: set[str], others: Sequence[Path]) -> None:
    """Add the planned models to the task's project; the reason why one could not be added is kept.

    `known` are images that any task names, `others` the projects of other tasks.
    """
    task.missing |= plan.missing
    if plan.embeddings is not None:
        files, missing, message = select(find_vectors(plan.embeddings, task.name), plan, plan.embeddings)
        _import_vectors(task, {name: (file.vectors, file.ids) for name, file in files.items()}, known)
    elif plan.runs is not None:
        found, ids = find_runs(plan.runs, task.name)
        runs, missing, message = select(found, plan, plan.runs)
        _write_run_lists(task, read_runs(runs, ids))
    else:
        root = task.project.image_root
        if plan.specs and not any((root / path).is_file() for path in task.project.read("images")["path"]):
            hint = "Name their folder (--images DIR), or use --embeddings DIR or --runs DIR."
            raise InputError("none of the pictures in the metadata exists", where=str(root), hint=hint)
        missing, message = {}, ""
        _compute_vectors(task, plan.specs, others)
    task.missing |= missing
    if message:
        task.project.say(message)


def _import_vectors(task: Task, files: Mapping[str, tuple[Path, Path | None]], known: set[str]) -> None:
    """Import files of vectors; vectors of images that only other tasks name are ignored."""
    from eds.project.excluded_images import write_excluded

    project = task.project
    with project.writing(COMMAND):
        write_excluded(project, known - set(project.read("images", columns=["image_id"])["image_id"]))
        read_before = _read_json(project.root / READ_FILES)
        for name, (file, ids) in files.items():
            try:
                digests = [digest(path) for path in (file, ids) if path is not None]
                fresh = project.state("embeddings", name).condition == "fresh"
                if not (fresh and read_before.get(name) == digests):
                    shutil.rmtree(project.path("embeddings", name), ignore_errors=True)
                    project.import_vectors(name, file, ids)
                    read_before[name] = digests
                    write_text(project.root / READ_FILES, json.dumps(read_before, indent=1))
                task.sources[name] = "embeddings"
            except EdsError as error:
                task.missing[name] = _reason(error)


def _compute_vectors(task: Task, specs: Mapping[str, str], others: Sequence[Path]) -> None:
    """Compute vectors by backbones, unless another task's project has them."""
    project = task.project
    with project.writing(COMMAND):
        for name, text in specs.items():
            made = _find_vectors(others, text)
            if made is not None and not (project.root / "embeddings" / made.name).exists():
                _copy(made, project.root / "embeddings" / made.name)
            try:
                computed = project.embed([text])
                result = computed.models[0]
                if len(computed.bad):
                    first = computed.bad.iloc[0]
                    what = f"{len(computed.bad):,} pictures cannot be read, as {first['image_id']!r}"
                    raise InputError(f"{what}: {first['reason']}", hint="Restore the pictures.")
                task.sources[result.model] = "embeddings"
                project.say(f"{result.model}: {result.rows:,} vectors, {result.computed:,} computed now")
            except EdsError as error:
                task.missing[name] = _reason(error)


def _write_run_lists(task: Task, runs: Mapping[str, pd.DataFrame]) -> None:
    """Write the runs' lists, by the benchmark's rules, as table neighbors."""
    project = task.project
    images = project.read("images")
    with project.writing(COMMAND):
        for name, run in runs.items():
            try:
                lists = official_lists(run, images)
                made_by = project.provenance(OPERATION, {}, [project.path("images")], params={"k": DEPTH})
                project.write(lists, "neighbors", made_by, name)
                task.sources[name], task.runs[name] = "run", run
            except EdsError as error:
                task.missing[name] = _reason(error)


def mine_lists(task: Task) -> None:
    """Mine lists 500 deep for every model that has vectors; fresh ones are reused."""
    if models := [name for name, source in task.sources.items() if source == "embeddings"]:
        task.project.mine(models)


def draw_negatives(task: Task) -> None:
    """Draw the negatives of the columns Neg from ranks 100 to 500 of the models of the pool."""
    from eds import suspects

    project = task.project
    models = [name for name in GENERATORS if name in task.sources]
    if not models:
        task.no_negatives = "negatives are drawn from the lists of the pool's models, and there is none of these"
        return
    if len(models) < len(GENERATORS):
        listed = f"{len(models)} of the {len(GENERATORS)} models: {', '.join(models)}"
        task.negatives_note = f"negatives drawn from the lists of {listed}"
    lists = pd.concat([project.read("neighbors", name) for name in models], ignore_index=True)
    images, before, truth = (project.read(name) for name in ("images", "suspects", "truth"))
    try:
        rule = suspects.NegativeRule(seed=project.config.project.seed)
        after = suspects.draw_negatives(images, lists, before, truth, rule)
    except EdsError as error:
        task.no_negatives = f"no negatives could be drawn: {error.what}"
        return
    if not (after["origin"] == "negative").any():
        task.no_negatives = "no negatives could be drawn: every pair at ranks 100 to 500 has a label"
        return
    made_by = project.provenance("benchmarks.import.vsd", {}, [project.path("neighbors", name) for name in models])
    with project.writing(COMMAND):
        project.write(after, "suspects", replace(made_by, later=(Operation(OPERATION),)))


def _find_vectors(roots: Sequence[Path], spec: str) -> Path | None:
    """Return the folder of vectors that the same backbone made in another task's project."""
    from eds.vectors import read_model

    for root in roots:
        for file in sorted((root / "embeddings").glob("*/model.json")):
            if read_model(file.parent).provenance.params.get("models") == [spec]:
                return file.parent
    return None


def _copy(folder: Path, target: Path) -> None:
    """Copy a folder: complete or not at all."""
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(folder, part)
    part.rename(target)


def _read_json(file: Path) -> dict[str, list[str]]:
    try:
        content: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content


def _reason(error: EdsError) -> str:
    """Return an error as the reason of an empty cell: on one line, without what to do."""
    return " ".join(str(to_jsonable("; ".join([error.what.rstrip("."), *error.faults[:3]]))).split())
