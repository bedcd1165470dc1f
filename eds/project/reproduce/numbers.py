"""The numbers of one task in the paper's units: measures of every model, overlap, leave-one-out, by printed cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError
from eds.project.inputs import PAIR, Inputs
from eds.project.reproduce.task import Task

if TYPE_CHECKING:
    import pandas as pd

    from eds.benchmarks.reproduce.compare_cells import Cell, Computed
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
EVALUATOR = {**{name: COLUMNS[name] for name in ("HR@5", "HR@9", "MRR@5", "MRR@9")},
             "ROC-AUC": COLUMNS["ROC_micro_anno"], "PR-AUC": COLUMNS["PR_micro_anno"]}  # fmt: skip
RECOGNITION = 4  # the table whose HR and MRR are of the query's own product


@dataclass
class Numbers:
    """What a task came to: results by model and measure, or why there is none; scores of the labelled pairs."""

    results: "dict[tuple[str, str], Result]" = field(default_factory=dict)
    why: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # by model and measure
    scores: "pd.DataFrame | None" = None

    def of(self, model: str, measure: str) -> "tuple[float, int, str, str]":
        """Value, n, note, and why there is no value."""
        reason = self.why.get((model, measure), "")
        result = self.results.get((model, measure))
        if result is None or result.values is None or result.values.value != result.values.value:
            return (
                float("nan"),
                0,
                self.notes.get((model, measure), ""),
                reason or (result.note if result else "") or "undefined",
            )
        return result.values.value, result.values.n, result.note, ""


def measured(task: Task) -> Numbers:
    """Every measure of every model that is here."""
    from eds.metrics import Measure

    texts = [*COLUMNS.values(), *PRODUCTS.values()]
    asked = {str(Measure.parse(text)): Measure.parse(text) for text in texts}
    found = Numbers()
    if task.negatives:
        drawn = [text for text, measure in asked.items() if measure.parameters.get("negatives") == "sampled"]
        found.why |= {(name, text): task.negatives for name in task.sources for text in drawn}
        asked = {text: measure for text, measure in asked.items() if text not in drawn}
    _by_vectors(task, asked, found)
    for name in task.runs:
        _by_run(task, name, asked, found)
    return found


def found_cells(task: Task, numbers: Numbers, cells: "pd.DataFrame", k: int) -> "dict[Cell, Computed]":
    """What became of each of the task's printed cells."""
    from eds.benchmarks.reproduce.compare_cells import Computed
    from eds.metrics import Measure

    found: dict[Cell, Computed] = {}
    for number, part in cells.groupby("table"):
        table = int(str(number))
        if table == 1:
            found |= _counts(task, part)
            continue
        if table in (2, 3):
            found |= _overlap(task, part, k) if table == 2 else _left_out(task, part, numbers, k)
            continue
        for label, model, column in zip(part["label"], part["model"], part["column"], strict=True):
            kinds = PRODUCTS if table == RECOGNITION else COLUMNS
            text = str(Measure.parse(kinds.get(column) or kinds[f"{column}_anno"]))
            if model not in task.sources:
                found[table, label, column] = Computed(why=absent(task, model))
                continue
            value, n, note, why = numbers.of(model, text)
            beside = task.beside if column.endswith("_neg") else ""
            found[table, label, column] = Computed(100 * value, n, "; ".join(filter(None, (note, beside))), why)
    return found


def absent(task: Task, model: str) -> str:
    """Why a model of the paper has no numbers."""
    return task.lacking.get(model, "the model was not given")


def _by_vectors(task: Task, asked: "Mapping[str, Measure]", found: Numbers) -> None:
    import pandas as pd

    from eds.project.score import evaluate_models

    inputs = Inputs(task.project)
    names = [name for name, source in task.sources.items() if source == "embeddings"]
    for name in names:
        evaluation = evaluate_models(inputs, list(asked.values()), [name], "embeddings", reasons=False)
        evidence = evaluation.evidence
        found.results |= {(result.model, str(result.measure)): result for result in evaluation.results}
        if evidence.scores is not None:
            found.scores = evidence.scores if found.scores is None else pd.concat([found.scores, evidence.scores])


