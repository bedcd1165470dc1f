"""The pool of plain lists, in the shape the specification's vectors have; for small inputs and tests."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from eds.suspects.lists import COLUMNS, lists_frame
from eds.suspects.pool import pool
from eds.suspects.sources import sources_frame


def suspect_pool(
    lists: Mapping[str, Mapping[str, Sequence[str]]], queries: Collection[str], gallery: Collection[str], k: int
) -> dict[str, Any]:
    """Per-model lists, their union sorted by ids, who ranked each pair where, and the sizes.

    Formula: S_k = union over m of {(q, c): R_m(q, c) < k}; size_upper_bound = |M| sum over q of min(k, |D_-q|).
    Source: specification 1.2.
    Conventions: D_-q is the gallery without the query image itself; ranks count from 0.
    Example, run by doctest:
    >>> suspect_pool({"m": {"q": ["b", "a"]}}, ["q"], ["a", "b", "c"], k=2)["pool"]
    [['q', 'a'], ['q', 'b']]
    """
    frame = lists_frame(lists)
    pairs = pool(frame, k).sort_values(["query_id", "candidate_id"], ignore_index=True)
    by_pair = sources_frame(pairs).groupby(["query_id", "candidate_id"])[["model", "rank"]]
    cut = frame[frame["rank"] < k]
    members = set(gallery)
    return {
        "per_model": {name: cut.loc[cut["model"] == name, COLUMNS[1:]].to_numpy().tolist() for name in lists},
        "pool": pairs[["query_id", "candidate_id"]].to_numpy().tolist(),
        "size": len(pairs),
        "size_upper_bound": len(lists) * sum(min(k, len(members) - (query in members)) for query in queries),
        "provenance": [[*pair, proposed.to_numpy().tolist()] for pair, proposed in by_pair],
    }
