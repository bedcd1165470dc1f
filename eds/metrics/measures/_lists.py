"""What measures on ranked lists share: how a formula becomes a measure, and counts by query."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eds.metrics.definition import Cut, Definition, ModelInputs, Needs, Parameter, Unlabelled, Values
from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Integers, Reals

Formula = Callable[..., Reals]  # of the lists, k where the cut-off is required, and the parameters by name
POSITIVE = "mean over queries with a positive; unlabelled counts as not similar; a positive that no list holds counts"


def list_measure(
    name: str,
    formula_of: Formula,
    *,
    meaning: str,
    formula: str,
    conventions: str,
    needs: Needs = "lists",
    cut: Cut = "required",
    parameters: Mapping[str, Parameter] | None = None,
    by_pair: bool = False,
    unlabelled: Unlabelled = "negative",
    most: Formula | None = None,
    counts_pooled: bool = False,
) -> Definition:
    """A measure whose value is a mean over queries (`by_pair`: over positive pairs) of a formula on their lists.

    `formula_of` gets the lists and k; where the cut-off is optional, the lists cut at k. `most` is the same with every
    item without a label as similar.
    """

    def apply(formula_of: Formula, lists: JudgedLists, k: int | None, parameters: Mapping[str, Any]) -> Reals:
        return formula_of(lists, k, **parameters) if cut == "required" else formula_of(lists.cut(k), **parameters)

    def compute(inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
        lists = inputs.lists
        if lists is None:
            raise TypeError("evaluate() gives lists to measures that need them")
        value = apply(formula_of, lists, k, parameters)
        weight = lists.positives.astype(np.float64) if by_pair else None
        counts = _counts(inputs, lists, value, k, official=needs == "official lists")
        n = int(lists.positives.sum()) if by_pair else counts["queries used"]
        return Values(inputs.labelled.queries, value, weight, n=n, counts=counts)

    return Definition(
        name,
        meaning,
        formula,
        conventions,
        needs,
        cut,
        compute,
        parameters or {},
        unlabelled,
        on_lists=lambda *given: apply(formula_of, *given),
        most=None if most is None else lambda *given: apply(most, *given),
        counts_pooled=counts_pooled,
    )


def _counts(inputs: ModelInputs, lists: JudgedLists, value: Reals, k: int | None, *, official: bool) -> dict[str, int]:
    """What a value rests on, and what was left out."""
    used = ~np.isnan(value)
    deepest = k or np.inf
    places = int(np.minimum(lists.lengths, deepest).sum())
    seen = lists.label[lists.place <= deepest]
    labelled = int((seen >= 0).sum())
    return {
        "queries used": int(used.sum()),
        "queries without a positive skipped": int((~used & (lists.positives == 0)).sum()),
        "queries without a list": int((lists.lengths == 0).sum()),
        "lists that end before the cut-off": int((used & (lists.lengths > 0) & (lists.lengths < (k or 0))).sum()),
        "positives not found": int(lists.positives.sum() - (seen == 1).sum()),
        **(_out_of_reach(inputs, deepest) if official else {}),
        "places": places,
        "places unlabelled": places - labelled,
        "pairs used": labelled,
    }


def _out_of_reach(inputs: ModelInputs, deepest: float) -> dict[str, int]:
    """Positives that no official list can show, by the reason; nothing where the catalogue is unknown."""
    if inputs.hidden is None or inputs.barred is None:
        return {}
    behind = (inputs.hidden > 0) & (inputs.hidden <= deepest) & ~inputs.barred
    return {
        "positives behind another image of their product": int(behind.sum()),
        "positives left out by the rules": int(inputs.barred.sum()),
    }


def hits(lists: JudgedLists, k: int) -> Reals:
    """Positives among the first k; 0 where there is no list."""
    return lists.per_query((lists.label == 1) & (lists.place <= k))


def discounted(lists: JudgedLists, k: int) -> Reals:
    """Sum of 1/place over the positives among the first k."""
    return lists.per_query((lists.label == 1) & (lists.place <= k), 1 / lists.place)


def harmonic(k: int) -> float:
    """H_k, the sum of 1/i for i up to k.

    >>> harmonic(2)
    1.5
    """
    return float((1 / np.arange(1, k + 1)).sum())


def precision_at_most(lists: JudgedLists, k: int) -> Reals:
    """Precision if every item without a label were similar.

    Formula: (positives + items without a label among the first k) / k.
    Source: specification 13.5: precision plus what `judged@k` lacks, where no list ends before place k.
    Conventions: as precision; there is no place behind the end of a list.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> precision_at_most(lists("+-?"), 5).tolist()
    [0.4]
    """
    unlabelled = np.minimum(lists.lengths, k) - n_judged(lists, k)
    return defined(lists, hits(lists, k) / k + unlabelled / k)


def success_at_most(lists: JudgedLists, k: int) -> Reals:
    """Whether a positive or an item without a label is among the first k: `success` if that item were similar."""
    return defined(lists, (np.minimum(lists.lengths, k) > _leading_negatives(lists, k)).astype(np.float64))


def reciprocal_rank_at_most(lists: JudgedLists, k: int) -> Reals:
    """Reciprocal rank if every item without a label were similar.

    Formula: 1 / (negatives before the first other item + 1), 0 beyond k or behind the end of the list.
    Source: specification 13.5, as `precision_at_most`.
    Conventions: as `reciprocal_rank`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> reciprocal_rank_at_most(lists("-?+"), 3).tolist()
    [0.5]
    """
    leading = _leading_negatives(lists, k)
    return defined(lists, np.where(np.minimum(lists.lengths, k) > leading, 1 / (leading + 1), 0.0))


def official_mrr_at_most(lists: JudgedLists, k: int) -> Reals:
    """The official MRR if every item without a label were similar.

    Formula: (sum of 1/place over the places among the first k that are no labelled negatives) / H_k.
    Source: specification 13.5, as `precision_at_most`.
    Conventions: as `official_mrr`; there is no place behind the end of a list.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> official_mrr_at_most(lists("+-?"), 3).round(6).tolist()
    [0.727273]
    """
    sums = np.append(0.0, np.cumsum(1 / np.arange(1, k + 1)))
    every = sums[np.minimum(lists.lengths, k)]
    negative = lists.per_query((lists.label == 0) & (lists.place <= k), 1 / lists.place)
    return defined(lists, (every - negative) / harmonic(k))


def _leading_negatives(lists: JudgedLists, k: int) -> Reals:
    """How many labelled negatives a list begins with, at most k."""
    negative = lists.label == 0
    return lists.per_query(negative & (lists.place <= k) & (lists.running(negative) == lists.place))


def n_judged(lists: JudgedLists, k: int) -> Reals:
    """Labelled items among the first k."""
    return lists.per_query((lists.label >= 0) & (lists.place <= k))


def labelled(lists: JudgedLists, value: Reals) -> Reals:
    """The value of queries that have a label, NaN for others."""
    return np.where(lists.positives + lists.negatives > 0, value, np.nan)


def defined(lists: JudgedLists, value: Reals) -> Reals:
    """The value of queries that have a positive, NaN for others."""
    return np.where(lists.positives > 0, value, np.nan)


def divide(above: Reals, below: Reals | Integers) -> Reals:
    """NaN where nothing is below."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)
