"""What a judged part of the pool says of the whole pool, without bias, whatever the order was."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.pairs import Flags, Integers, Reals, in_sorted, pair_keys, unique_ids
from eds.tables import SUSPECTS, check


def drawn_in_batches(suspects: pd.DataFrame) -> Flags:
    """Which rows a call of `pool` dealt into batches: their stratum is `pool@` and its first batch."""
    return suspects["stratum"].fillna("").str.startswith("pool@").to_numpy(np.bool_)


def prefix_weights(suspects: pd.DataFrame, judged_pairs: pd.DataFrame) -> Reals:
    """A weight for every suspect, float64, so that a judged part speaks for its stratum of the pool.

    The sum of weight x label over judged rows of one stratum is an unbiased estimate of its positives.

    Formula: for batch t, T_t = sum of labels in batches before t + sum over batch t of label / probability; every T_t
    is unbiased given the batches before it. The estimate is their mean, weighted with 1 / V_t, the precision that T_t
    would have if all rows were alike: V_t = u_t R_t (R_t - m_t) / m_t for m_t of R_t rows left, plus what the batches
    before lack; u_t is 1 where every row is as likely in its batch, more where probabilities differ, by the
    judged rows' sum of (1 - p) / p^2. A batch of which m of n rows are judged counts with n / m.
    Source: Des Raj, JASA 51 (1956), for batches drawn one after another.
    Conventions: the weights of a stratum that is judged completely are 1 (a census). Batches count up to the first of
    which fewer than two rows are judged (one has no spread; random pairs may be judged far behind); rows behind it,
    unjudged rows and other origins weigh 0. In
    random order the weights are nearly equal: the judged part is then as precise as one simple random sample.
    Example, run by doctest:
    >>> two = pd.DataFrame({"query_id": "q", "candidate_id": ["a", "b"], "origin": "pool", "batch": [0, 1],
    ...     "position": [0, 1], "sources": "m:0", "stratum": "pool@0", "probability": [0.5, 1.0]})
    >>> prefix_weights(two, two.head(1)).tolist(), prefix_weights(two, two).tolist()
    ([2.0, 0.0], [1.0, 1.0])
    """
    check(suspects, SUSPECTS)
    queries, candidates = unique_ids(suspects["query_id"]), unique_ids(suspects["candidate_id"])
    done = np.sort(pair_keys(judged_pairs, queries, candidates))
    judged = in_sorted(done, pair_keys(suspects, queries, candidates))
    weights = np.zeros(len(suspects))
    for part in _strata(suspects, judged):
        weights[part.rows] = part.weights
    return weights


@dataclass(frozen=True)
class PoolTotal:
    """A total over the whole pool, estimated from what is judged of it."""

    total: float  # NaN where some stratum of the pool is not judged at all
    variance: float  # of the estimate, by the design; 0: a census; infinite: one judged row of a batch
    unknown: float  # the most that unjudged rows may add for which no design speaks
    assumed: float  # what the total assumes them to add


def pool_total(suspects: pd.DataFrame, judged: Flags, value: Reals, most: Reals) -> PoolTotal:
    """The total of a value over the pool's rows, with the variance that comes from how the rows were dealt.

    `value` (0 to `most` of its row) counts where `judged`; rows are suspects of origin `pool`.

    Formula: T = sum of weight x value (`prefix_weights`). Var T = sum over batches s of a_s^2 (n/m) sum over judged j
    of c_j (y_j / p_j - B)^2 + n^2 (1 - m/n) s_u^2 / m, with a_s the weight of T_s, c_j = (1 - p_j) m / (m - 1), B the
    mean of y / p weighted with c, and u_j = y_j (a_s / p_j + sum of later a) of the batch's m judged rows.
    Source: Des Raj 1956 (the T_s are uncorrelated); Hajek 1964 for batches of unequal probability; with equal ones
    both are Cochran's N^2 (1 - n/N) s^2 / n.
    Conventions: rows that no batch drew (chosen pairs, imported ones) are a census if all are judged; of those that
    are not, the estimate assumes the rate of the others, and `unknown` and `assumed` say how far that may be off.
    Nothing judged of a stratum: NaN.
    Example: see tests/suspects/test_partial_estimates.py, against the exact total over many seeds.
    """
    total = variance = unknown = assumed = 0.0
    for part in _strata(suspects, judged):
        known = judged[part.rows]
        if not known.any() or not part.weights.any():
            total, unknown = float("nan"), unknown + float(most[part.rows][~known].sum())
            continue
        total += float(part.weights @ np.where(known, value[part.rows], 0.0))
        variance += part.variance(suspects["probability"].to_numpy()[part.rows], np.where(known, value[part.rows], 0.0))
    others = ~drawn_in_batches(suspects)
    if others.any():
        seen, unseen = others & judged, others & ~judged
        rate = float(value[seen].sum()) / float(most[seen].sum()) if seen.any() else float("nan")
        lacking = float(most[unseen].sum())
        assumed = lacking * rate if lacking else 0.0
        unknown += lacking
        total += float(value[seen].sum()) + assumed
    return PoolTotal(total, variance, unknown, assumed)


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one stratum, and how its batches count; arrays are (rows,) or (batches,)."""

    rows: Integers
    judged: Flags
    weights: Reals
    step: Integers | None = None  # the batch of each row; None: all is judged
    share: Reals | None = None  # the weight of T_t
    size: Integers | None = None  # rows of each batch, of all strata
    done: Integers | None = None  # judged ones

    def variance(self, probability: Reals, value: Reals) -> float:
        """Of the estimated total of `value`, which is 0 in unjudged rows."""
        if self.step is None or self.share is None or self.size is None or self.done is None:
            return 0.0
        result = 0.0
        later = self.share.sum() - np.cumsum(self.share)
        for number, (share, n, m) in enumerate(zip(self.share, self.size, self.done, strict=True)):
            mine = self.judged & (self.step == number)
            chance, y = probability[mine], value[mine]
            if m < 2 and (m < n or (chance < 1).any()):
                return math.inf
            if (chance < 1).any():
                open_share = (1 - chance) * m / (m - 1)
                each = y / chance
                middle = float(open_share @ each) / float(open_share.sum())
                result += share**2 * (n / m) * float(open_share @ (each - middle) ** 2)
            if m < n:
                spoken = y * (share / chance + later[number])
                squares = float(spoken @ spoken) - float(spoken.sum()) ** 2 / m  # other strata's rows count as 0
                result += n**2 * (1 - m / n) / m * squares / (m - 1)
        return result


