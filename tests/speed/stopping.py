"""How often a promise of recall is kept, and at what cost: `python -m tests.speed.stopping`.

500 catalogues, each with 20 depths of a pool; two draws, one uniform and one weighted. The promise is kept if the depth
that comes back holds the share; the cost is that depth's pool over the smallest one that holds it (the oracle), which
knows it without a draw: without the labels of the draws, and with those that lie outside that pool.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from eds.analysis.stopping import recall_by_depth, stopping_depth
from eds.analysis.totals import Estimate
from eds.analysis.weighted_draws import Draw
from eds.intervals import wilson_interval
from eds.pairs import Integers, Reals

DEPTHS, QUERIES, PER_RANK = 20, 500, 3  # each depth adds so many units of each query
REST = 30_000


def promised(seed: int, share: float = 0.9, n: int = 4000) -> tuple[bool, tuple[float, float] | None]:
    """Whether the promise is kept, and its cost over the oracle's, with draws too; None where no depth is promised."""
    rng = np.random.default_rng([seed, 5])
    depth = np.repeat(np.arange(DEPTHS), QUERIES * PER_RANK)
    chance = 0.6 * np.exp(-depth / rng.uniform(2.5, 4))
    value = np.concatenate([rng.random(len(depth)) < chance, rng.random(REST) < 2e-5])
    size, start = len(value), int((depth == 0).sum())
    pool: Integers = np.arange(start)
    f: Reals = np.concatenate([chance, np.full(REST, 1e-4)])
    free, draws = np.ones(size, bool), []
    free[:start] = False
    for number, count in enumerate((n // 4, n)):
        g = np.sqrt(f * (1 - f)) * free
        mass = free / free.sum() if number == 0 else 0.2 * free / free.sum() + 0.8 * g / g.sum()
        likely = np.minimum(count * mass, 1)
        order = rng.permutation(size)
        some = np.sort(order[np.diff(np.floor(np.append(0, np.cumsum(likely[order])) + rng.random())) > 0])
        draws.append(Draw(1 / likely[some], value[some].astype(np.int64), np.ones(len(some), bool), some))
        free[some] = False
    added = [(0, pool[:0]), *((k, np.flatnonzero(depth == k)) for k in range(1, DEPTHS))]
    known = float(value[:start].sum())
    answer = stopping_depth(recall_by_depth(Estimate(known, known, known), pool, added, size, draws), share)
    held = np.cumsum(np.bincount(depth, value[: len(depth)])) / value.sum()
    if answer is None:
        return True, None
    oracle = int(np.argmax(held >= share)) if (held >= share).any() else DEPTHS
    outside = sum(int((np.append(depth, np.full(REST, DEPTHS))[draw.unit] > answer).sum()) for draw in draws)
    pools = [(number + 1) * QUERIES * PER_RANK for number in (answer, oracle)]
    return bool(held[answer] >= share), (pools[0] / pools[1], (pools[0] + outside) / pools[1])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=500)
    count = parser.parse_args(arguments).catalogues
    rows = [promised(seed) for seed in range(count)]
    kept = sum(kept for kept, _ in rows)
    costs = [cost for _, cost in rows if cost is not None]
    low, high = wilson_interval(kept, count)
    print(f"kept in {kept / count:.3f} [{low:.3f}, {high:.3f}] of {count} catalogues; promised in {len(costs)}")
    for name, some in zip(("", ", with the draws"), np.transpose(costs), strict=True):
        high = np.quantile(some, 0.95)
        print(f"cost over the oracle{name}: median {np.median(some):.2f}, mean {np.mean(some):.2f}, 95 % {high:.2f}")


if __name__ == "__main__":
    main()
