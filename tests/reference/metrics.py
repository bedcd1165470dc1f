"""Metrics by their definitions: loops over queries and places, dictionaries, no numpy. Slow."""

import math
from collections.abc import Mapping, Sequence

Scores = Sequence[tuple[str, str, float]]
Labels = Sequence[tuple[str, str, int]]


def roc_auc(pos: Sequence[float], neg: Sequence[float]) -> float:
    if not pos or not neg:
        return math.nan
    return sum((p > n) + (p == n) / 2 for p in pos for n in neg) / (len(pos) * len(neg))


def pr_auc(pos: Sequence[float], neg: Sequence[float]) -> float:
    if not pos:
        return math.nan
    area, before = 0.0, 0.0
    for threshold in sorted({*pos, *neg}, reverse=True):
        true = sum(p >= threshold for p in pos)
        recall = true / len(pos)
        area += (recall - before) * true / (true + sum(n >= threshold for n in neg))
        before = recall
    return area


def four_aucs(scores: Scores, labels: Labels) -> dict[str, float]:
    """Micro and macro ROC- and PR-AUC; labels without repeats."""
    known = {(query, candidate): score for query, candidate, score in scores}
    sides: dict[str, tuple[list[float], list[float]]] = {}
    for query, candidate, value in labels:
        if (query, candidate) in known:
            sides.setdefault(query, ([], []))[1 - value].append(known[query, candidate])
    pos, neg = ([score for side in sides.values() for score in side[number]] for number in (0, 1))
    both = [side for side in sides.values() if side[0] and side[1]]
    whole = bool(pos and neg)
    return {
        "micro_roc_auc": roc_auc(pos, neg) if whole else math.nan,
        "micro_pr_auc": pr_auc(pos, neg) if whole else math.nan,
        "macro_roc_auc": mean([roc_auc(*side) for side in both]),
        "macro_pr_auc": mean([pr_auc(*side) for side in both]),
    }


def prevalence(scores: Scores, labels: Labels, metric: str) -> float:
    """The share of positives among the pairs that the metric is computed on."""
    known = {(query, candidate) for query, candidate, _ in scores}
    values: dict[str, list[int]] = {}
    for query, candidate, value in labels:
        if (query, candidate) in known:
            values.setdefault(query, []).append(value)
    if metric.startswith("micro"):
        return mean([value for told in values.values() for value in told])
    return mean([mean(told) for told in values.values() if 0 < sum(told) < len(told)])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def official_loops(rankings: Mapping[str, Sequence[str]], labels: Labels, k: int) -> tuple[float, float]:
    """HR@k and MRR@k as the public evaluator's text of section 4.2 says: counts over positive pairs."""
    positives = [(query, candidate) for query, candidate, value in labels if value]
    n = len({query for query, _ in positives})
    harmonic = sum(1 / place for place in range(1, k + 1))
    places = [
        list(rankings[query]).index(candidate) + 1
        for query, candidate in positives
        if candidate in rankings.get(query, ())
    ]
    inside = [place for place in places if place <= k]
    if not n:
        return math.nan, math.nan
    return len(inside) / (k * n), sum(1 / place for place in inside) / (n * harmonic)


def standard(ranking: Sequence[str], positives: set[str], k: int) -> dict[str, float]:
    """One query's standard numbers at k; at least one positive."""
    relevant = [candidate in positives for candidate in ranking[:k]]
    found = [place for place, there in enumerate(relevant, start=1) if there]
    precisions = [sum(relevant[:place]) / place for place in found]
    gain = sum(1 / math.log2(place + 1) for place in found)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(positives)) + 1))
    return {
        "Success": float(bool(found)),
        "RR": 1 / found[0] if found else 0.0,
        "P": len(found) / k,
        "Recall": len(found) / len(positives),
        "nDCG": gain / ideal,
        "relevant": sum(precisions) / len(positives),
        "hits": sum(precisions) / len(found) if found else 0.0,
        "capped": sum(precisions) / min(k, len(positives)),
    }


def bpref(ranking: Sequence[str], judged: Mapping[str, int]) -> float:
    """By its definition; at least one positive."""
    positives, negatives = (sum(value == which for value in judged.values()) for which in (1, 0))
    total = 0.0
    for place, candidate in enumerate(ranking):
        if judged.get(candidate) == 1:
            above = sum(judged.get(other) == 0 for other in ranking[:place])
            total += 1 - min(above, positives) / min(positives, negatives) if above else 1.0
    return total / positives


def rbp_interval(ranking: Sequence[str], judged: Mapping[str, int], p: float) -> tuple[float, float]:
    """Value if every unlabelled place is not similar, and if every one is, the list's end included."""
    low = sum((1 - p) * p**place for place, candidate in enumerate(ranking) if judged.get(candidate) == 1)
    high = sum((1 - p) * p**place for place, candidate in enumerate(ranking) if judged.get(candidate, 1) == 1)
    return low, high + p ** len(ranking)
