"""What a reproduction writes: evaluator rows, TREC runs and a report per task; cells and model index over all."""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.folder import export_folder
from eds.benchmarks.formats import trec
from eds.benchmarks.reproduce.compare_cells import count_verdicts, missing_cells, render_markdown
from eds.benchmarks.reproduce.model_index import Metric, eval_results, model_index
from eds.benchmarks.reproduce.paper import GENERATORS, paper
from eds.io.files import write_text
from eds.project.reproduce.numbers import COLUMNS, EVALUATOR, Numbers
from eds.project.reproduce.task import Task
from eds.project.results import Result

TREC, INDEX, REPRODUCTION = "trec", "model-index", "reproduction.json"
MODELS, EVALS = "eval-results", ".eval_results"  # eval-results/NAME/ is laid out as a model's repository
RUN_DEPTH = 100  # of the TREC runs
MEASURES = {**EVALUATOR, **{column: text for column, text in COLUMNS.items() if text not in EVALUATOR.values()}}


@dataclass(frozen=True)
class TaskResult(Result):
    """What a task used, and the value of every measure and model in percent."""

    project: str
    queries: int
    candidates: int
    pairs: int
    positives: int
    notes: tuple[str, ...]
    models: Mapping[str, str]  # with the source: embeddings or run
    missing: Mapping[str, str]  # models, with the reason
    values: Mapping[str, Mapping[str, float]]  # by model and column
    not_held_by_trec: tuple[str, ...]
    missing_in_report: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Describe the task for a reader."""
        return [
            f"{self.queries:,} queries, {self.candidates:,} candidates, {self.pairs:,} labelled pairs,"
            f" {100 * self.positives / self.pairs:.1f} % of them similar.",
            f"Models: {', '.join(f'{name} ({source})' for name, source in self.models.items())}.",
            *(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in self.notes),
        ]


@dataclass(frozen=True)
class ReproductionResult(Result):
    """Every printed cell beside ours (`cells`), verdicts by table, and what could not be computed."""

    out: str
    paper: Mapping[str, str]
    tolerance: float
    tasks: Mapping[str, TaskResult]
    not_run: Mapping[str, str]  # tasks, with the reason
    verdicts: pd.DataFrame
    not_computed: pd.DataFrame
    cells: pd.DataFrame
    files: tuple[str, ...]


def write_task(task: Task, numbers: Numbers, out: Path, *, resamples: int) -> TaskResult:
    """Write the task's evaluator.csv, TREC files and report."""
    project = task.project
    values = {
        model: {column: _percent(numbers, model, text) for column, text in {**EVALUATOR, **COLUMNS}.items()}
        for model in task.sources
    }
    rows = [{"model": model, **{column: columns[column] for column in EVALUATOR}} for model, columns in values.items()]
    write_text(project.root / "evaluator.csv", pd.DataFrame(rows).to_csv(index=False))
    not_held = _write_trec(task, out / TREC / task.name)
    pool_models = tuple(name for name in GENERATORS if name in task.sources)
    report = project.report(resamples=resamples, pool_models=pool_models)
    return TaskResult(
        project=str(project.root),
        queries=task.imported.queries,
        candidates=task.imported.candidates,
        pairs=task.imported.pairs,
        positives=task.imported.positives,
        notes=(*task.notes, *filter(None, (task.negatives_note, task.no_negatives))),
        models=dict(task.sources),
        missing=dict(task.missing),
        values=values,
        not_held_by_trec=tuple(not_held),
        missing_in_report=tuple(part.missing for part in report.missing),
    )


def _percent(numbers: Numbers, model: str, measure: str) -> float:
    value = numbers.find(model, measure).value
    return math.nan if value is None else 100 * value


def _write_trec(task: Task, folder: Path) -> list[str]:
    """Write qrels and each model's official list, 100 deep; return what the files cannot hold."""
    project = task.project
    lists = {name: project.read("neighbors", name) for name in task.sources}
    runs = {name: rows[rows["rank"] < RUN_DEPTH] for name, rows in lists.items()}
    with export_folder(folder, replace=True) as building:
        return trec.write(Benchmark(project.read("images"), project.read("truth"), runs=runs), building)


def write_all(
    out: Path, cells: pd.DataFrame, tasks: Mapping[str, TaskResult], not_run: Mapping[str, str], tolerance: float
) -> ReproductionResult:
    """Write the files over all tasks."""
    sentences: dict[str, Sequence[str]] = {name: task.sentences() for name, task in tasks.items()}
    sentences |= {name: [f"Not run: {why}."] for name, why in not_run.items()}
    write_text(out / "tables.md", render_markdown(cells, paper(), sentences))
    write_text(out / "cells.csv", cells.to_csv(index=False))
    for folder in (INDEX, MODELS):
        shutil.rmtree(out / folder, ignore_errors=True)
    for model in sorted({model for task in tasks.values() for model in task.values}):
        metrics = {name: _metrics(task.values.get(model, {})) for name, task in tasks.items()}
        write_text(out / INDEX / f"{model}.yaml", model_index(model, metrics))
        for name, text in eval_results(metrics).items():
            write_text(out / MODELS / model / EVALS / name, text)
    listed = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    files = sorted({path.as_posix() for path in listed if _is_listed(path)} | {REPRODUCTION})
    result = ReproductionResult(
        out=str(out),
        paper=paper().source,
        tolerance=tolerance,
        tasks=dict(tasks),
        not_run=dict(not_run),
        verdicts=count_verdicts(cells),
        not_computed=missing_cells(cells),
        cells=cells,
        files=tuple(files),
    )
    write_text(out / REPRODUCTION, json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
    return result


def _metrics(values: Mapping[str, float]) -> list[Metric]:
    """Return the evaluator's six, then the further columns of Tables 5 and 6; each measure once."""
    return [(column, round(values[column], 6), text) for column, text in MEASURES.items() if column in values]


def _is_listed(path: Path) -> bool:
    """Tell whether a file is one that a reader looks for, not a table of a project."""
    parts = path.parts
    return len(parts) == 1 or parts[0] in (TREC, INDEX, MODELS) or parts[1].startswith(("report.", "evaluator."))
