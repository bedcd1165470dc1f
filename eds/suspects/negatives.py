"""Sampled negatives: pairs that every model ranks low, taken as negatives without being judged."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds import tables
from eds.errors import InputError
from eds.pairs import Integers, decode, encode, in_sorted, pair_keys, sort_unique, unique_ids
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import whole
from eds.suspects.lists import read_lists
from eds.tables import SUSPECTS

BLOCK = 256  # queries whose candidates are sampled at a time


@dataclass(frozen=True)
class NegativeRule:
    """Which pairs are sampled: n of each query at ranks min_rank to max_rank - 1 of some model."""

    min_rank: int = 100
    max_rank: int = 500
    n: int = 5
    seed: int = 0
    exclude_top: bool = True  # leave out candidates that some model ranks before min_rank

    def check(self) -> None:
        """Refuse what is not a window of ranks."""
        whole(self.n, "n", 0)
        if whole(self.min_rank, "min_rank", 0) >= whole(self.max_rank, "max_rank", 1):
            raise InputError(
                f"no ranks from {self.min_rank} to below {self.max_rank}", hint="Give min_rank below max_rank."
            )


USUAL = NegativeRule()


def sampled_negatives(
    query: str,
    rankings: Mapping[str, Sequence[str]],
    rule: NegativeRule = USUAL,
    labelled: Collection[str] = (),
    item_of: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Negatives of one query: `eligible` ids, and the `sample` of at most n of them.

    Formula: eligible = union over models of {c: min_rank <= R_m(q, c) < max_rank}, without
    {c: R_m(q, c) < min_rank for some m} if exclude_top, labelled candidates, the query, and images of its product;
    sample = the n eligible ids of the smallest hex SHA-256 of "seed U+001F query U+001F candidate" in UTF-8.
    Source: specification 5.3.
    Conventions: ranks count from 0; fewer than n eligible: all of them; the sample is nested in n.
    Example, run by doctest:
    >>> sampled_negatives("q", {"m": ["a", "b", "c"]}, NegativeRule(1, 3), labelled=["b"])
    {'eligible': ['c'], 'sample': ['c']}
    """
    rule.check()
    items = item_of or {}
    own = items.get(query, query)
    window = {candidate for ranked in rankings.values() for candidate in ranked[rule.min_rank : rule.max_rank]}
    top: set[str] = set()
    if rule.exclude_top:
        top = {candidate for ranked in rankings.values() for candidate in ranked[: rule.min_rank]}
    eligible = sorted(
        candidate for candidate in window - top - set(labelled) - {query} if items.get(candidate, candidate) != own
    )
    return {"eligible": eligible, "sample": _smallest(query, eligible, rule)}


@dataclass(frozen=True, eq=False)
class WindowPairs:
    """The pairs that lists rank in the window of a rule, and those that they rank before it, by their keys."""

    queries: pa.Array  # ids, ascending
    candidates: pa.Array
    window: Integers  # distinct keys query * len(candidates) + candidate, ascending
    top: Integers
    deepest: int  # length of the longest list

    @classmethod
    def from_frame(cls, neighbors: pd.DataFrame, rule: NegativeRule) -> "WindowPairs":
        """The window in lists of a frame (columns model, query_id, candidate_id, rank), which are checked."""
        deepest = int(neighbors["rank"].max()) + 1 if len(neighbors) else 0
        lists = read_lists(neighbors, rule.max_rank)
        keys, inside = lists.keys, lists.rank >= rule.min_rank
        return cls(lists.queries, lists.candidates, sort_unique(keys[inside]), sort_unique(keys[~inside]), deepest)

    @classmethod
    def from_files(cls, files: Sequence[Path], images: pd.DataFrame, rule: NegativeRule) -> "WindowPairs":
        """The window in the models' tables neighbors, read in parts: 8 bytes a row are kept."""
        ids, deepest = unique_ids(images["image_id"]), 0
        inside: list[Integers] = []
        before: list[Integers] = []
        for file in files:
            for part in tables.read_parts(file, tables.NEIGHBORS, ["query_id", "candidate_id", "rank"]):
                rank = part["rank"].to_numpy(np.int64)
                deepest = max(deepest, int(rank.max(initial=-1)) + 1)
                part, rank = part[rank < rule.max_rank], rank[rank < rule.max_rank]
                keys = pair_keys(part, ids, ids)
                if (keys < 0).any():
                    hint = "Mine them again: eds neighbors mine."
                    raise InputError("lists name images that the catalogue lacks", where=str(file), hint=hint)
                inside.append(keys[rank >= rule.min_rank])
                before.append(keys[rank < rule.min_rank])
        return cls(ids, ids, _merged(inside), _merged(before), deepest)

    def keys_of(self, pairs: pd.DataFrame) -> Integers:
        """The keys of pairs (query_id, candidate_id) that the lists can name."""
        query, candidate = encode(pairs["query_id"], self.queries), encode(pairs["candidate_id"], self.candidates)
        return (query * len(self.candidates) + candidate)[(query >= 0) & (candidate >= 0)]


