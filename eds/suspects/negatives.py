"""Sampled negatives: pairs that every model ranks low, taken as negatives without being judged."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import decode, encode, in_sorted, sort_unique
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import whole
from eds.suspects.lists import read_lists
from eds.tables import SUSPECTS


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


def draw_negatives(
    images: pd.DataFrame,
    neighbors: pd.DataFrame,
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
    min_rank, max_rank = rule.min_rank, rule.max_rank
    deepest = int(neighbors["rank"].max()) + 1 if len(neighbors) else 0
    if deepest <= min_rank:
        raise InputError(
            f"the lists end at depth {deepest}, negatives begin at rank {min_rank}",
            where="table neighbors",
            hint=f"Mine deeper: eds neighbors mine -k {max_rank}; or give a smaller --min-rank.",
        )
    there = SUSPECTS.empty() if suspects is None else suspects[suspects["origin"] != "negative"]
    lists = read_lists(neighbors, max_rank)
    keys = lists.keys
    barred = [keys[lists.rank < min_rank]] if rule.exclude_top else []
    for known in (there[there["origin"] == "pool"], labelled):
        if known is not None:
            query, candidate = encode(known["query_id"], lists.queries), encode(known["candidate_id"], lists.candidates)
            barred.append((query * len(lists.candidates) + candidate)[(query >= 0) & (candidate >= 0)])
    eligible = sort_unique(keys[lists.rank >= min_rank])
    eligible = eligible[~in_sorted(sort_unique(*barred), eligible)]
    product = images.set_index("image_id")["product_id"]
    query, candidate = np.divmod(eligible, len(lists.candidates))
    own = [_products(product, names)[codes] for names, codes in ((lists.queries, query), (lists.candidates, candidate))]
    other = own[0] != own[1]
    query, candidate = query[other], candidate[other]
    names = decode(candidate, lists.candidates).tolist()
    ends = np.searchsorted(query, np.arange(len(lists.queries) + 1)).tolist()
    rows: list[tuple[str, str, float]] = []
    for number, name in enumerate(lists.queries.to_pylist()):
        mine = names[ends[number] : ends[number + 1]]
        rows += [(name, chosen, min(rule.n, len(mine)) / len(mine)) for chosen in _smallest(name, mine, rule)]
        if progress:
            progress(number + 1, len(lists.queries))
    pairs = pd.DataFrame(rows, columns=["query_id", "candidate_id", "probability"])
    new = behind(
        pairs,
        there,
        origin="negative",
        stratum=f"ranks {min_rank}..{max_rank - 1}",
        probability=pairs["probability"].to_numpy(float),
    )
    return append_rows(there, new)


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
