"""ROC and precision-recall curves of all models, thinned to what a chart can show."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eds.pairs import Integers, Reals
from eds.reports.charts import curve_chart
from eds.reports.coverage import role, scored_pairs, warning
from eds.reports.document import Figure, warn
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import INPUTS, order_models

POINTS = 160  # of a curve


def curve(value: Integers, score: Reals) -> dict[str, list[float]]:
    """The points of both curves of all pairs in one list, equal scores entering together.

    Formula: at each distinct score t: false = negatives >= t / negatives, true (= recall) = positives >= t / positives,
    precision = positives >= t / pairs >= t.
    Source: specification 5.1.
    Conventions: `value` (pairs,) int64 is 1 or 0, `score` (pairs,) float64 finite; at most POINTS points, evenly along
    the drawn line, first and last always; without positives or negatives nothing.
    Example, run by doctest:
    >>> points = curve(np.array([1, 0, 1]), np.array([0.9, 0.5, 0.1]))
    >>> points["false"], points["true"]
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0])
    """
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    true, every = np.cumsum(value[order])[ends], ends + 1.0
    if not len(score) or not true[-1] or true[-1] == every[-1]:
        return {"false": [], "true": [], "precision": []}
    first = true[0] / every[0]
    x, y = np.append(0, (every - true) / (every[-1] - true[-1])), np.append(0, true / true[-1])
    precision = np.append(first, true / every)
    kept = _thin(x, y, precision)
    return {"false": x[kept].tolist(), "true": y[kept].tolist(), "precision": precision[kept].tolist()}


def _thin(x: Reals, y: Reals, z: Reals) -> Integers:
    """Indices of at most POINTS points, evenly along the line."""
    if len(x) <= POINTS:
        return np.arange(len(x))
    along = np.cumsum(np.append(0, np.abs(np.diff(x)) + np.abs(np.diff(y)) + np.abs(np.diff(z)) / 4))
    chosen = np.searchsorted(along, np.linspace(0, along[-1], POINTS))
    return np.unique(np.append(chosen, [0, len(x) - 1]))


def annotated(inputs: ReportInputs) -> Blocks:
    """Curves on the labelled negatives."""
    return (
        *warning(inputs),
        *_figures(inputs),
    )


def _figures(inputs: ReportInputs) -> Blocks:
    labelled, scores = scored_pairs(inputs)
    lines: list[dict[str, Any]] = []
    for model, score in scores.items():
        scored = np.isfinite(score)
        lines.append({"name": model, "n": int(scored.sum()), **curve(labelled.value[scored], score[scored])})
    by_name = {line["name"]: line for line in lines if line["false"]}
    lines = [by_name[name] for name in order_models(inputs, by_name)]
    if not lines:
        return (warn("No curve can be drawn: it takes a similar and a different pair with scores."),)
    names = [line["name"] for line in lines]
    marks = [role(inputs, name) == "new model" for name in names]
    caption = f"{_sample_size(lines)} in one list (micro). Dotted: chance." + (
        " Dashed: new models." if any(marks) else ""
    )
    false, true, precision = ([line[name] for line in lines] for name in ("false", "true", "precision"))
    roc = {
        "names": names,
        "marks": marks,
        "x": false,
        "y": true,
        "x_label": "false positive rate",
        "y_label": "true positive rate",
        "chance": "diagonal",
    }
    pr = {
        "names": names,
        "marks": marks,
        "x": true,
        "y": precision,
        "x_label": "recall",
        "y_label": "precision",
        "chance": float(labelled.value.mean()),
    }
    return (
        Figure("roc_annotated", "ROC, annotated negatives", curve_chart, roc, caption),
        Figure("pr_annotated", "Precision and recall, annotated negatives", curve_chart, pr, caption),
    )


def _sample_size(lines: Sequence[Mapping[str, Any]]) -> str:
    """How many pairs are behind each curve; model by model where they differ."""
    if len({line["n"] for line in lines}) == 1:
        return f"{lines[0]['n']:,} pairs"
    return "Pairs with a score: " + ", ".join(f"{line['name']} {line['n']:,}" for line in lines)


SECTION = SectionSpec(
    title="ROC and precision-recall curves",
    question="What would a threshold on a model's score achieve?",
    order=45,
    inputs=INPUTS,
    parts=(annotated,),
)
