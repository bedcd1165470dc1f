"""The numbers of one task in the paper's units: measures of every model, overlap, leave-one-out, by printed cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from eds.benchmarks.reproduce.compare_cells import Cell, Computed
from eds.benchmarks.reproduce.model_files import count_unscored, official_lists
from eds.benchmarks.reproduce.paper import GENERATORS, known_model
from eds.errors import EdsError
from eds.project.inputs import PAIR, Inputs
from eds.project.reproduce.task import Task

if TYPE_CHECKING:
    from eds.metrics import Measure, Result

COLUMNS = {
    **{f"HR@{k}": f"VSD-HR@{k}" for k in (5, 9)},
    **{f"MRR@{k}": f"VSD-MRR@{k}" for k in (5, 9)},
    **{
        f"{area}_{average}_{short}": f"{area}-AUC(average={average},negatives={negatives})"
        for area in ("ROC", "PR")
        for average in ("micro", "macro")
        for short, negatives in (("anno", "annotated"), ("neg", "sampled"))
    },
}
PRODUCTS = {
    **{f"HR@{k}": f"Product-HR@{k}(average=capped)" for k in (5, 9)},
    **{f"MRR@{k}": f"Product-MRR@{k}(average=slots)" for k in (5, 9)},
}
EVALUATOR = {
    **{name: COLUMNS[name] for name in ("HR@5", "HR@9", "MRR@5", "MRR@9")},
    "ROC-AUC": COLUMNS["ROC_micro_anno"],
    "PR-AUC": COLUMNS["PR_micro_anno"],
}
RECOGNITION = 4  # the table whose HR and MRR are of the query's own product


@cache
def _parse(text: str) -> "Measure":
    from eds.metrics import Measure

    return Measure.parse(text)


@dataclass
class Numbers:
    """The results of a task by model and measure, or why there is none; scores of the labelled pairs."""

    results: "dict[tuple[str, str], Result]" = field(default_factory=dict)
    why: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    scores: pd.DataFrame | None = None

    def find(self, model: str, measure: str) -> Computed:
        """Return value, n and note of a measure's text, or why there is no value."""
        key = model, str(_parse(measure))
        result = self.results.get(key)
        if result is None or result.values is None or result.values.value != result.values.value:
            why = self.why.get(key, "") or (result.note if result else "") or "undefined"
            return Computed(float("nan"), note=self.notes.get(key, ""), why=why)
        return Computed(result.values.value, result.values.n, result.note)

    def add_scores(self, scores: pd.DataFrame) -> None:
        """Add a model's scores of the labelled pairs."""
        self.scores = scores if self.scores is None else pd.concat([self.scores, scores])


def compute_numbers(task: Task) -> Numbers:
    """Compute every measure of every available model."""
    measures = {str(_parse(text)): _parse(text) for text in (*COLUMNS.values(), *PRODUCTS.values())}
    numbers = Numbers()
    if task.no_negatives:
        drawn = [text for text, measure in measures.items() if measure.parameters.get("negatives") == "sampled"]
        numbers.why |= {(name, text): task.no_negatives for name in task.sources for text in drawn}
        measures = {text: measure for text, measure in measures.items() if text not in drawn}
    _add_models_with_vectors(task, measures, numbers)
    for name in task.runs:
        _add_run(task, name, measures, numbers)
    return numbers


def compute_cells(task: Task, numbers: Numbers, cells: pd.DataFrame, k: int) -> dict[Cell, Computed]:
    """Return the outcome of each of the task's printed cells."""
    computed: dict[Cell, Computed] = {}
    for number, part in cells.groupby("table"):
        table = int(str(number))
        if table == 1:
            computed |= _counts(task, part)
        elif table == 2:
            computed |= _overlap(task, part, k)
        elif table == 3:
            computed |= _leave_one_out(task, part, numbers, k)
        else:
            measures = PRODUCTS if table == RECOGNITION else COLUMNS
            for label, model, column in zip(part["label"], part["model"], part["column"], strict=True):
                text = measures.get(column) or measures[f"{column}_anno"]
                computed[table, label, column] = _cell(task, numbers, model, text, drawn=column.endswith("_neg"))
    return computed


def _cell(task: Task, numbers: Numbers, model: str, measure: str, *, drawn: bool) -> Computed:
    if model not in task.sources:
        return Computed(why=_why_missing(task, model))
    found = numbers.find(model, measure)
    note = "; ".join(filter(None, (found.note, task.negatives_note if drawn else "")))
    return Computed(100 * (found.value or 0.0), found.n, note, found.why)


def _why_missing(task: Task, model: str) -> str:
    return task.missing.get(model, "the model was not given")


def _add_models_with_vectors(task: Task, measures: "Mapping[str, Measure]", numbers: Numbers) -> None:
    from eds.project.evaluate import evaluate_models

    inputs = Inputs(task.project)
    for name in [name for name, source in task.sources.items() if source == "embeddings"]:
        evaluation = evaluate_models(inputs, list(measures.values()), [name], "embeddings", reasons=False)
        numbers.results |= {(result.model, str(result.measure)): result for result in evaluation.results}
        if evaluation.evidence.scores is not None:
            numbers.add_scores(evaluation.evidence.scores)