def _by_run(task: Task, name: str, asked: "Mapping[str, Measure]", found: Numbers) -> None:
    """A run's measures on lists; those on scores only where it holds every labelled pair."""
    import pandas as pd

    from eds.benchmarks.reproduce.model_files import count_unscored, official_lists
    from eds.metrics import ScoringInputs, evaluate

    project, run = task.project, task.runs[name]
    images, truth, suspects = (project.read(table) for table in ("images", "truth", "suspects"))
    drawn = suspects.loc[suspects["origin"] == "negative", PAIR]
    whole = official_lists(run, images, every_image=True)

    def attempt(
        measures: "list[Measure]",
        why: str,
        lists: "pd.DataFrame | None",
        scores: "pd.DataFrame | None" = None,
        negatives: "pd.DataFrame | None" = None,
    ) -> bool:
        done: list[Result] = []
        if measures and not why:
            try:
                inputs = ScoringInputs(truth, lists, scores, images, negatives)
                done = evaluate(inputs, measures)
            except EdsError as error:
                why = error.what
        found.results |= {(result.model, str(result.measure)): result for result in done}
        found.why |= {(name, str(measure)): why for measure in measures} if why else {}
        return bool(done)

    def needing(*needs: str) -> "list[Measure]":
        return [measure for measure in asked.values() if measure.definition.needs in needs]

    attempt(needing("lists", "official lists"), "", project.read("neighbors", name))
    own = images.set_index("image_id")["product_id"]
    own_there = (whole["query_id"].map(own) == whole["candidate_id"].map(own)).any()
    attempt(needing("product lists"), "" if own_there else "the run leaves out the query's own product", whole)
    both = pd.concat([truth[truth["value"] == 1], drawn])
    for kind, pairs, negatives in (("annotated", truth, None), ("sampled", both, drawn)):
        measures = [one for one in needing("scores") if one.parameters.get("negatives") == kind]
        gone = count_unscored(whole, pairs, images)
        why = f"the run does not score every pair that the AUC is made of ({kind} negatives)" if gone else ""
        found.notes |= {
            (name, str(measure)): f"{gone:,} of {len(pairs):,} pairs without a score" for measure in measures
        }
        scores = whole.merge(pairs[PAIR].drop_duplicates())[["model", *PAIR, "score"]]
        if attempt(measures, why, None, scores, negatives) and kind == "annotated":
            found.scores = scores if found.scores is None else pd.concat([found.scores, scores])


def _counts(task: Task, part: "pd.DataFrame") -> "dict[Cell, Computed]":
    from eds.benchmarks.reproduce.compare_cells import Computed

    told = {"queries": task.imported.queries, "annotated_pairs": task.imported.pairs}
    return {(1, label, column): Computed(float(told[column]), told[column])
            for label, column in zip(part["label"], part["column"], strict=True)}  # fmt: skip


def _overlap(task: Task, part: "pd.DataFrame", k: int) -> "dict[Cell, Computed]":
    import pandas as pd

    from eds.benchmarks.reproduce.compare_cells import Computed
    from eds.benchmarks.reproduce.paper import known_model
    from eds.suspects import overlap

    there = [name for name in dict.fromkeys(part["model"]) if name in task.sources]
    told: dict[str, Any] = {"models": []}
    if there:
        lists = [task.project.read("neighbors", name) for name in there]
        told = overlap(pd.concat(lists, ignore_index=True), k)
    place = {name: number for number, name in enumerate(told["models"])}
    found = {}
    for label, model, column in zip(part["label"], part["model"], part["column"], strict=True):
        gone = [name for name in (model, known_model(column)) if name not in place]
        if gone:
            note = "; ".join(f"{name}: {absent(task, name)}" for name in gone)
            found[2, label, column] = Computed(note=note, why="the overlap needs the lists of both models")
        else:
            share = told["overlap"][place[model]][place[known_model(column)]]
            found[2, label, column] = Computed(100 * share, task.imported.queries, f"lists cut at k = {k}")
    return found


def _left_out(task: Task, part: "pd.DataFrame", numbers: Numbers, k: int) -> "dict[Cell, Computed]":
    """Leave-one-out over the six models of the pool, mode unique: without labels that only the removed one found."""
    import pandas as pd

    from eds.analysis import AnalysisInputs, leave_one_out
    from eds.benchmarks.reproduce.compare_cells import Computed
    from eds.benchmarks.reproduce.paper import GENERATORS

    keys = list(zip(part["label"], part["model"], part["column"], strict=True))
    scored = set(numbers.scores["model"].unique()) if numbers.scores is not None else set()
    gone = [name for name in GENERATORS if name not in scored]
    if numbers.scores is None or gone:
        note = "; ".join(f"{name}: {absent(task, name)}" for name in gone if name not in task.sources)
        why = f"needs the scores of all six models of the pool; there are none of {', '.join(gone)}"
        return {(3, label, column): Computed(note=note, why=why) for label, _, column in keys}
    lists = pd.concat([task.project.read("neighbors", name) for name in GENERATORS], ignore_index=True)
    lists = lists[lists["rank"] < k]
    scores = numbers.scores[numbers.scores["model"].isin(GENERATORS)]
    truth = task.project.read("truth")
    found = {}
    inputs = AnalysisInputs(pool_lists=lists, labels=truth, scores=scores)
    told = {one: leave_one_out(inputs, Measure("ROC-AUC", average=one)) for one in ("micro", "macro")}
    for label, model, column in keys:
        average, _, what = column.partition("_")
        one = told[average]
        value = {"auc_mean": 100 * one["mean"][model], "auc_std": 100 * one["std"][model],
                 "sc": one["spearman"][model]["rho"], "p": one["spearman"][model]["p_t"]}[what]  # fmt: skip
        exact = one["spearman"][model]["p_exact"]
        note = f"exact p {exact:.3f}" if what == "p" and exact == exact else ""
        found[3, label, column] = Computed(value, one["n_labels"], note)
    return found
