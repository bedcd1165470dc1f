"""Whether a measure is fair to a model that had no part in the pool: each generator is treated as if it were new.

The verdict is graded. What counts is how far a generator's value moves without its own finds, and whether that would
change what is said of two models; models that the queries do not distinguish have no order that could change.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from eds.analysis.compare import pseudo_values
from eds.analysis.comparison import Comparison, MeasureComparison
from eds.analysis.inputs import AnalysisInputs
from eds.analysis.measure_data import MeasureData
from eds.analysis.paired import difference_interval, holm, paired_p
from eds.intervals import RESAMPLES
from eds.metrics.definition import Values
from eds.pairs import Reals

Grade = Literal["fair", "small bias", "biased", "not known"]
UNDRAWN = "how the negatives were drawn is not known, so they cannot be drawn again without the model's lists"
SMALL = 0.01  # of a shift: the interval of a fair measure lies within +- SMALL


@dataclass(frozen=True)
class Shift:
    """One generator treated as if it were new: what its value does without its own finds."""

    model: str
    value: float  # on all labels
    unpooled: float  # without the labels of the pairs that only it proposed
    shift: float  # unpooled - value
    low: float  # interval over queries
    high: float
    swapped_with: tuple[str, ...]  # models with which its order changes, beyond sampling error before or after


@dataclass(frozen=True)
class MeasureFairness:
    """A measure's verdict, and the shifts that it rests on; `reason` says why it is not known."""

    measure: str
    grade: Grade
    shifts: tuple[Shift, ...] = ()
    reason: str = ""
    not_for: tuple[str, ...] = ()  # models that were trained on the labels: no measure is fair on them

    @property
    def largest(self) -> Shift | None:
        """The largest shift, up or down."""
        return max(self.shifts, key=lambda item: abs(item.shift), default=None)

    @property
    def swaps(self) -> tuple[tuple[str, str], ...]:
        """Generators, and models with which their order changes."""
        return tuple((item.model, other) for item in self.shifts for other in item.swapped_with)


def grade_fairness(
    comparison: Comparison, inputs: AnalysisInputs, *, resamples: int = RESAMPLES
) -> tuple[MeasureFairness, ...]:
    """The fairness of every measure that models are compared by.

    Formula: for each generator, shift = value without the labels of its own finds - value on all labels, limits by the
    bootstrap over queries. `fair`: every interval lies within +-0.01 and no order changes; `small bias`: no order
    changes; `biased`: the order of two distinguishable models changes; else `not known`. The order of generator and
    other generator changes if they differ beyond sampling error (Holm over the pairs) on all labels and the sign of
    their difference turns, or if, treated as new, they differ beyond sampling error, did not so before in that
    direction, and their difference moved by more than 0.01.
    Source: specification 13.4, 18.2.
    Conventions: measures that no label can change are fair; fewer than two generators with values, or a shift without
    an interval: not known; sampled negatives must have been drawn again without each generator's lists
    (`negatives_without`).
    Example: see tests/analysis/test_fairness.py.
    """
    not_for = tuple(name for name, seen in comparison.trained.items() if "labels" in seen)
    return tuple(replace(_grade(part, comparison, inputs, resamples), not_for=not_for) for part in comparison)


def _grade(part: MeasureComparison, comparison: Comparison, inputs: AnalysisInputs, resamples: int) -> MeasureFairness:
    measure, name = part.measure, str(part.measure)
    if part.pairs and all(pair.basis == "no labels needed" for pair in part.pairs):
        return MeasureFairness(name, "fair", reason="it needs no labels")
    known = {item.model for item in part.models if item.side == "generator"}
    if len(known) < 2:
        few = "fewer than two models that built the pool have values"
        return MeasureFairness(
            name, "not known", reason=few if comparison.makers_known else "it is not known which models built the pool"
        )
    if measure.definition.needs in ("codes", "graded"):
        return MeasureFairness(name, "not known", reason="codes are not scored again without a model's finds")
    data = MeasureData.of(inputs, measure)
    names = [model for model in data.generators if model in known]
    full = {model: _Column.of(data, model, values) for model, values in data.values().items() if model in known}
    after: dict[str, dict[str, _Column]] = {}
    for model in names:
        without = data.without(model)
        if without is None:
            return MeasureFairness(name, "not known", reason=UNDRAWN)
        after[model] = {
            other: _Column.of(without, other, values) for other, values in without.values().items() if other in known
        }
    swaps = _swaps(part, after)
    shifts = []
    for model in names:
        before, unpooled = full[model], after[model][model]
        weights = before.weight, unpooled.weight
        interval = difference_interval(before.by_query, unpooled.by_query, weights, part.level, resamples, inputs.seed)
        shift = unpooled.value - before.value
        limits = interval.low, interval.high
        shifts.append(Shift(model, before.value, unpooled.value, shift, *limits, tuple(swaps[model])))
    return MeasureFairness(name, _verdict(shifts), tuple(shifts))


def _verdict(shifts: list[Shift]) -> Grade:
    if any(item.swapped_with for item in shifts):
        return "biased"
    if any(math.isnan(item.shift) for item in shifts):
        return "not known"
    within = [
        item.shift == 0 if math.isnan(item.low) else max(abs(item.low), abs(item.high)) <= SMALL for item in shifts
    ]
    if all(within):
        return "fair"
    return "not known" if any(math.isnan(item.low) and item.shift for item in shifts) else "small bias"


@dataclass(frozen=True, eq=False)
class _Column:
    """A model's values by query, and the weight of each query in their mean; (queries,) each."""

    by_query: Reals
    weight: Reals

    @classmethod
    def of(cls, data: MeasureData, model: str, values: Values) -> "_Column":
        """Of a micro measure pseudo-values."""
        by_query = values.by_query if values.whole is None else pseudo_values(data, model)
        weight = np.ones(len(by_query)) if values.weight is None else values.weight
        return cls(np.where(np.isnan(by_query), 0.0, by_query), np.where(np.isnan(by_query), 0.0, weight))

    @property
    def value(self) -> float:
        total = self.weight.sum()
        return float((self.by_query * self.weight).sum() / total) if total else float("nan")


def _swaps(part: MeasureComparison, after: Mapping[str, Mapping[str, _Column]]) -> dict[str, list[str]]:
    """By generator the others with which its order changes when it is treated as new."""
    tests: list[tuple[str, str, float, float]] = []
    for model, columns in after.items():
        for other in after:
            if other != model and model in columns and other in columns:
                both = (columns[model].weight > 0) & (columns[other].weight > 0)
                difference = (columns[model].by_query - columns[other].by_query)[both]
                weight = columns[model].weight[both]
                value = float((difference * weight).sum() / weight.sum()) if weight.sum() else float("nan")
                tests.append((model, other, value, paired_p(difference, weight)))
    adjusted = iter(holm([p for *_, p in tests if not math.isnan(p)]))
    result: dict[str, list[str]] = {model: [] for model in after}
    for model, other, value, p in tests:
        if math.isnan(p):
            continue
        before = part.pair(model, other)
        differs = next(adjusted) <= 1 - part.level
        turned = before.beyond_sampling and value * before.difference < 0
        claimed = differs and before.better != (model if value > 0 else other)
        if turned or (claimed and abs(value - before.difference) > SMALL):
            result[model].append(other)
    return result
