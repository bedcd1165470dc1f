"""Positives outside the pool, from draws of unequal probability that follow each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from eds.analysis.totals import Sampled
from eds.analysis.unit_labels import RandomDraws, UnitLabels
from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals, in_sorted
from eds.suspects.weighted_pairs import is_weighted
from eds.universe import Universe

ENOUGH = 0.95  # of the draws that were reached; where fewer have a label, the limits are widened by the others
UNSEEN = 0.1  # positives at the weight of a random unit that V allows for: without, 92.8 % were covered, not 95
FEW = 3  # positives below which the weight of a random unit bounds what was not seen


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw from outside the pool; arrays have one entry for each unit."""

    stands_for: Reals  # how many units: 1 / probability
    value: Integers  # 1, 0, or -1 without a label
    reached: Flags  # False: behind the last one judged, in the random order of the draw
    unit: Integers | None = None

    def within(self, units: Integers, *, inside: bool) -> "Draw":
        """The same draw with no positives but those inside `units` (ascending), or but those outside."""
        if self.unit is None:
            raise InputError("the units of the draw are not known", where="draw", hint="Give them.")
        return replace(self, value=np.where((self.value == 1) & (in_sorted(units, self.unit) != inside), 0, self.value))


def weighted_draws(
    universe: Universe, suspects: pd.DataFrame, labels: UnitLabels, pool: Integers
) -> tuple[list[Draw], int]:
    """The weighted draws, first to last, and how many pairs are left out since they are not in the universe.

    A draw of units of the other kind counts with the images of the product, as in `random_draws`.
    """
    rows = suspects[is_weighted(suspects)]
    result, left_out = [], 0
    for (stratum, _), part in rows.groupby(["stratum", "batch"], sort=True):
        part = part.sort_values("position")
        number = universe.numbers(part)
        inside = number >= 0
        left_out += int((~inside).sum())
        factor = np.ones(len(part))
        drawn = str(stratum).partition("@")[2]
        if drawn == "product" and universe.unit == "image":
            source = universe.of_products
            factor[inside] = source.images_of(source.numbers(part[inside]))
        elif drawn == "image" and universe.unit == "product":
            factor[inside] = 1 / universe.images_of(number[inside])
        value = labels.of_units(number)
        judged = np.flatnonzero(value >= 0)
        reached = np.arange(len(part)) <= (judged[-1] if len(judged) else -1)
        kept = inside & ~in_sorted(pool, number)
        stands_for = factor / part["probability"].to_numpy(np.float64)
        result.append((int(part["batch"].iloc[0]), Draw(stands_for[kept], value[kept], reached[kept], number[kept])))
    return [draw for _, draw in sorted(result, key=lambda item: item[0])], left_out


def uniform_draw(parts: Sequence[tuple[RandomDraws, Flags, float]]) -> Draw:
    """Uniform draws of strata that cover the outside, as one draw: each with the rows that count, and its size.

    A draw that lies inside the pool by now is not a positive of what is outside.
    """
    stands_for = [size * part.weight[rows] / part.weight[rows].sum() for part, rows, size in parts if rows.any()]
    value = [np.where(part.in_pool[rows], 0, part.value[rows]) for part, rows, _ in parts if rows.any()]
    every = np.concatenate(value)
    unit = np.concatenate([part.unit[rows] for part, rows, _ in parts if rows.any()])
    return Draw(np.concatenate(stands_for), every, np.ones(len(every), np.bool_), unit)


