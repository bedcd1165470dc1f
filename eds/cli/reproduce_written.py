"""What a reproduction leaves: by task report, evaluator's rows, TREC runs; over all tables, cells, model index."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.cli.render import format_table
from eds.project.reproduce.numbers import COLUMNS, EVALUATOR, Numbers
from eds.project.reproduce.task import Task
from eds.project.results import to_jsonable

if TYPE_CHECKING:
    import pandas as pd

COUNTS = ("queries", "candidates", "pairs", "positives")
TREC, INDEX, KEPT = "trec", "model-index", "reproduction.json"
MODELS, EVALS = "eval-results", ".eval_results"  # eval-results/NAME/ is laid out as a model's repository
FEW = 4  # rows that are named behind a reason
RUN_DEPTH = 100  # of the TREC runs


def written_task(task: Task, numbers: Numbers, out: Path, *, resamples: int) -> dict[str, Any]:
    """Write the task's report, evaluator.csv and TREC files; what is told of the task."""
    from eds.benchmarks.reproduce.paper import GENERATORS

    project = task.project
    makers = tuple(name for name in GENERATORS if name in task.sources)
    values = {model: {column: _percent(numbers, model, text) for column, text in {**EVALUATOR, **COLUMNS}.items()}
              for model in task.sources}  # fmt: skip
    _evaluator_rows(project.root / "evaluator.csv", values)
    lost = _trec(task, out / TREC / task.name)
    report = project.report(resamples=resamples, pool_models=makers)
    return {
        "project": str(project.root), **{name: getattr(task.imported, name) for name in COUNTS},
        "notes": [*task.notes, *filter(None, (task.beside, task.negatives))],
        "models": task.sources, "lacking": task.lacking, "values": values, "not_held_by_trec": lost,
        "report_lacks": [part.missing for part in report.missing],
    }  # fmt: skip


def written(
    out: Path, table: "pd.DataFrame", tasks: Mapping[str, dict[str, Any]], gone: Mapping[str, str], tolerance: float
) -> dict[str, Any]:
    """Write what holds for all tasks; the document of the command."""
    from eds.benchmarks.reproduce.compare_cells import count_verdicts, missing_cells, render_markdown
    from eds.benchmarks.reproduce.model_index import eval_results, model_index
    from eds.benchmarks.reproduce.paper import paper
    from eds.io.files import write_text

    sentences = {name: _sentences(one) for name, one in tasks.items()}
    sentences |= {name: [f"Not run: {why}."] for name, why in gone.items()}
    write_text(out / "tables.md", render_markdown(table, paper(), sentences))
    write_text(out / "cells.csv", table.to_csv(index=False))
    for folder in (INDEX, MODELS):
        shutil.rmtree(out / folder, ignore_errors=True)
    for model in sorted({model for one in tasks.values() for model in one["values"]}):
        metrics = {name: _metrics(one["values"].get(model, {})) for name, one in tasks.items()}
        write_text(out / INDEX / f"{model}.yaml", model_index(model, metrics))
        for name, text in eval_results(metrics).items():
            write_text(out / MODELS / model / EVALS / name, text)
    known = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file() and _told(path, out)}
    files = sorted({*known, KEPT})
    document = {
        "paper": paper().source, "tolerance": tolerance, "tasks": dict(tasks), "not_run": dict(gone),
        "verdicts": count_verdicts(table), "not_computed": missing_cells(table), "cells": table, "out": str(out),
        "files": files,
    }  # fmt: skip
    write_text(out / KEPT, json.dumps(to_jsonable(document), ensure_ascii=False, allow_nan=False, indent=1))
    return document


def told(document: dict[str, Any]) -> str:
    """The answer for reading."""
    lines = []
    for name, one in document["tasks"].items():
        lines += [f"{name}:", *(f"  {sentence}" for sentence in _sentences(one)), ""]
    lines += [f"Not run: {name}: {why}." for name, why in document["not_run"].items()]
    counts = document["verdicts"]
    lines += [
        "Printed cells and ours, by table:",
        format_table(list(counts.columns), counts.astype(object).to_numpy().tolist()),
        "",
    ]
    gone = document["not_computed"]
    if len(gone):
        lines += ["Cells that could not be computed, and why:"]
        lines += [_gone(*one) for one in gone.to_numpy().tolist()]
    return "\n".join([*lines, "", f"Every cell beside the printed one: {document['out']}/tables.md (and cells.csv)."])


def _gone(why: str, n: int, tables: str, rows: str) -> str:
    """One reason with what it holds for; the rows where they are few."""
    few = f" ({rows})" if rows.count(",") < FEW else ""
    return f"  {n:,} in {'Tables' if ',' in tables else 'Table'} {tables}{few}: {why}"


def _sentences(one: dict[str, Any]) -> list[str]:
    share = one["positives"] / one["pairs"]
    return [
        f"{one['queries']:,} queries, {one['candidates']:,} candidates, {one['pairs']:,} labelled pairs, {share:.1%} of"
        " them similar.",
        f"Models: {', '.join(f'{name} ({source})' for name, source in one['models'].items())}.",
        *(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in one["notes"]),
    ]


def _percent(numbers: Numbers, model: str, measure: str) -> float:
    from eds.metrics import Measure

    return 100 * numbers.of(model, str(Measure.parse(measure)))[0]


def _evaluator_rows(file: Path, values: Mapping[str, Mapping[str, float]]) -> None:
    """One row a model, as the public evaluator prints it: times 100."""
    import pandas as pd

    from eds.io.files import write_text

    rows = [{"model": model, **{column: found[column] for column in EVALUATOR}} for model, found in values.items()]
    write_text(file, pd.DataFrame(rows).to_csv(index=False))


def _trec(task: Task, folder: Path) -> list[str]:
    """Qrels and each model's official list, 100 deep; what the files cannot hold."""
    from eds.benchmarks.benchmark import Benchmark
    from eds.benchmarks.folder import export_folder
    from eds.benchmarks.formats import trec

    project = task.project
    lists = {name: project.read("neighbors", name) for name in task.sources}
    runs = {name: one[one["rank"] < RUN_DEPTH] for name, one in lists.items()}
    with export_folder(folder, replace=True) as building:
        return trec.write(Benchmark(project.read("images"), project.read("truth"), runs=runs), building)


def _metrics(values: Mapping[str, float]) -> list[tuple[str, float, str]]:
    """The evaluator's six, then the further columns of Tables 5 and 6; each measure once."""
    texts = {**EVALUATOR, **{column: text for column, text in COLUMNS.items() if text not in EVALUATOR.values()}}
    return [(column, round(values[column], 6), text) for column, text in texts.items() if column in values]


def _told(path: Path, out: Path) -> bool:
    """Whether a file is one that a reader looks for; not the tables of the projects."""
    parts = path.relative_to(out).parts
    return len(parts) == 1 or parts[0] in (TREC, INDEX, MODELS) or parts[1].startswith(("report.", "evaluator."))