def draw_negatives(
    images: pd.DataFrame,
    neighbors: pd.DataFrame | WindowPairs,
    suspects: pd.DataFrame | None = None,
    labelled: pd.DataFrame | None = None,
    rule: NegativeRule = USUAL,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """The suspects with n sampled negatives of every query (origin `negative`), by the rule of sampled_negatives.

    Suspects of the pool and pairs of `labelled` are left out. Probability: taken / eligible of the query.
    Negatives that are there already are replaced, so that the draw is always the whole sample.
    """
    rule.check()
    lists = neighbors if isinstance(neighbors, WindowPairs) else WindowPairs.from_frame(neighbors, rule)
    if lists.deepest <= rule.min_rank:
        raise InputError(
            f"the lists end at depth {lists.deepest}, negatives begin at rank {rule.min_rank}",
            where="table neighbors",
            hint=f"Mine deeper: eds neighbors mine -k {rule.max_rank}; or give a smaller --min-rank.",
        )
    there = SUSPECTS.empty() if suspects is None else suspects[suspects["origin"] != "negative"]
    known = [lists.keys_of(pairs) for pairs in (there[there["origin"] == "pool"], labelled) if pairs is not None]
    barred = sort_unique(*known, *([lists.top] if rule.exclude_top else []))
    product = images.set_index("image_id")["product_id"]
    own, theirs = _products(product, lists.queries), _products(product, lists.candidates)
    width, total = len(lists.candidates), len(lists.queries)
    rows: list[tuple[str, str, float]] = []
    for first in range(0, total, BLOCK):  # whole queries, so that ids are texts for a few lists at a time
        last = min(first + BLOCK, total)
        low, high = np.searchsorted(lists.window, [first * width, last * width])
        keys = lists.window[low:high]
        query, candidate = np.divmod(keys[~in_sorted(barred, keys)], width)
        other = own[query] != theirs[candidate]
        query, candidate = query[other], candidate[other]
        names = decode(candidate, lists.candidates).tolist()
        ends = np.searchsorted(query, np.arange(first, last + 1)).tolist()
        for number, name in enumerate(lists.queries.slice(first, last - first).to_pylist()):
            mine = names[ends[number] : ends[number + 1]]
            rows += [(name, chosen, min(rule.n, len(mine)) / len(mine)) for chosen in _smallest(name, mine, rule)]
        if progress:
            progress(last, total)
    pairs = pd.DataFrame(rows, columns=["query_id", "candidate_id", "probability"])
    new = behind(
        pairs,
        there,
        origin="negative",
        stratum=f"ranks {rule.min_rank}..{rule.max_rank - 1}",
        probability=pairs["probability"].to_numpy(float),
    )
    return append_rows(there, new)


def _merged(parts: list[Integers]) -> Integers:
    """The distinct keys of all parts, ascending; the parts are given up, as they may fill the memory."""
    keys = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    parts.clear()
    keys.sort()
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]


def _smallest(query: str, candidates: Sequence[str], rule: NegativeRule) -> list[str]:
    head = hashlib.sha256(f"{rule.seed}\x1f{query}\x1f".encode())

    def hashed(candidate: str) -> bytes:
        whole_text = head.copy()
        whole_text.update(candidate.encode())
        return whole_text.digest()  # bytes order as their hex does

    return sorted(candidates, key=hashed)[: rule.n]


def _products(product: "pd.Series[str]", names: Any) -> Any:
    """The product of every named image; the image itself where it is in no catalogue."""
    ids = names.to_pandas()
    result = product.reindex(ids)
    return np.where(result.isna().to_numpy(), ids.to_numpy(object), result.to_numpy(object))