def _add_run(task: Task, name: str, measures: "Mapping[str, Measure]", numbers: Numbers) -> None:
    """Add a run's measures on lists; those on scores only where it has every labelled pair."""
    from eds.metrics import ScoringInputs, evaluate

    project, run = task.project, task.runs[name]
    images, truth, suspects = (project.read(table) for table in ("images", "truth", "suspects"))
    drawn = suspects.loc[suspects["origin"] == "negative", PAIR]
    complete = official_lists(run, images, every_image=True)

    def needing(*needs: str) -> "list[Measure]":
        return [measure for measure in measures.values() if measure.definition.needs in needs]

    def attempt(chosen: "list[Measure]", inputs: ScoringInputs, why: str = "") -> bool:
        results: list[Result] = []
        if chosen and not why:
            try:
                results = evaluate(inputs, chosen)
            except EdsError as error:
                why = error.what
        numbers.results |= {(result.model, str(result.measure)): result for result in results}
        numbers.why |= {(name, str(measure)): why for measure in chosen} if why else {}
        return bool(results)

    lists = project.read("neighbors", name)
    attempt(needing("lists", "official lists"), ScoringInputs(truth, lists, None, images, None))
    product = images.set_index("image_id")["product_id"]
    has_own = (complete["query_id"].map(product) == complete["candidate_id"].map(product)).any()
    why = "" if has_own else "the run leaves out the query's own product"
    attempt(needing("product lists"), ScoringInputs(truth, complete, None, images, None), why)
    with_drawn = pd.concat([truth[truth["value"] == 1], drawn])
    for kind, pairs, negatives in (("annotated", truth, None), ("sampled", with_drawn, drawn)):
        chosen = [measure for measure in needing("scores") if measure.parameters.get("negatives") == kind]
        unscored = count_unscored(complete, pairs, images)
        why = f"the run does not score every pair that the AUC needs ({kind} negatives)" if unscored else ""
        note = f"{unscored:,} of {len(pairs):,} pairs without a score"
        numbers.notes |= {(name, str(measure)): note for measure in chosen}
        scores = complete.merge(pairs[PAIR].drop_duplicates())[["model", *PAIR, "score"]]
        if attempt(chosen, ScoringInputs(truth, None, scores, images, negatives), why) and kind == "annotated":
            numbers.add_scores(scores)


def _counts(task: Task, part: pd.DataFrame) -> dict[Cell, Computed]:
    counts = {"queries": task.imported.queries, "annotated_pairs": task.imported.pairs}
    keys = zip(part["label"], part["column"], strict=True)
    return {(1, label, column): Computed(float(counts[column]), counts[column]) for label, column in keys}


def _overlap(task: Task, part: pd.DataFrame, k: int) -> dict[Cell, Computed]:
    from eds.suspects import overlap

    names = [name for name in dict.fromkeys(part["model"]) if name in task.sources]
    index: dict[str, int] = {}
    if names:
        lists = pd.concat([task.project.read("neighbors", name) for name in names], ignore_index=True)
        shares = overlap(lists, k)
        index = {name: number for number, name in enumerate(shares["models"])}
    computed = {}
    for label, model, column in zip(part["label"], part["model"], part["column"], strict=True):
        other = known_model(column)
        missing = [name for name in (model, other) if name not in index]
        if missing:
            note = "; ".join(f"{name}: {_why_missing(task, name)}" for name in missing)
            computed[2, label, column] = Computed(note=note, why="the overlap needs the lists of both models")
        else:
            share = 100 * shares["overlap"][index[model]][index[other]]
            computed[2, label, column] = Computed(share, task.imported.queries, f"lists cut at k = {k}")
    return computed


def _leave_one_out(task: Task, part: pd.DataFrame, numbers: Numbers, k: int) -> dict[Cell, Computed]:
    """Leave each of the pool's six models out, mode unique: without labels that only the removed one found."""
    from eds.analysis import AnalysisInputs, leave_one_out
    from eds.metrics import Measure

    keys = list(zip(part["label"], part["model"], part["column"], strict=True))
    scored = set(numbers.scores["model"].unique()) if numbers.scores is not None else set()
    missing = [name for name in GENERATORS if name not in scored]
    if numbers.scores is None or missing:
        note = "; ".join(f"{name}: {_why_missing(task, name)}" for name in missing if name not in task.sources)
        why = f"needs the scores of all six models of the pool; missing: {', '.join(missing)}"
        return {(3, label, column): Computed(note=note, why=why) for label, _, column in keys}
    lists = pd.concat([task.project.read("neighbors", name) for name in GENERATORS], ignore_index=True)
    scores = numbers.scores[numbers.scores["model"].isin(GENERATORS)]
    inputs = AnalysisInputs(pool_lists=lists[lists["rank"] < k], labels=task.project.read("truth"), scores=scores)
    analyses = {name: leave_one_out(inputs, Measure("ROC-AUC", average=name)) for name in ("micro", "macro")}
    computed = {}
    for label, model, column in keys:
        average, _, what = column.partition("_")
        analysis = analyses[average]
        spearman = analysis.spearman[model]
        values = {"auc_mean": 100 * analysis.mean[model], "auc_std": 100 * analysis.std[model]}
        values |= {"sc": spearman["rho"], "p": spearman["p_t"]}
        exact = spearman["p_exact"]
        note = f"exact p {exact:.3f}" if what == "p" and exact == exact else ""
        computed[3, label, column] = Computed(values[what], analysis.n_labels, note)
    return computed
