"""Between which values missing labels leave a measure on lists, and which comparisons that leaves open."""

import math
from collections.abc import Mapping

from eds.analysis.rank_correlation import DECIMALS
from eds.metrics import Measure
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.single_list import mean


def intervals(lists: Mapping[str, JudgedLists], measure: Measure) -> tuple[dict[str, float], dict[str, float]]:
    """By model the least and the largest value that labels of the unlabelled items could give; empty: undefined.

    Formula: the measure, and the same with every place without a label as similar (`most` of its definition).
    Source: specification 13.5.
    Conventions: over queries with a positive, which stay the same queries, RBP over all labelled ones; RBP leaves
    everything behind its cut-off open.
    Example: see tests/analysis/test_label_bounds.py.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for name, result in lists.items():
        if measure.definition.most is not None:
            low[name], high[name] = mean(measure.by_query(result)), mean(measure.most_by_query(result))
    return low, high


def least_to_decide(mine: tuple[float, float], other: tuple[float, float], step: float) -> int | None:
    """The fewest labels of a model's places after which its interval could lie beside the other's; None: all cannot.

    Formula: each label moves one end by `step`: the lower one up where it is similar, the upper one down where it is
    not; the least n with low + n step > the other's high, or high - n step < the other's low, n at most
    (high - low) / step.
    Source: specification 13.5.
    Conventions: the labels agree, which is the best case; the other's interval stays; rounded to 12 decimals.
    Example, run by doctest:
    >>> least_to_decide((0.2, 0.6), (0.5, 0.5), 0.1), least_to_decide((0.2, 0.4), (0.1, 0.5), 0.1)
    (2, None)
    """
    ways = [(other[1] - mine[0]) / step, (mine[1] - other[0]) / step]
    fewest = min(math.floor(round(way, 12)) + 1 for way in ways)
    return max(fewest, 0) if fewest <= round((mine[1] - mine[0]) / step, 12) else None


def undecided_by_labels(low: Mapping[str, float], high: Mapping[str, float]) -> list[tuple[str, str]]:
    """Pairs of models whose intervals overlap: the labels there are do not decide between them.

    Formula: low_a <= high_b and low_b <= high_a, as RBP and RBP + residual.
    Source: specification 13.5.
    Conventions: ascending by name; limits are rounded to 12 decimals before they are compared, so that noise of the
    last bit parts nothing; intervals that touch overlap; an undefined one overlaps with all.
    Example, run by doctest:
    >>> undecided_by_labels({"a": 0.1, "b": 0.3, "c": 0.6}, {"a": 0.4, "b": 0.5, "c": 0.7})
    [('a', 'b')]
    """
    names = sorted(low)
    least, most = ({name: round(side[name], DECIMALS) for name in names} for side in (low, high))
    return [
        (a, b)
        for place, a in enumerate(names)
        for b in names[place + 1 :]
        if not (least[a] > most[b] or least[b] > most[a])
    ]