def outside_sample(size: int, draws: Sequence[Draw]) -> Sampled | None:
    """All draws as one sample of the units outside the pool, by effective counts; None without labels.

    Formula: of draw t, T_t = positives of the draws before + sum of y / pi (Horvitz and Thompson). T = sum of w_t T_t,
    w_t in proportion to the mean pi of the draw: so many equal draws it is worth, over N, if positives are where it
    looked for them. V = sum of w_t^2 n/(n-1) sum of (1 - pi) (y / pi - B)^2, B the mean of y / pi weighted with 1 - pi;
    where units differ in weight, plus a tenth of the square of what a random unit stands for: rare ones of large weight
    may be unseen.
    One effective draw stands for s units, V = s T (1 - T/N): T / s positives of N / s draws.
    Source: Des Raj 1956 for draws that follow each other; Hajek 1964 for V; Dean and Pagano 2015 for effective counts.
    Conventions: a number of units that is fixed makes T the difference estimator whose guess is in proportion to pi.
    With fewer than 3 positives s is no less than what a random unit stands for, so that none seen does not
    mean none there. A draw of which m of n units are labelled counts with n / m; units that were reached and have no
    label widen the limits where they are more than 5 %. Draws without any label do not count.
    Example, run by doctest: 4 of 40 equal draws from 1,000 units.
    >>> equal = Draw(np.full(40, 25.0), np.array([1] * 4 + [0] * 36), np.ones(40, bool))
    >>> found = outside_sample(1000, [equal])
    >>> round(found.total, 6), round(found.labelled, 1), round(found.positive, 1)
    (100.0, 40.6, 4.1)
    """
    known = [draw for draw in draws if (draw.value >= 0).any()]
    if not known or not size:
        return None
    labelled, stands_for, weight, coefficient = _combined(known)
    value = [draw.value[mine].astype(np.float64) for draw, mine in zip(known, labelled, strict=True)]
    total = math.fsum(float(c @ y) for c, y in zip(coefficient, value, strict=True))
    variance = math.fsum(w**2 * _spread(each, y) for w, each, y in zip(weight, stands_for, value, strict=True))
    every = np.concatenate(coefficient)
    of_random = float(every @ every / every.sum())
    unequal = max(float(part.max() / part.min()) for part in stands_for) > 1 + 1e-9
    variance += UNSEEN * of_random**2 if unequal and total > 0 else 0.0
    positives = int(sum(y.sum() for y in value))
    total = min(total, float(size))
    scale = variance / (total * (1 - total / size)) if 0 < total < size else 0.0
    if positives < FEW:
        scale = max(scale, of_random)
    scale = min(max(scale, 1e-9), float(size))
    reached = sum(float(draw.stands_for[draw.reached].sum()) for draw in known)
    missing = sum(float(draw.stands_for[draw.reached & (draw.value < 0)].sum()) for draw in known)
    count = sum(int(draw.reached.sum()) for draw in known)
    lost = sum(int((draw.reached & (draw.value < 0)).sum()) for draw in known)
    share = missing / reached if lost > (1 - ENOUGH) * count else 0.0
    effective = size / scale
    return Sampled(
        "weighted",
        float(size),
        count,
        effective * (1 - share),
        total / scale * (1 - share),
        effective * share,
        _reach(stands_for, weight, value),
    )


def _reach(stands_for: Sequence[Reals], weight: Reals, value: Sequence[Reals]) -> float:
    """The chance that one of the draws holds a similar unit: the mean, weighted by what each adds to the variance."""
    found = [1 - np.exp(-1 / (w * each[y > 0])) for w, each, y in zip(weight, stands_for, value, strict=True)]
    q = np.concatenate(found)
    adds = (1 - q) / q**2
    return float(q @ adds / adds.sum()) if len(q) and adds.sum() > 0 else 0.0


def unit_weights(draws: Sequence[Draw]) -> tuple[Integers, Integers, Reals]:
    """The labelled units of all draws, their values, and how many units outside the pool each stands for.

    Formula: the weights of the values in T of `outside_sample`.
    """
    known = [draw for draw in draws if (draw.value >= 0).any()]
    if not known:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    labelled, _, _, coefficient = _combined(known)
    units, values = [], []
    for draw, mine in zip(known, labelled, strict=True):
        if draw.unit is None:
            raise InputError("the units of the draw are not known", where="draw", hint="Give them.")
        units.append(draw.unit[mine])
        values.append(draw.value[mine])
    return np.concatenate(units), np.concatenate(values), np.concatenate(coefficient)


def _combined(known: Sequence[Draw]) -> tuple[list[Flags], list[Reals], Reals, list[Reals]]:
    """Of each draw with labels: its labelled units, what each stands for in it, its weight w_t; each unit's in T."""
    labelled = [draw.value >= 0 for draw in known]
    stands_for: list[Reals] = [
        np.maximum(draw.stands_for[mine] * len(mine) / mine.sum(), 1.0)
        for draw, mine in zip(known, labelled, strict=True)
    ]
    precision = np.array([float((1 / each).mean()) for each in stands_for])
    weight: Reals = precision / precision.sum()
    later = weight.sum() - np.cumsum(weight)
    coefficient: list[Reals] = [  # a later draw leaves out all units of those before, labelled or not
        w * each + rest * len(mine) / mine.sum()
        for w, each, rest, mine in zip(weight, stands_for, later, labelled, strict=True)
    ]
    return labelled, stands_for, weight, coefficient


def _spread(stands_for: Reals, y: Reals) -> float:
    """The variance of one draw's total."""
    n = len(y)
    open_share = 1 - 1 / stands_for
    if n < 2 or not open_share.sum() > 0:
        return 0.0
    each = y * stands_for
    middle = float(open_share @ each / open_share.sum())
    return n / (n - 1) * float(open_share @ (each - middle) ** 2)
