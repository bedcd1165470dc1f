"""How often intervals of agreement contain the true value: `python -m tests.speed.agreement [WORLDS]`.

Queries differ: in how many of their pairs are similar, and in how hard these are to judge. So the pairs of a query are
alike, and an interval that draws pairs one by one is too narrow. Takes about five minutes for 1,000 worlds.
"""

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from eds.truth.panel import COEFFICIENTS, _coefficients

Counts = npt.NDArray[np.int64]
PAIRS = 12  # of a query
EXPERTS = 3
SHAPES = {"similar pairs frequent": (4.0, 1.0), "half of the pairs similar": (1.0, 1.0)}  # Beta of a query's share
NAMES = list(COEFFICIENTS)


def draw_votes(queries: int, shape: tuple[float, float], rng: np.random.Generator) -> tuple[Counts, Counts, Counts]:
    """Votes for and against, and the query, of every pair."""
    share, error = rng.beta(*shape, queries), rng.beta(2, 10, queries)
    query = np.repeat(np.arange(queries), PAIRS)
    similar = rng.random(len(query)) < share[query]
    wrong = rng.random((len(query), EXPERTS)) < error[query, None]
    positive = (similar[:, None] ^ wrong).sum(axis=1)
    return positive, EXPERTS - positive, query


def true_values(shape: tuple[float, float]) -> "npt.NDArray[np.float64]":
    """Each coefficient of very many queries."""
    positive, negative, _ = draw_votes(200_000, shape, np.random.default_rng(99))
    return np.array([float(function(positive, negative, np.ones(len(positive)))) for function in COEFFICIENTS.values()])


def coverage(
    queries: int, shape: tuple[float, float], worlds: int, resamples: int = 2000, *, by_pairs: bool = False
) -> "npt.NDArray[np.float64]":
    """The share of the worlds whose interval contains the true value, for each coefficient."""
    truth = true_values(shape)
    held = np.zeros(len(NAMES))
    for world in range(worlds):
        positive, negative, query = draw_votes(queries, shape, np.random.default_rng([queries, world]))
        clusters = np.arange(len(query)) if by_pairs else query
        found = _coefficients(positive, negative, clusters, 0.95, resamples, seed=world % 4)
        held += (found["low"].to_numpy() <= truth) & (truth <= found["high"].to_numpy())
    return held / worlds


def rows(worlds: int) -> Iterator[str]:
    """The table, line by line."""
    yield f"{'':28}{'queries':>8}  " + "  ".join(f"{name:>18}" for name in NAMES)
    for name, shape in SHAPES.items():
        for queries in (20, 50, 200):
            shares = coverage(queries, shape, worlds)
            yield f"{name:28}{queries:8}  " + "  ".join(f"{100 * share:16.1f} %" for share in shares)
        shares = coverage(50, shape, min(worlds, 200), by_pairs=True)
        yield f"{'  drawn pair by pair':28}{50:8}  " + "  ".join(f"{100 * share:16.1f} %" for share in shares)


if __name__ == "__main__":
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(line, flush=True)
