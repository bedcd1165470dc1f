"""The labelled pairs of a project as a sample, each with the number of pairs that it stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from eds.analysis.analyses.prevalence import uniform_outside
from eds.analysis.unit_labels import PAIR, RandomDraws, UnitLabels, random_draws, units_of
from eds.analysis.weighted_draws import Draw, unit_weights, weighted_draws
from eds.pairs import Flags, Integers, Reals, in_sorted
from eds.suspects.partial_estimates import drawn_in_batches, prefix_weights
from eds.universe import Universe

Population = Literal["pool", "universe"]


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Labelled pairs of images: arrays have one entry for each row of `pairs` (query_id, candidate_id, value)."""

    population: Population
    size: float  # pairs of images that the sample stands for
    covers: bool  # whether every pair of the population could have been in the sample
    pairs: pd.DataFrame
    weight: Reals  # how many pairs each row stands for; the weights add to `size`
    outside: Flags  # random draws from outside the pool

    @property
    def text(self) -> str:
        """The population in words."""
        if self.population == "pool":
            return f"the {self.size:,.0f} pairs of the pool"
        part = "" if self.covers else " that were drawn from"
        return f"all {self.size:,.0f} pairs of a query and a candidate image{part}"


def labelled_samples(universe: Universe, suspects: pd.DataFrame, truth: pd.DataFrame) -> list[LabelledSample]:
    """The labelled pairs as a sample of the pool and, where random draws from outside it have labels, of the universe.

    Formula: a pair of the pool weighs as `prefix_weights` says, a random draw from outside N w / sum of w, for N pairs
    of its stratum and w the draw's own weight, over the draws that have a label. With labelled weighted draws, all
    draws weigh as in `weighted_draws.outside_sample`.
    Source: specification 18.1, 18.3.
    Conventions: units are pairs of images, since a score belongs to images. Rows of the pool that no batch drew
    (chosen pairs, imported ones) are a census of those that are labelled, and stand for the others. A pool that is
    not judged at all gives no sample of it.
    """
    images = universe.of_images
    pooled = suspects[suspects["origin"] == "pool"].drop_duplicates(PAIR)
    pooled = pooled[images.numbers(pooled) >= 0].reset_index(drop=True)
    known = truth[[*PAIR, "value"]]
    weight = pool_weights(pooled, known)
    rows = weight > 0
    judged = pooled.loc[rows, PAIR].merge(known, on=PAIR, how="left")
    inside = LabelledSample(
        "pool",
        float(len(pooled)),
        True,
        judged.astype({"value": "int64"}),
        _scaled(weight[rows], float(len(pooled))),
        np.zeros(len(judged), np.bool_),
    )
    result = [inside] if len(judged) else []
    units = units_of(images, pooled)
    labels, without = UnitLabels.of(images, known), images.size - len(units)
    draws = random_draws(images, suspects, labels, units)
    weighted = weighted_draws(images, suspects, labels, units)[0]
    outside = _outside(images, draws, without)
    if any((draw.value >= 0).any() for draw in weighted):
        outside = _all_draws(images, [*uniform_outside(draws, without), *weighted], units, without)
    if outside is not None and (len(judged) or not len(pooled)):
        pairs = pd.concat([inside.pairs, outside.pairs], ignore_index=True)
        result.append(
            LabelledSample(
                "universe",
                inside.size + outside.size,
                outside.covers,
                pairs,
                np.concatenate([inside.weight, outside.weight]),
                np.append(inside.outside, outside.outside),
            )
        )
    return result


def pool_weights(pooled: pd.DataFrame, truth: pd.DataFrame) -> Reals:
    """A weight for each row of the pool; 0 for those without a label."""
    weight = prefix_weights(pooled, truth) if len(pooled) else np.zeros(0)
    others = ~drawn_in_batches(pooled)
    done = np.asarray(pd.MultiIndex.from_frame(pooled[PAIR]).isin(pd.MultiIndex.from_frame(truth[PAIR])))
    if (others & done).any():
        weight[others & done] = others.sum() / (others & done).sum()
    return np.asarray(np.where(done, weight, 0.0), np.float64)


def _outside(images: Universe, draws: Mapping[str, RandomDraws], size: float) -> LabelledSample | None:
    """The labelled random draws from outside the pool; None without any."""
    own = {name: part for name, part in draws.items() if name != "all"}
    pairs, weights, total = [], [], 0.0
    for name, part in (own or dict(draws)).items():
        rows = ~part.in_pool & (part.value >= 0)
        if not rows.any():
            continue
        every = ~part.in_pool
        share = float(part.weight[every].sum() / part.weight.sum())
        stands_for = part.size if name != "all" else size if part.covers else part.size * share
        pairs.append(images.pairs(part.unit[rows]).assign(value=part.value[rows]))
        weights.append(_scaled(part.weight[rows], float(stands_for)))
        total += float(stands_for)
    if not pairs:
        return None
    weight = np.concatenate(weights)
    return LabelledSample(
        "universe",
        total,
        total >= size * (1 - 1e-9),
        pd.concat(pairs, ignore_index=True),
        weight,
        np.ones(len(weight), np.bool_),
    )


def _all_draws(images: Universe, draws: Sequence[Draw], pool: Integers, size: float) -> LabelledSample:
    """The labelled draws of all designs, as one sample of the pairs outside the pool."""
    unit, value, weight = unit_weights(draws)
    rows = ~in_sorted(pool, unit)
    pairs = images.pairs(unit[rows]).assign(value=value[rows])
    return LabelledSample("universe", size, True, pairs, _scaled(weight[rows], size), np.ones(len(pairs), np.bool_))


def _scaled(weight: Reals, size: float) -> Reals:
    return np.asarray(weight * (size / weight.sum()) if len(weight) else weight, np.float64)
