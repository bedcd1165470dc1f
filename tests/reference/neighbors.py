"""Lists and ranks by the definition: score every pair, sort everything, plain Python.

Scores are exact rational arithmetic rounded once (dot, hamming), or the stage's documented float64
formula spelled out (cosine), so that ties are ties.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

Image = Mapping[str, str]


def similarity(left: Sequence[float], right: Sequence[float], metric: str) -> float:
    if metric == "hamming":
        return -float(sum(a != b for a, b in zip(left, right, strict=True)))
    if metric == "dot":
        return float(_dot(left, right))
    cosine = float(_dot(left, right)) / (math.sqrt(_dot(left, left)) * math.sqrt(_dot(right, right)))
    return round(cosine, 12)  # parallel vectors tie


def full_order(
    query: Image,
    images: Sequence[Image],
    vectors: Mapping[str, Sequence[float]],
    metric: str,
    *,
    exclude_product: bool,
    one_per_product: bool,
    category: str,
) -> list[tuple[str, float]]:
    """Every candidate the rules allow, nearest first."""
    scored = []
    for image in images:
        same = image["category"] == query["category"]
        out = (
            image["role"] == "query"
            or image["image_id"] == query["image_id"]
            or (exclude_product and image["product_id"] == query["product_id"])
            or (category == "same" and not same)
            or (category == "other" and same)
        )
        if not out:
            score = similarity(vectors[query["image_id"]], vectors[image["image_id"]], metric)
            scored.append((-score, image["image_id"], image["product_id"]))
    seen: set[str] = set()
    order = []
    for minus, name, product in sorted(scored):
        if not (one_per_product and product in seen):
            order.append((name, -minus))
        seen.add(product)
    return order


def cut(order: list[tuple[str, float]], k: int, *, keep_ties: bool) -> list[tuple[str, float]]:
    """The first k, with all that tie with the k-th if asked."""
    if not keep_ties or len(order) <= k:
        return order[:k]
    return [entry for entry in order if entry[1] >= order[k - 1][1]]


def _dot(left: Sequence[float], right: Sequence[float]) -> Fraction:
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(left, right, strict=True)), Fraction(0))
