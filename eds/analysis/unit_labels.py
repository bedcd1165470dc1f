"""The labels, the pool and the random draws of a project, as units of its universe."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.pairs import Flags, Integers, Reals, find_sorted, in_sorted, sort_unique
from eds.suspects.random_pairs import BESIDE, drawn_from
from eds.suspects.weighted_pairs import is_weighted
from eds.universe import Universe

PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True, eq=False)
class UnitLabels:
    """Units that have a label, ascending; a unit is positive if any of its judged pairs of images is."""

    unit: Integers
    value: Integers
    several: int  # units of which more than one pair of images is judged
    disagreeing: int  # of them, units with both labels

    @classmethod
    def of(cls, universe: Universe, truth: pd.DataFrame) -> "UnitLabels":
        """The units that the labelled pairs (query_id, candidate_id, value) belong to; pairs outside count nowhere."""
        number = universe.numbers(truth)
        inside = number >= 0
        value = truth["value"].to_numpy(np.int64)[inside]
        unit, place, count = np.unique(number[inside], return_inverse=True, return_counts=True)
        positive = np.bincount(place, value, minlength=len(unit)).astype(np.int64)
        torn = (positive > 0) & (positive < count)
        return cls(unit, (positive > 0).astype(np.int64), int((count > 1).sum()), int(torn.sum()))

    @property
    def positives(self) -> int:
        """Units that are known to be positive, in whatever way they were found."""
        return int(self.value.sum())

    def of_units(self, units: Integers) -> Integers:
        """The label of each unit: 1, 0, or -1 where it has none."""
        place = find_sorted(units, self.unit)
        return np.where(place >= 0, self.value[place] if len(self.value) else 0, -1)


@dataclass(frozen=True, eq=False)
class RandomDraws:
    """Random draws of one stratum, restricted to the universe; arrays have one entry for each draw."""

    stratum: str  # all, outside, near or rest
    size: float  # units that the draws stand for
    covers: bool  # whether every unit of the stratum could have been drawn
    unit: Integers
    weight: Reals  # how many units each draw stands for, over their mean
    value: Integers  # 1, 0, or -1 without a label
    in_pool: Flags
    left_out: int  # draws that are not in the universe

    @property
    def effective(self) -> float:
        """The number of equal draws that are as precise (Kish): all of them where the weights are equal."""
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight)) if len(self.weight) else 0.0


def random_draws(
    universe: Universe, suspects: pd.DataFrame, labels: UnitLabels, pool: Integers
) -> dict[str, RandomDraws]:
    """The uniform random draws by stratum, as a sample of the universe; `pool` are the pool's units, ascending.

    Formula: a draw from another universe counts if its pair is in this one; with the weight 1 / (images of the product)
    where pairs of images were drawn and units are products, and (images of the product) the other way round.
    Source: specification 18.1; Kish 1965 for weights.
    Conventions: what was drawn says the column `stratum` (see eds.suspects.random_pairs). Draws of `all` and `outside`
    are uniform on what is left after restriction, of which the size is counted; the size of near and rest is that of
    the draw. A stratum drawn from a smaller catalogue or universe than this one does not cover it.
    Example: see tests/analysis/test_pool_report.py, against loops over the pairs.
    """
    drawn = suspects[(suspects["origin"] == "random") & ~is_weighted(suspects)]
    samples: dict[str, list[_Sample]] = {}
    for name, rows in drawn.groupby("stratum", sort=True):
        samples.setdefault(str(name).partition("@")[0], []).append(_sample(universe, suspects, str(name), rows))
    complete = {"near", "rest"} <= set(samples) and all(
        sum(part.origin for part in parts) >= parts[0].outside
        for parts in zip(samples["near"], samples["rest"], strict=False)
    )
    exact = {"all": float(universe.size), "outside": float(universe.size - len(pool))}
    result = {}
    for base, some in samples.items():
        unit, weight = (np.concatenate([getattr(part, name) for part in some]) for name in ("unit", "weight"))
        covers = all(part.covers for part in some) or (base in BESIDE and complete)
        size = exact[base] if covers and base in exact else sum(part.size for part in some)
        in_pool = in_sorted(pool, unit)
        if base == "outside":  # the pool has grown over some of them since
            weight, unit, in_pool = weight[~in_pool], unit[~in_pool], in_pool[~in_pool]
        left_out = sum(part.left_out for part in some)
        result[base] = RandomDraws(base, size, covers, unit, weight, labels.of_units(unit), in_pool, left_out)
    return result


def units_of(universe: Universe, pairs: pd.DataFrame) -> Integers:
    """The units of those pairs (query_id, candidate_id) that are in the universe, ascending and distinct."""
    numbers = universe.numbers(pairs)
    return sort_unique(numbers[numbers >= 0])


@dataclass(frozen=True, eq=False)
class _Sample:
    """The draws of one name of a stratum: each sample counts by its number of draws."""

    unit: Integers
    weight: Reals
    size: float  # units of this universe that they stand for
    origin: int  # units that they were drawn from
    outside: int  # units of the universe that they were drawn from that are outside the pool
    covers: bool  # whether every unit of the stratum could have been drawn; of near and rest, not by itself
    left_out: int


def _sample(universe: Universe, suspects: pd.DataFrame, name: str, rows: pd.DataFrame) -> _Sample:
    base, _, drawn = name.partition("@")
    source = universe.of_products if drawn == "product" else universe.of_images
    number = universe.numbers(rows)
    inside = number >= 0
    weight = np.ones(int(inside.sum()))
    if source.unit == "product" and universe.unit == "image":
        weight = source.images_of(source.numbers(rows[inside])).astype(np.float64)
    elif source.unit == "image" and universe.unit == "product":
        weight = 1 / universe.images_of(number[inside])
    origin = drawn_from(rows)
    outside = source.size - len(units_of(source, suspects[suspects["origin"] == "pool"]))
    least = {"all": source.size, "outside": outside}.get(base)
    stands_for = origin * float(weight.sum()) / len(rows)
    even = weight * (len(weight) / weight.sum()) if len(weight) else weight
    covers = least is not None and origin >= least
    return _Sample(number[inside], even, stands_for, origin, outside, covers, int((~inside).sum()))
