"""Uniform random draws from the project's universe of pairs: from all of it, outside the pool, near it, or the rest.

    all      every unit of the universe
    outside  all without those that the pool holds
    near     units at ranks min_rank..max_rank-1 of some model's list, without the pool
    rest     outside without near

n of the N units of a stratum are drawn without replacement: every row's probability is n / N, also when drawing goes on
later (then n counts all draws). A product is shown by one of its images, drawn at random. The column `stratum` says
what was drawn: `all@product` or `all@image` from the universe of the project's rules, `all` from all pairs of images
(the paper's universe, and draws of older versions). The stored rows, not the seed, are authoritative.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds import choices
from eds.errors import InputError
from eds.pairs import Integers, decode, in_sorted, sort_unique
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import generator, whole
from eds.suspects.lists import read_lists
from eds.tables import SUSPECTS
from eds.universe import ALL_PAIRS, PairRules, Universe

BESIDE = {"near": ("rest",), "rest": ("near",)}  # strata that share no pair, so that one table may hold both


@dataclass(frozen=True)
class RankWindow:
    """The ranks that the stratum near covers: min_rank (the pool's depth k) to max_rank - 1."""

    min_rank: int
    max_rank: int = 100


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of the universe: its size, its units where they are listed, and the units that are not in it."""

    size: int
    listed: Integers | None
    without: Integers


def stratum_name(stratum: str, rules: PairRules) -> str:
    """What the column `stratum` of a draw from the universe of these rules says.

    >>> stratum_name("near", PairRules()), stratum_name("all", ALL_PAIRS)
    ('near@product', 'all')
    """
    return stratum if rules == ALL_PAIRS else f"{stratum}@{rules.unit}"


def strata(
    universe: Universe,
    suspects: pd.DataFrame | None = None,
    neighbors: pd.DataFrame | None = None,
    *,
    window: RankWindow | None = None,
) -> dict[str, Stratum]:
    """The strata of the universe by name; near and rest need `neighbors` and `window`."""
    pooled = SUSPECTS.empty() if suspects is None else suspects[suspects["origin"] == "pool"]
    pool, nothing = _units(universe, pooled), np.zeros(0, np.int64)
    result = {
        "pool": Stratum(len(pool), pool, nothing),
        "all": Stratum(universe.size, None, nothing),
        "outside": Stratum(universe.size - len(pool), None, pool),
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
    near = _units(
        universe,
        pd.DataFrame(
            {"query_id": decode(lists.query, lists.queries), "candidate_id": decode(lists.candidate, lists.candidates)}
        ),
    )
    near = near[~in_sorted(pool, near)]
    without = sort_unique(pool, near)
    return {
        **result,
        "near": Stratum(len(near), near, pool),
        "rest": Stratum(universe.size - len(without), None, without),
    }


def draw_random(
    universe: Universe,
    n: int,
    seed: int,
    *,
    stratum: str = "all",
    suspects: pd.DataFrame | None = None,
    neighbors: pd.DataFrame | None = None,
    window: RankWindow | None = None,
) -> pd.DataFrame:
    """The suspects with n further random units of a stratum (origin `random`), as one batch behind all others.

    `suspects` are those there are: their pool is what `outside` leaves out, and what they drew of this stratum, from
    this universe or another, is not drawn again. `near` and `rest` need `neighbors` and `window`.
    """
    choices.check(choices.Stratum, stratum, "stratum")
    whole(n, "n", 1)
    known = strata(universe, suspects, neighbors, window=window)
    if stratum not in known:
        raise InputError(f"stratum {stratum} needs the models' lists", hint="Give neighbors and a window of ranks.")
    part, name = known[stratum], stratum_name(stratum, universe.rules)
    there = SUSPECTS.empty() if suspects is None else suspects.reset_index(drop=True)
    random = there["origin"] == "random"
    mine = random & (there["stratum"] == name)
    base = there["stratum"].fillna("").str.split("@").str[0]
    alike = random & (base == stratum)  # drawn from this stratum of any universe
    drawn, earlier = int(mine.sum()), _units(universe, there[alike])
    _check_same(there[mine], stratum, part.size)
    others = there[random & ~alike]
    _check_disjoint(base[others.index], stratum)
    suffix = name[len(stratum) :]
    for other in set(BESIDE.get(stratum, ())) & set(known):  # cut at other ranks, the two would overlap
        _check_same(others[others["stratum"] == other + suffix], other, known[other].size)
    earlier = earlier[~in_sorted(part.without, earlier)]
    if part.listed is not None:
        earlier = earlier[in_sorted(part.listed, earlier)]
    free = part.size - len(earlier)
    if n > free:
        raise InputError(f"{n:,} pairs of {free:,} cannot be drawn", where=f"stratum {stratum}", hint="Ask for fewer.")
    rng = generator(seed, f"random {name}", len(earlier))
    if part.listed is not None:
        listed = part.listed[~in_sorted(earlier, part.listed)]
        numbers = listed[rng.permutation(len(listed))[:n]]
    else:
        numbers = universe.draw(n, rng, sort_unique(part.without, earlier))
    twice = in_sorted(_units(universe, others), numbers)
    if twice.any():  # the lists were others then, and near was as large
        raise InputError(
            f"{int(twice.sum())} of the pairs were drawn for another stratum before",
            where=f"stratum {stratum}",
            hint="The lists have changed since: keep that draw.",
        )
    chance = (n + drawn) / part.size
    rows = behind(universe.pairs(numbers, rng), there, origin="random", stratum=name, probability=chance)
    there.loc[mine, "probability"] = chance
    return append_rows(there, rows)


def without_draw(suspects: pd.DataFrame, draw: pd.DataFrame) -> pd.DataFrame:
    """The suspects without the random pairs of one draw; those of its stratum that stay are as probable as they were.

    What is left of n draws of N units without replacement is a draw of so many of the same N. Weighted draws keep their
    probabilities: these are of one draw, given those before it.
    """
    key = ["query_id", "candidate_id", "origin"]
    gone = pd.MultiIndex.from_frame(suspects[key].astype(str)).isin(pd.MultiIndex.from_frame(draw[key].astype(str)))
    result = suspects[~gone].reset_index(drop=True)
    uniform = (draw["origin"] == "random") & ~draw["stratum"].fillna("").str.startswith("weighted@")
    for stratum in draw.loc[uniform, "stratum"].unique():
        size = drawn_from(suspects[(suspects["origin"] == "random") & (suspects["stratum"] == stratum)])
        left = (result["origin"] == "random") & (result["stratum"] == stratum)
        result.loc[left, "probability"] = float(left.sum()) / size
    return result


def drawn_from(part: pd.DataFrame) -> int:
    """How many units one stratum's draws were made of: n / probability.

    >>> drawn_from(pd.DataFrame({"probability": [0.25, 0.25]}))
    8
    """
    chance = float(part["probability"].iloc[0])
    if not chance > 0:
        raise InputError(
            f"{len(part):,} random pairs have probability {chance:g}, with which nothing is drawn",
            where="suspects.parquet, column probability",
            hint="Import them with the probability they were drawn with, or draw again: eds suspects random.",
        )
    return round(len(part) / chance)


def _units(universe: Universe, pairs: pd.DataFrame) -> Integers:
    """The units of those pairs that are in the universe, ascending and distinct."""
    numbers = universe.numbers(pairs)
    return sort_unique(numbers[numbers >= 0])


def _check_disjoint(base: "pd.Series[str]", stratum: str) -> None:
    """Refuse a stratum that overlaps with one drawn from before: by definition, whatever this draw would hit."""
    overlapping = sorted({*base} - {*BESIDE.get(stratum, ())})
    if overlapping:
        raise InputError(
            f"pairs of stratum {', '.join(overlapping)} were drawn before, and it overlaps with this one",
            where=f"stratum {stratum}",
            hint="Strata that overlap cannot share a table: keep to all, or to outside, or to near and rest; weighted"
            " draws may follow any of these, and only weighted ones may follow them: eds suspects draw.",
        )


def _check_same(drawn: pd.DataFrame, stratum: str, size: int) -> None:
    """Refuse to continue a draw whose stratum has changed: its probabilities would be wrong."""
    before = drawn_from(drawn) if len(drawn) else size
    if before != size:
        raise InputError(
            f"the stratum had {before:,} pairs when it was drawn from, now it has {size:,}",
            where=f"stratum {stratum}",
            hint="The pool, the lists, the catalogue, or --min-rank, --max-rank or --universe has changed: give the"
            " same options, or keep that draw.",
        )
