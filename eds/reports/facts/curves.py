"""ROC and precision-recall curves of all models, thinned to what a drawing can show."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eds.pairs import Integers, Reals
from eds.reports.document import Block, Figure, say
from eds.reports.facts.evidence import outsiders, scored, warning
from eds.reports.facts.scores import NEGATIVES
from eds.reports.material import Material

POINTS = 160  # of a curve


def curve(value: Integers, score: Reals) -> dict[str, list[float]]:
    """The points of both curves of all pairs in one list, equal scores entering together.

    Formula: at each distinct score t: false = negatives >= t / negatives, true (= recall) = positives >= t / positives,
    precision = positives >= t / pairs >= t.
    Source: specification 5.1.
    Conventions: `value` (pairs,) int64 is 1 or 0, `score` (pairs,) float64 finite; at most POINTS points, evenly along
    the drawn line, first and last always; without positives or negatives nothing.
    Example, run by doctest:
    >>> told = curve(np.array([1, 0, 1]), np.array([0.9, 0.5, 0.1]))
    >>> told["false"], told["true"]
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
    kept = _spread(x, y, precision)
    return {"false": x[kept].tolist(), "true": y[kept].tolist(), "precision": precision[kept].tolist()}


def _spread(x: Reals, y: Reals, z: Reals) -> Integers:
    if len(x) <= POINTS:
        return np.arange(len(x))
    along = np.cumsum(np.append(0, np.abs(np.diff(x)) + np.abs(np.diff(y)) + np.abs(np.diff(z)) / 4))
    wanted = np.searchsorted(along, np.linspace(0, along[-1], POINTS))
    return np.unique(np.append(wanted, [0, len(x) - 1]))


def annotated(material: Material) -> tuple[Block, ...]:
    """On the labelled negatives."""
    return (
        say(
            "All pairs in one list (micro). The dotted line is chance; models that had no part in the pool are dashed.",
            "note",
        ),
        *warning(material),
        *_figures(material, "annotated"),
    )


def sampled(material: Material) -> tuple[Block, ...]:
    """On drawn negatives."""
    if material.negatives is None:
        return (NEGATIVES,)
    return (*warning(material, "sampled"), *_figures(material, "sampled"))


def _figures(material: Material, side: str) -> tuple[Block, ...]:
    labelled, scores = scored(material, side)
    lines: list[dict[str, Any]] = []
    for model, score in scores.items():
        there = np.isfinite(score)
        lines.append({"name": model, "n": int(there.sum()), **curve(labelled.value[there], score[there])})
    lines = [line for line in lines if line["false"]]
    if not lines:
        return (say("No curve can be drawn: there are no pairs of both kinds with a score.", "warn"),)
    names, share = [line["name"] for line in lines], float(labelled.value.mean())
    n = f"{_behind(lines)}, {side} negatives"
    later = set(outsiders(material, names))
    marks = [name in later for name in names]
    false, true, precision = ([line[name] for line in lines] for name in ("false", "true", "precision"))
    roc = {"names": names, "marks": marks, "x": false, "y": true, "x_label": "false positive rate",
           "y_label": "true positive rate", "chance": "diagonal"}  # fmt: skip
    pr = {"names": names, "marks": marks, "x": true, "y": precision, "x_label": "recall", "y_label": "precision",
          "chance": share}  # fmt: skip
    return (
        Figure(f"roc_{side}", f"ROC, {side} negatives", "curves", roc, n),
        Figure(f"pr_{side}", f"Precision and recall, {side} negatives", "curves", pr, n),
    )


def _behind(lines: Sequence[Mapping[str, Any]]) -> str:
    """How many pairs each curve rests on; where models score different ones, model by model."""
    if len({line["n"] for line in lines}) == 1:
        return f"{lines[0]['n']:,} pairs"
    return "Pairs with a score: " + ", ".join(f"{line['name']} {line['n']:,}" for line in lines)


PARTS = (annotated, sampled)
