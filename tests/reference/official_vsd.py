"""The published benchmark's evaluator, as sections 0, 4.1, 4.2 and 5 of the specification tell it. Slow, plain Python.

It starts from the raw files' content and from vectors by path, and knows nothing of projects and tables.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Vectors = Mapping[str, Sequence[float]]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Of exact products of the stored numbers; rounded to 12 decimals, so that parallel vectors tie."""
    dot = sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))
    lengths = [math.sqrt(sum((Fraction(x) ** 2 for x in side), Fraction(0))) for side in (a, b)]
    return round(float(dot) / (lengths[0] * lengths[1]), 12)


def official(
    metadata: Mapping[str, Any],
    annotations: Sequence[Mapping[str, Any]],
    vectors: Vectors,
    cuts: Sequence[int] = (5, 9),
    *,
    seeds: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    gallery_phases: Sequence[str] = (),
) -> dict[str, float]:
    """HR@k and MRR@k for every cut, micro ROC-AUC and PR-AUC, as the public evaluator prints them (not times 100)."""
    product = {image["path"]: str(image["id"]) for image in metadata["images"]}
    gallery = _gallery(metadata, manifest, gallery_phases)
    asked = seeds["seeds"] if seeds is not None else [entry["key"][0] for entry in annotations]
    queries = list(dict.fromkeys(asked))
    labels = {(entry["key"][0], entry["key"][1]): entry["value"] for entry in annotations}
    score = {
        (query, candidate): cosine(vectors[query], vectors[candidate]) for query in queries for candidate in gallery
    }
    lists = {query: ranking(query, gallery, score, product, max(cuts)) for query in queries}
    positives = [pair for pair, value in labels.items() if value == 1]
    n_queries = len({query for query, _ in positives})
    found: dict[str, float] = {}
    for k in cuts:
        places = [place for pair in positives if (place := _place(lists, pair)) is not None and place <= k]
        harmonic = math.fsum(1 / place for place in range(1, k + 1))
        found[f"HR@{k}"] = len(places) / (k * n_queries) if n_queries else math.nan
        found[f"MRR@{k}"] = math.fsum(1 / p for p in places) / (n_queries * harmonic) if n_queries else math.nan
    pos, neg = (
        [score[pair] for pair, value in labels.items() if value == wanted and pair in score and pair[0] != pair[1]]
        for wanted in (1, 0)
    )
    return {**found, "ROC-AUC": roc_auc(pos, neg), "PR-AUC": pr_auc(pos, neg)}


def ranking(
    query: str, gallery: Sequence[str], score: Mapping[tuple[str, str], float], product: Mapping[str, str], most: int
) -> list[str]:
    """Descending score, then ascending id; without the query and its product; the best image of each product."""
    left = [name for name in gallery if name != query and product[name] != product[query]]
    left.sort(key=lambda name: name)
    left.sort(key=lambda name: score[query, name], reverse=True)  # stable: ids stay ascending where scores tie
    kept: list[str] = []
    for name in left:
        if product[name] not in {product[other] for other in kept}:
            kept.append(name)
    return kept[:most]


def roc_auc(pos: Sequence[float], neg: Sequence[float]) -> float:
    """How often a positive scores above a negative; a tie counts one half."""
    if not pos or not neg:
        return math.nan
    won = sum(Fraction(1) if p > n else Fraction(1, 2) if p == n else Fraction(0) for p in pos for n in neg)
    return float(won / (len(pos) * len(neg)))


def pr_auc(pos: Sequence[float], neg: Sequence[float]) -> float:
    """Sum over distinct scores, descending, of the recall that is gained times the precision there."""
    if not pos or not neg:
        return math.nan
    area, recall = Fraction(0), Fraction(0)
    for threshold in sorted({*pos, *neg}, reverse=True):
        true, false = sum(p >= threshold for p in pos), sum(n >= threshold for n in neg)
        area += (Fraction(true, len(pos)) - recall) * Fraction(true, true + false)
        recall = Fraction(true, len(pos))
    return float(area)


def _gallery(
    metadata: Mapping[str, Any], manifest: Mapping[str, Any] | None, gallery_phases: Sequence[str]
) -> list[str]:
    images = list(metadata["images"])
    if manifest is not None and manifest["images"]:
        named = {image["path"] for image in manifest["images"]}
        images = [image for image in images if image["path"] in named]
    if gallery_phases:
        images = [image for image in images if image.get("phase") in gallery_phases]
    return list(dict.fromkeys(image["path"] for image in images))


def _place(lists: Mapping[str, Sequence[str]], pair: tuple[str, str]) -> int | None:
    """One-based; None where no list holds the pair."""
    query, candidate = pair
    ranked = lists.get(query, ())
    return list(ranked).index(candidate) + 1 if candidate in ranked else None
