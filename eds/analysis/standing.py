"""Where the work stands: rates and AUC of models by weighted labels, their differences, and what more would show."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from eds.analysis.anytime import BEST_AT, beta_binomial_sequence, mixture_factor
from eds.analysis.totals import Estimate, Sampled, share_of, sum_of
from eds.intervals import MIN_QUERIES, Interval, clopper_pearson_interval, mean_interval, rate_interval
from eds.pairs import Flags, Integers, Reals

if TYPE_CHECKING:
    from eds.analysis.analyses.prevalence import UniformDraws

STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)  # times the random draws that are labelled now
MIN_PAIRS = 50  # of the difference of two models, below which no limit is given


@dataclass(frozen=True)
class ModelStanding:
    """What is known of one model; None: cannot be computed yet."""

    model: str
    proposed: int  # units that it proposed for the pool
    judged: int
    precision: float | None  # P@k: share of its first k candidates that are similar, of all it proposed
    precision_low: float | None
    precision_high: float | None
    auc: float | None  # macro ROC-AUC of the judged pairs
    auc_low: float | None
    auc_high: float | None
    no_interval: str | None


@dataclass(frozen=True)
class Difference:
    """P@k of one model less that of another, and what it takes to tell them apart."""

    first: str
    second: str
    difference: float
    low: float  # over queries, valid at every look
    high: float
    judged: int  # of the pairs that only one of the two proposed
    pairs: int  # all of these
    needed: int | None  # further ones that tell them apart with the wanted power; None: all of them do not
    queries: int | None  # that tell them apart where the pairs do not; None: the pairs do, or nothing is known
    told_apart: bool


@dataclass(frozen=True)
class Step:
    """The width of the intervals after so many labelled random draws."""

    draws: int  # in all
    further: int
    p_width: float
    recall_width: float


def model_rate(query: Integers, value: Integers, weight: Reals, level: float) -> tuple[float, Interval]:
    """The share of similar units among all that a model proposed, and its interval over queries.

    Formula: sum of w y / sum of w over the judged units; `rate_interval` of the two sums of each query.
    Source: Hajek 1971; specification 18.4. With every unit judged w is 1: then this is its p_k.
    """
    known = (value >= 0) & (weight > 0)
    if not known.any():
        return float("nan"), Interval.none("nothing is judged")
    at = np.unique(query[known], return_inverse=True)[1]
    above = np.bincount(at, weight[known] * (value[known] == 1))
    below = np.bincount(at, weight[known])
    return float(above.sum() / below.sum()), rate_interval(above, below, level)


def macro_auc(
    query: Integers, value: Integers, score: Reals, weight: Reals, level: float, pairs: Reals | None = None
) -> tuple[float, Interval]:
    """The mean over queries of the ROC-AUC of weighted pairs, and its interval over queries.

    Formula: A / B of a query, A = sum of w_i w_j (s_i > s_j, 1/2 if equal), B = sum of w_i w_j, i similar and j not.
    The mean is sum of A / D over sum of B / D with D = (1 - g) B + g c M^2: M the pairs that the query has in all,
    c so that both parts have one mean, and g = min(1, 10 (1 - (sum w)^2 / (n sum w^2))), how unequal the n weights are.
    Source: specification 5.2; with equal weights g is 0 and it is `ROC-AUC`. Hajek 1971: a ratio of sums is consistent;
    the mean of ratios of a few pairs of unequal weight each is not, however many queries there are.
    Conventions: `pairs` is M of each row; by default the weights of a query are added.
    """
    kept = (weight > 0) & ~np.isnan(score)
    order = np.flatnonzero(kept)[np.lexsort((score[kept], query[kept]))]
    every = None if pairs is None else pairs[order].astype(np.float64)
    query, value, score, weight = query[order], value[order], score[order], weight[order]
    if not len(query):
        return float("nan"), Interval.none("nothing is judged")
    at, begins = np.unique(query, return_index=True, return_inverse=True)[:0:-1]
    group = np.cumsum((np.diff(at, prepend=-1) != 0) | (np.diff(score, prepend=np.nan) != 0)) - 1
    owner = at[np.flatnonzero(np.diff(group, prepend=-1))]
    similar, other = np.bincount(group, weight * value), np.bincount(group, weight * (1 - value))
    whole = np.bincount(owner, other)
    before = np.cumsum(other) - other - (np.cumsum(whole) - whole)[owner]
    above = np.bincount(owner, similar * (before + other / 2))
    below = np.bincount(owner, similar) * whole
    some = below > 0
    if not some.any():
        return float("nan"), Interval.none("no query has a similar pair and another")
    unequal = 1 - float(weight.sum()) ** 2 / (len(weight) * float(weight @ weight))
    if unequal < 1e-9:
        areas = above[some] / below[some]
        return float(areas.mean()), mean_interval(np.clip(areas, 0, 1), level=level)
    size = np.bincount(at, weight) if every is None else every[begins]
    fixed = size**2 * (below.sum() / (size**2).sum())
    divisor = (1 - min(1.0, 10 * unequal)) * below + min(1.0, 10 * unequal) * fixed
    above, below = above[some] / divisor[some], below[some] / divisor[some]
    return float(above.sum() / below.sum()), rate_interval(np.minimum(above, below), below, level)


def differences(
    names: Sequence[str],
    proposed: Flags,
    query: Integers,
    value: Integers,
    weight: Reals,
    slots: int,
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> list[Difference]:
    """P@k of every two models compared, and the further pairs, or queries, that would tell them apart.

    `proposed` is units x models; `slots` are the candidates that one model proposes in all (queries x k).

    Formula: of M units that one of two models proposed alone, m judged: d = y, signed by the model; D = M mean(d),
    difference = D / slots; V = Q/(Q-1) sum over queries of (D_q - D/Q)^2, limits = mixture_factor x sqrt(V) / slots.
    Needed: the m with V_Q + M^2 (1/m - 1/M) s^2 = (D / (c + z_power))^2, c the mixture_factor of M, V_Q what is left of
    V when all M are judged; where V_Q alone is more, queries in its proportion to that.
    Source: ultimate clusters (Hansen, Hurwitz and Madow 1953); `mixture_factor` for limits that hold at every look;
    Cochran 1977 for the pairs, specification 13.1 for queries.
    Conventions: fewer than 50 judged pairs, or 8 queries: no limits. Weights that are not equal count as
    m = (sum w)^2 / sum w^2 pairs.
    Example: see tests/analysis/test_standing.py, against the fully judged pool of many simulated ones.
    """
    count = len(np.unique(query))
    place = np.unique(query, return_inverse=True)[1]
    result = []
    for first, second in itertools.combinations(range(len(names)), 2):
        mine = proposed[:, first] != proposed[:, second]
        known = mine & (value >= 0) & (weight > 0)
        size, judged, pair = int(mine.sum()), int(known.sum()), (names[first], names[second])
        if not judged:
            result.append(Difference(*pair, math.nan, -1.0, 1.0, 0, size, None, None, False))
            continue
        d = np.where(proposed[known, first], 1.0, -1.0) * value[known]
        w = weight[known]
        total = size * float(w @ d / w.sum())
        spread = max(float(w @ (d - total / size) ** 2 / w.sum()), 1 / (judged + 1))
        m = min(float(w.sum() ** 2 / (w @ w)), size)
        best_at = max(BEST_AT * size, MIN_PAIRS)
        both = mixture_factor(size, best_at, level) + NormalDist().inv_cdf(power)
        by_query = np.bincount(place[known], w * d, count) * (size / w.sum())
        variance = float(((by_query - total / count) ** 2).sum()) * count / max(count - 1, 1)
        low, high = -1.0, 1.0
        if judged >= MIN_PAIRS and count >= MIN_QUERIES and variance > 0:
            half = mixture_factor(m, best_at, level) * math.sqrt(variance)
            low, high = max((total - half) / slots, -1.0), min((total + half) / slots, 1.0)
        apart = low > 0 or high < 0
        of_queries = max(variance - size**2 * (1 / m - 1 / size) * spread, 0.0)
        allowed = (total / both) ** 2 - of_queries
        needed = queries = None
        if apart:
            needed = 0
        elif total and allowed > 0:
            needed = max(math.ceil(1 / (1 / size + allowed / (size**2 * spread))) - judged, 0)
        elif total:
            queries = math.ceil(count * of_queries * (both / total) ** 2)
        result.append(Difference(*pair, total / slots, low, high, judged, size, needed, queries, apart))
    return result


def anytime_of_draws(draws: "UniformDraws", value: float, least: float, level: float) -> Estimate:
    """P by uniform draws alone, with limits that hold at every look; none lies below `least`, which is certain."""
    missing = 0 if draws.enough else draws.drawn - draws.labelled
    positive = min((draws.rate or 0.0) * draws.effective, draws.effective)
    low, _ = beta_binomial_sequence(positive, draws.effective + missing, level)
    _, high = beta_binomial_sequence(positive + missing, draws.effective + missing, level)
    return Estimate(value, max(low, least), max(high, least))


def anytime_outside(parts: Sequence[Sampled], level: float) -> Estimate:
    """The positives outside the pool, with limits that hold at every look."""
    sampled = [part for part in parts if part.size and not part.census]
    sure = math.fsum(part.positive for part in parts if part.size and part.census)
    each = 1 - (1 - level) / max(len(sampled), 1)
    low = high = 0.0
    for part in sampled:
        every = part.labelled + part.missing
        low += part.size * beta_binomial_sequence(part.positive, every, each)[0]
        high += part.size * beta_binomial_sequence(part.positive + part.missing, every, each)[1]
    return Estimate(sure + math.fsum(part.total for part in sampled), sure + low, sure + high)


def widths(
    pool: Estimate,
    parts: Sequence[Sampled],
    size: int,
    drawn: int,
    level: float,
    times: Sequence[float] = STEPS,
    *,
    uniform: "UniformDraws | None" = None,
    least: float = 0.0,
) -> list[Step]:
    """How wide the intervals of p and recall will be after more random draws of the kind there are.

    Formula: the limits of `Sampled.more`; of p by uniform draws, today's with every count multiplied.
    Source: specification 13.1: what so many draws can show.
    Conventions: the estimates stay as they are; the pool's part of the width does not shrink. No more pairs are drawn
    than there are outside the pool. With `uniform` p is that of these draws alone, at least `least`, as `pool_report`
    has it.
    """
    from eds.analysis.totals import outside_total

    result = []
    outside_size = sum(part.size for part in parts)
    for factor in times:
        count = round(drawn * factor)
        if factor > 1 and count > outside_size:
            break
        more = [part.more(factor) for part in parts]
        outside = outside_total(more, level, "squared" if len(more) > 1 else "simultaneous")
        total, recall = sum_of(pool, outside), share_of(pool, outside)
        p_width = (total.high - total.low) / size
        if uniform is not None:
            p_width = _width_of_draws(uniform, factor, least, level)
        result.append(Step(count, count - drawn, p_width, recall.high - recall.low))
    return result


def _width_of_draws(draws: "UniformDraws", factor: float, least: float, level: float) -> float:
    if factor == 1:
        return draws.exact_high - draws.exact_low
    n = draws.effective * factor * (1 if draws.enough else draws.drawn / max(draws.labelled, 1))
    low, high = clopper_pearson_interval(min((draws.rate or 0.0) * n, n), n, level, weighted=True)
    return float(max(high, least) - max(low, least))
