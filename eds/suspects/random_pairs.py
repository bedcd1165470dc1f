"""Uniform random pairs: of all pairs A, outside the pool, near it, or the rest. A is never listed.

    all      every (query, candidate), the query itself left out
    outside  all without the pool
    near     pairs at ranks min_rank..max_rank-1 of some model's list, without the pool
    rest     outside without near

Queries and candidates come from images.role. Pairs of one product belong to A unless
`exclude_product` is set. n of the N pairs of a stratum are drawn without replacement: every row's
probability is n / N, also when drawing goes on later (then n counts all draws). The stored rows, not
the seed, are authoritative.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds import choices
from eds.errors import InputError
from eds.pairs import Integers, decode, encode, in_sorted, sort_unique, unique_ids
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import generator, whole
from eds.suspects.lists import read_lists
from eds.tables import IMAGES, SUSPECTS, check

BESIDE = {"near": ("rest",), "rest": ("near",)}  # strata that share no pair, so that one table may hold both


@dataclass(frozen=True)
class RankWindow:
    """The ranks that the stratum near covers: min_rank (the pool's depth k) to max_rank - 1."""

    min_rank: int
    max_rank: int = 100


class AllPairs:
    """All pairs of a catalogue, numbered 0..N-1 by query and then candidate, ids ascending."""

    def __init__(self, images: pd.DataFrame) -> None:
        check(images, IMAGES)
        self.images = images
        self.queries: pa.Array = unique_ids(images.loc[images["role"] != "candidate", "image_id"])
        self.candidates: pa.Array = unique_ids(images.loc[images["role"] != "query", "image_id"])
        own = encode(self.queries, self.candidates)
        self._own = np.where(own < 0, len(self.candidates), own)  # the query's place among candidates
        width = len(self.candidates) - (own >= 0)
        self._first = np.append(0, np.cumsum(width)).astype(np.int64)
        self.size = int(self._first[-1])

    def numbers(self, pairs: pd.DataFrame) -> Integers:
        """The numbers of those pairs that lie in A, ascending and distinct."""
        query, candidate = encode(pairs["query_id"], self.queries), encode(pairs["candidate_id"], self.candidates)
        inside = (query >= 0) & (candidate >= 0)
        query, candidate = query[inside], candidate[inside]
        other = candidate != self._own[query]
        query, candidate = query[other], candidate[other]
        return sort_unique(self._first[query] + candidate - (candidate > self._own[query]))

    def pairs(self, numbers: Integers) -> pd.DataFrame:
        """The pairs of these numbers."""
        query = np.searchsorted(self._first, numbers, side="right") - 1
        candidate = numbers - self._first[query]
        candidate += candidate >= self._own[query]
        return pd.DataFrame(
            {"query_id": decode(query, self.queries), "candidate_id": decode(candidate, self.candidates)}
        )

    def of_one_product(self) -> Integers:
        """The numbers of all pairs that show one product."""
        products = self.images[["image_id", "product_id", "role"]]
        left = products[products["role"] != "candidate"].rename(columns={"image_id": "query_id"})
        right = products[products["role"] != "query"].rename(columns={"image_id": "candidate_id"})
        return self.numbers(left.merge(right, on="product_id"))


def strata(
    frame: AllPairs,
    suspects: pd.DataFrame | None = None,
    neighbors: pd.DataFrame | None = None,
    *,
    window: RankWindow | None = None,
    exclude_product: bool = False,
) -> dict[str, tuple[int, Integers | None, Integers]]:
    """For each stratum its size, its pairs' numbers where they are listed, and the numbers it leaves out.

    Near and rest need `neighbors` and `window`.
    """
    barred = frame.of_one_product() if exclude_product else np.zeros(0, np.int64)
    pooled = SUSPECTS.empty() if suspects is None else suspects[suspects["origin"] == "pool"]
    pool = frame.numbers(pooled)
    pool = pool[~in_sorted(barred, pool)]
    without_pool = sort_unique(pool, barred)
    result: dict[str, tuple[int, Integers | None, Integers]] = {
        "pool": (len(pool), pool, barred),
        "all": (frame.size - len(barred), None, barred),
        "outside": (frame.size - len(without_pool), None, without_pool),
    }
    if neighbors is None or window is None:
        return result
    min_rank, max_rank = window.min_rank, window.max_rank
    if not 0 <= whole(min_rank, "min_rank", 0) < whole(max_rank, "max_rank", 1):
        raise InputError(f"no ranks from {min_rank} to below {max_rank}", hint="Give min_rank below max_rank.")
    deepest = int(neighbors["rank"].max()) + 1 if len(neighbors) else 0
    if deepest <= min_rank:
        raise InputError(
            f"the lists end at depth {deepest}, near pairs begin at rank {min_rank}",
            where="table neighbors",
            hint=f"Mine deeper: eds neighbors mine -k {max_rank}.",
        )
    lists = read_lists(neighbors[neighbors["rank"] >= min_rank], max_rank)
    near = frame.numbers(
        pd.DataFrame(
            {"query_id": decode(lists.query, lists.queries), "candidate_id": decode(lists.candidate, lists.candidates)}
        )
    )
    near = near[~in_sorted(without_pool, near)]
    left_out = sort_unique(without_pool, near)
    return {**result, "near": (len(near), near, left_out), "rest": (frame.size - len(left_out), None, left_out)}


def draw_random(
    images: pd.DataFrame,
    n: int,
    seed: int,
    *,
    stratum: str = "all",
    suspects: pd.DataFrame | None = None,
    neighbors: pd.DataFrame | None = None,
    window: RankWindow | None = None,
    exclude_product: bool = False,
) -> pd.DataFrame:
    """The suspects with n further random pairs of a stratum (origin `random`), as one batch behind all others.

    `suspects` are those there are: their pool is what `outside` leaves out, their random rows of this
    stratum are not drawn again. `near` and `rest` need `neighbors` and `window`.
    """
    choices.check(choices.Stratum, stratum, "stratum")
    frame = AllPairs(images)
    known = strata(frame, suspects, neighbors, window=window, exclude_product=exclude_product)
    if stratum not in known:
        raise InputError(f"stratum {stratum} needs the models' lists", hint="Give neighbors and a window of ranks.")
    size, listed, left_out = known[stratum]
    there = SUSPECTS.empty() if suspects is None else suspects.reset_index(drop=True)
    mine = (there["origin"] == "random") & (there["stratum"] == stratum)
    drawn = frame.numbers(there[mine])
    _check_same(there[mine], stratum, size)
    others = there[(there["origin"] == "random") & ~mine]
    elsewhere = frame.numbers(others)
    _check_disjoint(others, stratum)
    for other in set(BESIDE.get(stratum, ())) & set(known):  # cut at other ranks, the two would overlap
        _check_same(others[others["stratum"] == other], other, known[other][0])
    free = size - len(drawn)
    if whole(n, "n", 1) > free:
        raise InputError(f"{n:,} pairs of {free:,} cannot be drawn", where=f"stratum {stratum}", hint="Ask for fewer.")
    rng = generator(seed, f"random {stratum}", len(drawn))
    if listed is not None:
        numbers = listed[~in_sorted(drawn, listed)][_choose(free, n, rng)]
    else:
        gaps = sort_unique(left_out, drawn)
        chosen = _choose(free, n, rng)
        numbers = chosen + np.searchsorted(gaps - np.arange(len(gaps)), chosen, side="right")
    if (twice := in_sorted(elsewhere, numbers)).any():  # the lists were others then, and near was as large
        raise InputError(
            f"{int(twice.sum())} of the pairs were drawn for another stratum before",
            where=f"stratum {stratum}",
            hint="The lists have changed since: keep that draw.",
        )
    chance = (n + len(drawn)) / size
    rows = behind(frame.pairs(numbers), there, origin="random", stratum=stratum, probability=chance)
    there.loc[mine, "probability"] = chance
    return append_rows(there, rows)


def _choose(population: int, n: int, rng: np.random.Generator) -> Integers:
    """The first n distinct numbers of a stream of uniform ones below `population`: without replacement."""
    if population <= 4 * n:
        return rng.permutation(population)[:n]
    result = np.zeros(0, np.int64)
    while len(result) < n:
        result = np.concatenate([result, rng.integers(0, population, n)])
        result = result[np.sort(np.unique(result, return_index=True)[1])]
    return result[:n]


def _check_disjoint(others: pd.DataFrame, stratum: str) -> None:
    """Refuse a stratum that overlaps with one drawn from before: by definition, whatever this draw would hit."""
    overlapping = sorted({*others["stratum"].dropna()} - {*BESIDE.get(stratum, ())})
    if overlapping:
        raise InputError(
            f"pairs of stratum {', '.join(overlapping)} were drawn before, and it overlaps with this one",
            where=f"stratum {stratum}",
            hint="Strata that overlap cannot share a table: keep to all, or to outside, or to near and rest.",
        )


def _check_same(drawn: pd.DataFrame, stratum: str, size: int) -> None:
    """Refuse to continue a draw whose stratum has changed: its probabilities would be wrong."""
    before = round(len(drawn) / drawn["probability"].iloc[0]) if len(drawn) else size
    if before != size:
        raise InputError(
            f"the stratum had {before:,} pairs when it was drawn from, now it has {size:,}",
            where=f"stratum {stratum}",
            hint="The pool, the lists, the catalogue, or --min-rank, --max-rank or --exclude-product has changed:"
            " give the same options, or keep that draw.",
        )
