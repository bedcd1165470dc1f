"""Random pairs outside the pool, drawn where, by the labels so far, a label is most informative.

A unit's chance is in proportion to sqrt(f (1 - f)), with f the probability of the relevance model that it is similar; a
fifth of the draw is uniform, so that an estimate stays unbiased and cannot go far astray however wrong f is. Units that
some model lists have chances of their own, all others (the rest) one chance.

Draws follow each other: what was drawn before is not drawn again. The column `probability` holds the chance with
which a unit came into its own draw, given the draws before it, and `batch` which draw that is. Estimates from them:
eds.analysis.weighted_draws.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals, in_sorted, sort_unique
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import generator, whole
from eds.suspects.relevance import Relevance, relevance
from eds.suspects.unit_features import ListedUnits
from eds.universe import Universe

FLOOR = 0.2  # share of a draw that is uniform
WEIGHTED = "weighted"  # what column `stratum` begins with


@dataclass(frozen=True, eq=False)
class WeightedDraw:
    """The suspects with the draw behind them, and what the draw was made from."""

    suspects: pd.DataFrame
    relevance: Relevance
    size: int  # units that were drawn from: outside the pool, and not drawn before
    listed: int  # of them, units that some model lists


def is_weighted(suspects: pd.DataFrame) -> Flags:
    """Which rows are weighted draws."""
    drawn = (suspects["origin"] == "random") & suspects["stratum"].fillna("").str.startswith(f"{WEIGHTED}@")
    return drawn.to_numpy(np.bool_)


def draw_weighted(
    universe: Universe,
    n: int,
    seed: int,
    *,
    suspects: pd.DataFrame,
    neighbors: pd.DataFrame,
    labels: tuple[Integers, Integers],
) -> WeightedDraw:
    """The suspects with n further units from outside the pool (origin `random`), as one batch behind all others.

    `neighbors` are the models' lists, with scores; `labels` the labelled units, ascending, and their values.

    Formula: pi = min(1, n (0.2 / N + 0.8 g / G)), g = sqrt(f (1 - f)), G their sum over the N units that are neither in
    the pool nor drawn before; what is cut off at 1 is given to the others in proportion. Units that some model lists
    are drawn by systematic sampling in random order, of the rest as many as are missing to n.
    Source: Sarndal, Swensson and Wretman 1992, 12.2: the chances that make the estimate of a total most certain.
    Conventions: f of the rest is (a + e) / (m + 1) of m labelled units of the rest, a of them similar, with e the first
    decile of f of the units that are listed. A product is shown by one of its images, drawn at random. A label that
    is not 0 or 1 does not exist.
    Example: see tests/suspects/test_weighted_pairs.py, against how often each unit is really drawn.
    """
    whole(n, "n", 1)
    there = suspects.reset_index(drop=True)
    pool, drawn = (_units(universe, there[there["origin"] == origin]) for origin in ("pool", "random"))
    taken = sort_unique(pool, drawn)
    listed = ListedUnits.of(universe, neighbors)
    open_units = listed.unit[~in_sorted(taken, listed.unit)]
    closed = sort_unique(taken, open_units)
    rest = universe.size - len(closed)
    if n > len(open_units) + rest:
        raise InputError(
            f"{n:,} pairs of {len(open_units) + rest:,} cannot be drawn", where="weighted draw", hint="Ask for fewer."
        )
    learned = _learn(universe, listed, open_units, labels, seed)
    chance, chance_of_rest = _chances(
        learned.probability[: len(open_units)], _rest(listed, learned, open_units, labels), rest, n
    )
    batch = int(there["batch"].max()) + 1 if len(there) else 0
    rng = generator(seed, "weighted pairs", batch)
    order = rng.permutation(len(open_units))
    reached = np.floor(np.append(0.0, np.cumsum(chance[order])) + rng.random() + 1e-9)
    mine = order[np.diff(reached) > 0][:n]
    further = universe.draw(min(n - len(mine), rest), rng, closed)
    numbers = np.concatenate([open_units[mine], further])
    probability = np.concatenate([chance[mine], np.full(len(further), chance_of_rest)])
    turn = rng.permutation(len(numbers))
    rows = behind(
        universe.pairs(numbers[turn], rng),
        there,
        origin="random",
        stratum=f"{WEIGHTED}@{universe.unit}",
        probability=probability[turn],
    )
    return WeightedDraw(append_rows(there, rows), learned, len(open_units) + rest, len(open_units))


def _units(universe: Universe, pairs: pd.DataFrame) -> Integers:
    numbers = universe.numbers(pairs)
    return sort_unique(numbers[numbers >= 0])


def _learn(
    universe: Universe, listed: ListedUnits, open_units: Integers, labels: tuple[Integers, Integers], seed: int
) -> Relevance:
    """The relevance of the open units, and behind them of the labelled ones."""
    units = np.concatenate([open_units, labels[0]])
    value = np.concatenate([np.full(len(open_units), -1, np.int64), labels[1]])
    return relevance(listed.features(universe, units), universe.query_of(units), value, seed=seed)


def _rest(listed: ListedUnits, learned: Relevance, open_units: Integers, labels: tuple[Integers, Integers]) -> float:
    """The probability that a unit is similar that no model lists."""
    unlisted = ~in_sorted(listed.unit, labels[0])
    listed_chance = learned.probability[: len(open_units)]
    edge = float(np.quantile(listed_chance, 0.1)) if len(listed_chance) else 0.5
    return (float(labels[1][unlisted].sum()) + edge) / (int(unlisted.sum()) + 1)


def _chances(f: Reals, f_of_rest: float, rest: int, n: int) -> tuple[Reals, float]:
    """The chance of each listed unit, and that of each of the rest; they add to n.

    >>> chance, of_rest = _chances(np.array([0.5, 0.0]), 0.0, 8, 2)
    >>> chance.round(3).tolist(), round(of_rest, 3), round(float(chance.sum() + 8 * of_rest), 6)
    ([1.0, 0.111], 0.111, 2.0)
    """
    spread, spread_of_rest = np.sqrt(f * (1 - f)), float(np.sqrt(f_of_rest * (1 - f_of_rest)))
    size = len(f) + rest
    total = float(spread.sum()) + rest * spread_of_rest
    share, share_of_rest = FLOOR / size + np.zeros(len(f)), FLOOR / size
    if total > 0:
        share, share_of_rest = (
            share + (1 - FLOOR) * spread / total,
            share_of_rest + (1 - FLOOR) * spread_of_rest / total,
        )
    else:
        share, share_of_rest = share / FLOOR, share_of_rest / FLOOR
    certain, certain_rest = np.zeros(len(f), np.bool_), False
    while True:
        left = n - int(certain.sum()) - (rest if certain_rest else 0)
        mass = float(share[~certain].sum()) + (0.0 if certain_rest else rest * share_of_rest)
        scale = left / mass if mass > 0 else 0.0
        more = ~certain & (share * scale >= 1)
        more_rest = not certain_rest and rest > 0 and share_of_rest * scale >= 1
        if not more.any() and not more_rest:
            break
        certain, certain_rest = certain | more, certain_rest or more_rest
    return np.where(certain, 1.0, share * scale), 1.0 if certain_rest else share_of_rest * scale
