"""Areas under the ROC and precision-recall curves: of two samples, of each query, of weighted pairs.

Ties are groups of equal scores, queries are segments, and resampled queries are weights. What is worked on at a
time fits into the processor's cache: sorting millions of pairs at once costs far more for each pair than sorting
thousands. Not here: which pairs are used, and what is reported (auc_report.py).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals

Counts = NDArray[np.int32] | NDArray[np.int64]
BLOCK = 1 << 15  # pairs that are sorted at once, unless a single query has more


@dataclass(frozen=True, eq=False)
class Ordered:
    """Scored pairs in segments (int64, ascending), by descending score within each; all arrays are (pairs,)."""

    segment: Integers
    value: Integers  # 1 or 0
    score: Reals  # finite

    @classmethod
    def of(cls, segment: Integers, value: Integers, score: Reals) -> "Ordered":
        """The pairs sorted."""
        return micro_order(segment, value, score).by_segment()

    def by_segment(self) -> "Ordered":
        """Pairs that are ordered by score alone, sorted into their segments."""
        most = int(self.segment.max(initial=0))
        if most == 0:
            return self
        narrow = self.segment.astype(np.uint16) if most < 2**16 else self.segment  # 16 bits: sorted by radix
        order = np.argsort(narrow, kind="stable")
        return Ordered(self.segment[order], self.value[order], self.score[order])

    def as_one(self) -> "Ordered":
        """Pairs that are ordered by score alone, as a single segment."""
        return Ordered(np.zeros_like(self.segment), self.value, self.score)

    def group_ends(self) -> Integers | slice:
        """The last row of each group of equal scores within a segment; a slice of all rows where nothing ties."""
        changes = np.flatnonzero(_differ(self.score) | _differ(self.segment))
        return slice(None) if len(changes) + 1 >= len(self.value) else np.append(changes, len(self.value) - 1)


def segment_aucs(pairs: Ordered, n: int) -> tuple[Reals, Reals]:
    """ROC- and PR-AUC of each of n segments, two arrays (n,) float64.

    Formula: as `roc_auc` and `pr_auc`, group by group of equal scores.
    Source: specification 5.1.
    Conventions: ROC is NaN where a segment lacks positives or negatives, PR where it lacks positives.
    Example, run by doctest:
    >>> pairs = Ordered.of(np.array([0, 0, 0, 1]), np.array([1, 0, 1, 1]), np.array([0.9, 0.8, 0.7, 0.1]))
    >>> [area.round(6).tolist() for area in segment_aucs(pairs, 2)]
    [[0.5, nan], [0.833333, 1.0]]
    """
    ends = pairs.group_ends()
    owner = pairs.segment[ends]
    positives = np.bincount(pairs.segment, pairs.value, n)
    sizes = np.bincount(pairs.segment, minlength=n).astype(np.float64)
    true = np.cumsum(pairs.value)[ends] - (np.cumsum(positives) - positives)[owner]
    every = np.arange(1.0, len(pairs.value) + 1)[ends] - (np.cumsum(sizes) - sizes)[owner]
    first = np.diff(owner, prepend=-1) != 0
    roc, precision = _steps(true, every - true, first)
    with np.errstate(invalid="ignore", divide="ignore"):
        negatives = sizes - positives
        area = np.where(positives * negatives > 0, np.bincount(owner, roc, n) / (positives * negatives), np.nan)
        return area, np.where(positives > 0, np.bincount(owner, precision, n) / positives, np.nan)


def query_aucs(query: Integers, value: Integers, score: Reals, n: int) -> tuple[Reals, Reals]:
    """ROC- and PR-AUC of each of n queries, (n,) float64; both NaN without a positive and a negative.

    Pairs are (pairs,) arrays in ascending order of `query` (int64, below n), as `Labelled` keeps them.
    """
    areas = np.full((2, n), np.nan)
    sizes = np.bincount(query, minlength=n)
    starts = np.append(0, np.cumsum(sizes))
    firsts = np.flatnonzero(np.diff(starts[:-1] // BLOCK, prepend=-1))
    for first, after in itertools.pairwise([*firsts.tolist(), n]):
        rows = slice(starts[first], starts[after])
        block = Ordered.of(query[rows] - first, value[rows], score[rows])
        areas[:, first:after] = segment_aucs(block, after - first)
    areas[1, np.isnan(areas[0])] = np.nan
    return areas[0], areas[1]


def sample_aucs(pos: Reals, neg: Reals) -> tuple[float, float]:
    """ROC- and PR-AUC of two samples, (positives,) and (negatives,) float64, finite: see `roc_auc` and `pr_auc`."""
    n_pos, n_neg = len(pos), len(neg)
    if not n_pos:
        return float("nan"), float("nan")
    rising = np.sort(pos)
    falsely = np.sort(neg)
    below, up_to = (np.searchsorted(rising, falsely, side=side) for side in ("left", "right"))
    wins = n_pos * n_neg - (float(below.sum()) + float(up_to.sum())) / 2
    first = np.append(0, np.flatnonzero(_differ(rising)) + 1)  # of each group of equal positives
    true = n_pos - first
    false = n_neg - np.cumsum(np.bincount(up_to, minlength=n_pos + 1))[first]
    area = (np.diff(first, append=n_pos) * (true / (true + false))).sum() / n_pos
    return wins / (n_pos * n_neg) if n_neg else float("nan"), float(area)


def weighted_aucs(pairs: Ordered, multiplicity: NDArray[np.integer]) -> tuple[Reals, Reals]:
    """Micro ROC- and PR-AUC of resamples: each query's pairs count as often as it was drawn; (resamples,) float64.

    Formula: as `roc_auc` and `pr_auc` with counts replaced by sums of multiplicities.
    Source: specification 13.3.
    Conventions: `pairs` is ordered as one segment but carries query numbers in `segment` (`micro_order`);
    `multiplicity` is resamples x queries, whole numbers; a resample without positives or negatives is NaN.
    Example, run by doctest:
    >>> pairs = micro_order(np.array([0, 0, 1, 1]), np.array([1, 0, 1, 0]), np.array([0.9, 0.1, 0.2, 0.4]))
    >>> weighted_aucs(pairs, np.array([[1, 1], [2, 0], [0, 2]]))[0].tolist()
    [0.75, 1.0, 0.0]
    """
    result = np.full((2, len(multiplicity)), np.nan)
    if not pairs.value.any():
        return result[0], result[1]
    room = _Room.of(pairs, int(multiplicity.max(initial=0)))
    for number in range(len(multiplicity)):
        result[:, number] = room.areas(multiplicity[number])
    return result[0], result[1]


@dataclass(frozen=True, eq=False)
class _Room:
    """Where one resample after another is counted: the weights of all pairs, then only the positives.

    Counts are integers, which add up ten times as fast as floats do, of 32 bits where that is wide enough, so that all
    of it stays in the processor's cache; memory is used again, for fresh memory costs more than the work in it.
    """

    query: Integers  # of each pair
    positive: Integers  # (positives,) their queries, in the order of the pairs
    firsts: Integers | None  # (groups,) of positives with equal scores, the first; None where no positive ties
    before: Integers  # (groups,) pairs above each group
    up_to: Integers  # (groups,) pairs above and in it
    weight: Counts  # of each pair
    every: Counts  # (pairs + 1,) weights of the pairs above

    @classmethod
    def of(cls, pairs: Ordered, most: int) -> "_Room":
        """Room for these pairs, each of which counts at most so often."""
        size = len(pairs.value)
        kind: Any = np.int32 if size * most < 2**31 else np.int64
        at = np.flatnonzero(pairs.value == 1)
        before, up_to = at, at + 1
        ends = pairs.as_one().group_ends()
        firsts = None
        if not isinstance(ends, slice):
            group = np.searchsorted(ends, at)
            group, firsts = np.unique(group, return_index=True)
            before, up_to = np.append(0, ends + 1)[group], ends[group] + 1
            firsts = firsts if len(firsts) < len(at) else None
        every = np.zeros(size + 1, kind)
        return cls(pairs.segment, pairs.segment[at], firsts, before, up_to, np.empty(size, kind), every)

    def areas(self, times: NDArray[np.integer]) -> tuple[float, float]:
        """Both areas where query q is drawn times[q] times, (queries,); NaN without positives or negatives.

        Of a group: ROC (true - true before) (false below + half of the false in it), PR (true - true before) true /
        retrieved. All but this division are whole numbers, so that their order does not matter.
        """
        drawn = times.astype(self.weight.dtype)
        np.take(drawn, self.query, out=self.weight, mode="clip")  # "raise" would copy; queries are known
        np.cumsum(self.weight, out=self.every[1:], dtype=self.weight.dtype)
        gain = drawn[self.positive].astype(np.int64)
        if self.firsts is not None:
            gain = np.add.reduceat(gain, self.firsts)
        true = np.cumsum(gain)
        n_pos, total = int(true[-1]), int(self.every[-1])
        n_neg = total - n_pos
        if not n_pos or not n_neg:
            return float("nan"), float("nan")
        retrieved, above = self.every[self.up_to], self.every[self.before]
        below = 2 * (n_neg + true) - gain - retrieved - above  # twice: half of those that tie
        share = (gain * true) / np.maximum(retrieved, 1)
        return float((gain * below).sum()) / 2 / (n_pos * n_neg), float(share.sum()) / n_pos


def micro_order(query: Integers, value: Integers, score: Reals) -> Ordered:
    """All pairs by descending score in one list; `segment` keeps each pair's query."""
    order = np.argsort(-score)
    return Ordered(query[order], value[order], score[order])


