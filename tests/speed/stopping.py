"""How often a promise of recall is kept, and at what cost: `python -m tests.speed.stopping`.

500 catalogues, each with 20 depths of a pool, of which the first is judged; one weighted draw, as `eds suspects draw`
makes it once there are 200 labels. The promise is kept if the depth that comes back holds the share; the cost is that
depth's pool over the smallest one that holds it (the oracle), which knows it without a draw: without the labels of the
draw, and with those that lie outside that pool. Where no depth is promised, the cost is that of all depths.

Depths differ by more than limits of recall are wide, so a promise is kept more often than its confidence says. Two
figures show that this comes from the steps alone: how often one depth less would do, and how often a promise is kept
of a share that a depth narrowly fails to hold.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eds.analysis.stopping import recall_by_depth, stopping_depth
from eds.analysis.totals import Estimate
from eds.analysis.weighted_draws import Draw
from eds.intervals import wilson_interval
from eds.pairs import Integers, Reals

DEPTHS, QUERIES, PER_RANK = 20, 500, 3  # each depth adds so many units of each query
REST = 30_000
DRAWS = 3500


@dataclass(frozen=True)
class Outcome:
    """What became of one promise."""

    promised: bool
    kept: bool
    narrowly: bool  # whether a promise is kept of just more than the deepest pool holds that holds less than the share
    shallower: bool  # whether one depth less than promised holds the share, too
    pools: float  # cost over the oracle's
    every: float  # the same with the labels of the draw


def promised(seed: int, share: float = 0.9, n: int = DRAWS, *, guess: str = "right") -> Outcome:
    """Whether the promise of a share is kept after n draws, and its cost; guess: right or useless."""
    rng = np.random.default_rng([seed, 5])
    depth = np.repeat(np.arange(DEPTHS), QUERIES * PER_RANK)
    chance = 0.6 * np.exp(-depth / rng.uniform(2.5, 4))
    value = np.concatenate([rng.random(len(depth)) < chance, rng.random(REST) < 2e-5])
    size, start = len(value), int((depth == 0).sum())
    pool: Integers = np.arange(start)
    right = guess == "right"
    f: Reals = np.concatenate([chance if right else rng.permutation(chance), np.full(REST, 1e-4 if right else 1e-2)])
    free = np.arange(size) >= start
    g = np.sqrt(f * (1 - f)) * free
    likely = np.minimum(n * (0.2 * free / free.sum() + 0.8 * g / g.sum()), 1)
    order = rng.permutation(size)
    some = np.sort(order[np.diff(np.floor(np.append(0, np.cumsum(likely[order])) + rng.random())) > 0])
    draw = Draw(1 / likely[some], value[some].astype(np.int64), np.ones(len(some), bool), some)
    added = [(0, pool[:0]), *((k, np.flatnonzero(depth == k)) for k in range(1, DEPTHS))]
    known = float(value[:start].sum())
    depths = recall_by_depth(Estimate(known, known, known), pool, added, size, [draw])
    held = np.cumsum(np.bincount(depth, value[: len(depth)])) / value.sum()
    answer, oracle = stopping_depth(depths, share), int(np.argmax(held >= share))
    more = held[oracle - 1] + 1e-9 if oracle else share
    narrow = stopping_depth(depths, more)
    deepest = DEPTHS - 1 if answer is None else answer
    outside = int((np.append(depth, np.full(REST, DEPTHS))[some] > deepest).sum())
    pools = [(number + 1) * QUERIES * PER_RANK for number in (deepest, oracle)]
    return Outcome(
        answer is not None,
        answer is None or bool(held[answer] >= share),
        narrow is None or bool(held[narrow] >= more),
        answer is not None and answer > 0 and bool(held[answer - 1] >= share),
        pools[0] / pools[1],
        (pools[0] + outside) / pools[1],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=500)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--share", type=float, default=0.9)
    parser.add_argument("--guess", choices=("right", "useless"), default="right")
    given = parser.parse_args(arguments)
    count = given.catalogues
    rows = [promised(seed, given.share, given.draws, guess=given.guess) for seed in range(count)]
    print(f"promised in {sum(row.promised for row in rows)} of {count} catalogues")
    for name, hits in (
        ("kept", [row.kept for row in rows if row.promised]),
        ("kept where a depth narrowly fails", [row.narrowly for row in rows]),
        ("held by one depth less, too", [row.shallower for row in rows if row.promised]),
    ):
        if hits:
            low, high = wilson_interval(sum(hits), len(hits))
            print(f"{name}: {np.mean(hits):.3f} [{low:.3f}, {high:.3f}]")
    for name, some in (("", [row.pools for row in rows]), (", with the draw", [row.every for row in rows])):
        top = np.quantile(some, 0.95)
        print(f"cost over the oracle{name}: median {np.median(some):.2f}, mean {np.mean(some):.2f}, 95 % {top:.2f}")


if __name__ == "__main__":
    main()
