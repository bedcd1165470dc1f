"""Tables 1 to 8 of VSD-Fashion's paper computed again, each cell beside the printed one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eds.benchmarks.files import read_json
from eds.benchmarks.formats.vsd import Files
from eds.benchmarks.reproduce.compare_cells import TOLERANCE, Cell, Computed, compare_cells
from eds.benchmarks.reproduce.paper import TASKS, WILD, cells
from eds.benchmarks.reproduce.release_files import KINDS, find_files
from eds.errors import InputError
from eds.images.readers.vsd import kind
from eds.project.reporter import SILENT, Reporter
from eds.project.reproduce.models import ModelChoice, plan_models, tasks_without_files
from eds.project.reproduce.numbers import compute_cells, compute_numbers
from eds.project.reproduce.outputs import ReproductionResult, write_all, write_task
from eds.project.reproduce.task import Task, TaskSettings, add_models, begin, draw_negatives, mine_lists


@dataclass(frozen=True)
class Release:
    """Where the release is: its root, or the files of one task; `images` if the pictures are not below the root."""

    root: Path | None = None
    metadata: Path | None = None
    seeds: Path | None = None
    annotations: Path | None = None
    manifest: Path | None = None
    images: Path | None = None


@dataclass(frozen=True)
class Settings:
    """How tasks are computed and compared."""

    task: str = "all"  # one of the evaluator's four, or all that have files
    gallery_phases: str = ""  # phases of the candidates, with commas between (wild task)
    separate: bool = False  # keep products of queries and candidates apart
    k: int = 6  # depth of the pool (Tables 2 and 3)
    tolerance: float = TOLERANCE
    resamples: int = 2000  # of each interval of the report; 0: none


def reproduce_vsd(
    out: str | Path,
    release: Release,
    models: ModelChoice | None = None,
    settings: Settings | None = None,
    *,
    reporter: Reporter = SILENT,
) -> ReproductionResult:
    """Compute the tables and write them beside the printed cells, with a verdict for each.

    `out` gets tables.md, cells.csv, reproduction.json, model-index/, eval-results/ and trec/, and for each task a
    project with report.html and evaluator.csv. A second call computes only what is missing.
    """
    out, settings = Path(out), settings or Settings()
    plan = plan_models(models or ModelChoice())
    files, not_run = _find_files(out, release, settings)
    not_run |= tasks_without_files(plan, list(files))
    files = {name: task_files for name, task_files in files.items() if name not in not_run}
    tasks = _begin_tasks(out, files, release, settings, reporter)
    printed, known = cells(), _known_images(files)
    computed: dict[Cell, Computed] = {}
    results = {}
    for task in tasks:
        add_models(task, plan, known, [other.project.root for other in tasks if other is not task])
        mine_lists(task)
        draw_negatives(task)
        numbers = compute_numbers(task)
        computed |= compute_cells(task, numbers, printed[printed["task"] == task.name], settings.k)
        if task.sources:
            results[task.name] = write_task(task, numbers, out, resamples=settings.resamples)
        else:
            not_run[task.name] = "no model could be used"
    if not results:
        _refuse(tasks, out)
    for name in set(TASKS) - set(files):
        part = printed[printed["task"] == name]
        outcome = Computed(why=f"task {name} was not run: {not_run.get(name, 'it was not requested')}")
        keys = zip(part["table"].tolist(), part["label"], part["column"], strict=True)
        computed |= dict.fromkeys(keys, outcome)
    compared = compare_cells(printed, computed, settings.tolerance)
    return write_all(out, compared, results, not_run, settings.tolerance)


def _find_files(out: Path, release: Release, settings: Settings) -> tuple[dict[str, Files], dict[str, str]]:
    if settings.task != "all" and settings.task not in TASKS:
        hint = f"Known: all, {', '.join(TASKS)}."
        raise InputError(f"unknown task {settings.task!r}", where="option --task", hint=hint)
    named = {name: file for name in KINDS if (file := getattr(release, name)) is not None}
    if release.root is None and not {"metadata", "annotations"} <= named.keys():
        hint = "Give --root DIR, or --metadata FILE --annotations FILE."
        raise InputError("no release is given", where="option --root", hint=hint)
    return find_files(release.root, TASKS if settings.task == "all" else (settings.task,), named, kind, out)


def _begin_tasks(
    out: Path, files: Mapping[str, Files], release: Release, settings: Settings, reporter: Reporter
) -> list[Task]:
    """Begin every task before one is computed, so that faults of files are reported at once."""
    images = release.images or release.root or next(iter(files.values())).metadata.parent
    tasks = []
    for name, task_files in files.items():
        reporter.say(f"{name}: {task_files.annotations}")
        phases = settings.gallery_phases if name == WILD or settings.task != "all" else ""
        task_settings = TaskSettings(images, phases, settings.separate, settings.k)
        tasks.append(begin(out, name, task_files, task_settings, reporter))
    return tasks


def _known_images(files: Mapping[str, Files]) -> set[str]:
    """Return every image that any task's metadata name; they were checked when the tasks began."""
    contents = [read_json(file) for file in {task_files.metadata for task_files in files.values()}]
    return {entry["path"] for content in contents for entry in content["images"]}


def _refuse(tasks: Sequence[Task], out: Path) -> None:
    """Refuse that no model could be used for any task; models that are missing for one reason are named together."""
    reasons: dict[str, list[str]] = {}
    for task in tasks:
        for name, why in task.missing.items():
            reasons.setdefault(f"{task.name}: {why}", []).append(name)
    faults = [f"{why} ({', '.join(names)})" for why, names in sorted(reasons.items(), key=lambda item: len(item[1]))]
    hint = "Give vectors, runs, weights or backbones:"
    raise InputError("no model could be used", where=str(out), hint=hint, faults=faults)