def roc_auc(pos: Sequence[float] | Reals, neg: Sequence[float] | Reals) -> float:
    """How often a positive scores above a negative.

    Formula: (#{p > n} + #{p = n} / 2) / (|pos| |neg|).
    Source: specification 5.1.
    Conventions: a tie counts one half; NaN if either side is empty; a score that is not a finite number is refused.
    Example, run by doctest:
    >>> roc_auc([0.9, 0.4], [0.5, 0.1, 0.4])
    0.75
    """
    return _two_samples(pos, neg)[0]


def pr_auc(pos: Sequence[float] | Reals, neg: Sequence[float] | Reals) -> float:
    """Step-wise average precision over distinct scores, no trapezoids.

    Formula: sum over distinct scores t, descending, of (Rec_t - Rec_{t-1}) Prec_t.
    Source: specification 5.1.
    Conventions: all items with one score enter together; NaN without positives, 1 without negatives (reports
    leave that out). Not the tie-expected AP of section 8.
    Example, run by doctest:
    >>> round(pr_auc([0.5, 0.2], [0.5, 0.5]), 12)
    0.416666666667
    """
    return _two_samples(pos, neg)[1]


def _two_samples(pos: Sequence[float] | Reals, neg: Sequence[float] | Reals) -> tuple[float, float]:
    sides = [np.asarray(side, dtype=np.float64) for side in (pos, neg)]
    for side, name in zip(sides, ("pos", "neg"), strict=True):
        if side.ndim != 1 or not np.isfinite(side).all():
            raise InputError("a score is not a finite number", where=name, hint="Give a list of finite numbers.")
    return sample_aucs(*sides)


def _differ(values: NDArray[Any]) -> Flags:
    """(rows - 1,) whether a value differs from the one before; a difference of huge numbers would overflow."""
    return np.asarray(values[1:] != values[:-1])


def _steps(true: Reals, false: Reals, first: Flags) -> tuple[Reals, Reals]:
    """What each group adds to the two areas, before division; counts are cumulative, `first` begins a list."""
    before_true, before_false = np.empty_like(true), np.empty_like(false)
    before_true[1:], before_false[1:] = true[:-1], false[:-1]
    before_true[first] = before_false[first] = 0
    roc = (false - before_false) * (true + before_true) / 2
    retrieved = true + false
    return roc, (true - before_true) * true / np.where(retrieved > 0, retrieved, 1)
