"""Pooling, overlap, growth and random pairs in plain Python, pair by pair: slow, and plainly right."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

Row = tuple[str, str, str, int]  # model, query, candidate, rank
Pair = tuple[str, str]


def pooled(rows: Iterable[Row], k: int) -> dict[Pair, str]:
    """Each pair within k of some list, with its sources as text."""
    found: dict[Pair, dict[str, int]] = {}
    for model, query, candidate, rank in rows:
        if rank < k:
            found.setdefault((query, candidate), {})[model] = rank
    return {pair: ";".join(f"{model}:{by[model]}" for model in sorted(by)) for pair, by in found.items()}


def merged(rows: Iterable[Row], k: int) -> set[Pair]:
    """The pool with one of two symmetric pairs: the better best rank, then the smaller query id."""
    best: dict[Pair, int] = {}
    for _, query, candidate, rank in rows:
        if rank < k:
            best[query, candidate] = min(rank, best.get((query, candidate), rank))
    return {(q, c) for (q, c), rank in best.items() if (c, q) not in best or (rank, q) < (best[c, q], c)}


def overlapped(rows: Iterable[Row]) -> dict[str, Any]:
    """The quantities of section 1.5 from sets."""
    lists: dict[str, dict[str, set[str]]] = {}
    for model, query, candidate, _ in rows:
        lists.setdefault(model, {}).setdefault(query, set()).add(candidate)
    models = sorted(lists)
    queries = {query for by in lists.values() for query in by}
    pairs = {model: {(q, c) for q, cs in lists[model].items() for c in cs} for model in models}
    share = {(m, m): 1.0 for m in models}
    pooled_jaccard, by_query = dict(share), dict(share)
    for a, b in combinations(models, 2):
        of = [(lists[a].get(q, set()), lists[b].get(q, set())) for q in queries]
        share[a, b] = share[b, a] = sum(len(x & y) for x, y in of) / sum(min(len(x), len(y)) for x, y in of)
        pooled_jaccard[a, b] = pooled_jaccard[b, a] = len(pairs[a] & pairs[b]) / len(pairs[a] | pairs[b])
        each = [len(x & y) / len(x | y) for x, y in of if x | y]
        by_query[a, b] = by_query[b, a] = sum(each) / len(each)
    times = {pair: sum(pair in pairs[m] for m in models) for pair in set().union(*pairs.values())}

    def matrix(values: Mapping[Pair, float]) -> list[list[float]]:
        return [[values[a, b] for b in models] for a in models]

    raw = sum(map(len, pairs.values()))
    upper = [share[a, b] for a, b in combinations(models, 2)]
    return {
        "models": models,
        "overlap": matrix(share),
        "jaccard_pooled": matrix(pooled_jaccard),
        "jaccard_query_mean": matrix(by_query),
        "mean_pairwise_overlap": sum(upper) / len(upper) if upper else None,
        "raw": raw,
        "unique": len(times),
        "duplication_rate": 1 - len(times) / raw,
        "mean_candidates_per_query": len(times) / len(queries),
        "proposed_by_exactly": [sum(t == j for t in times.values()) for j in range(1, len(models) + 1)],
        "unique_by_model": {m: sum(times[p] == 1 for p in pairs[m]) for m in models},
    }


def grown(rows: Iterable[Row], k_max: int) -> list[int]:
    """Pool sizes at k = 1..k_max."""
    rows = list(rows)
    return [len(pooled(rows, k)) for k in range(1, k_max + 1)]


def all_pairs(queries: Iterable[str], candidates: Iterable[str]) -> list[Pair]:
    """A, by query and then candidate."""
    ordered = sorted(candidates)
    return [(query, candidate) for query in sorted(queries) for candidate in ordered if query != candidate]