def _strata(suspects: pd.DataFrame, judged: Flags) -> Iterator[_Part]:
    """The strata of the pool that were dealt into batches."""
    in_pool = drawn_in_batches(suspects)
    names, stratum = suspects["stratum"], suspects["stratum"].to_numpy()
    batch, chance = suspects["batch"].to_numpy(), suspects["probability"].to_numpy()
    numbers, place = np.unique(batch[in_pool], return_inverse=True)
    size, part = np.bincount(place), np.bincount(place, judged[in_pool]).astype(np.int64)
    begins = names[in_pool].str.partition("@")[2].astype("int64").to_numpy() if in_pool.any() else np.zeros(0)
    for name in names[in_pool].unique():
        rows = np.flatnonzero(in_pool & (stratum == name))
        if judged[rows].all():
            yield _Part(rows, judged[rows], np.ones(len(rows)))
            continue
        first = int(np.searchsorted(numbers, int(name.partition("@")[2])))
        behind = np.flatnonzero((part < 2) & (part < size) & (np.arange(len(part)) >= first))
        last = int(behind[0]) if len(behind) else len(numbers)
        if last == first and part[first]:
            last += 1  # a total, without an interval
        if last == first:
            yield _Part(rows, judged[rows], np.zeros(len(rows)))
            continue
        n, m = size[first:last], part[first:last]
        step = np.searchsorted(numbers, batch[rows]) - first
        mine = np.bincount(np.maximum(step, 0), minlength=len(numbers) - first)
        left = mine.sum() - np.append(0, np.cumsum(mine))[: last - first]
        every = np.array([int(((batch[in_pool] >= at) & (begins <= at)).sum()) for at in numbers[first:last]])
        used = judged[rows] & (step < last - first)
        at = step[used]
        unequal = _unequal((n / m)[at] / chance[rows][used], at, last - first)
        share = _precision(n * left / np.maximum(every, 1), m / n, left, unequal)
        later = share.sum() - np.cumsum(share)
        weights = np.zeros(len(rows))
        weights[used] = (n / m)[at] * (share[at] / chance[rows][used] + later[at])
        yield _Part(rows, used, weights, step, share, n, m)


def _unequal(stands_for: Reals, step: Integers, steps: int) -> Reals:
    """The variance of each batch's total over that of as many rows which stand for equally many, at least 1."""
    count, total = np.bincount(step, minlength=steps), np.bincount(step, stands_for, steps)
    squares = np.bincount(step, stands_for**2, steps)
    open_part = total**2 - count * total
    ratio = np.divide(count * (squares - total), open_part, out=np.ones(steps), where=open_part > 1e-9 * total**2)
    return np.maximum(ratio, 1.0).round(9)  # whatever the order of the rows


def _precision(rows: Reals, done: Reals, left: Integers, unequal: Reals) -> Reals:
    """The weights of the T_t, summing to 1: 1 / V_t; `rows` are those expected of the stratum in each batch."""
    judged = rows * done
    before = np.append(0.0, np.cumsum(rows * (1 - done) / done))[:-1]
    expected = before + unequal * left * np.maximum(left - judged, 0) / np.maximum(judged, 1e-300)
    exact = expected <= 0
    weight: Reals = exact.astype(np.float64) if exact.any() else 1 / expected
    result: Reals = weight / weight.sum()
    return result
