"""Hashing metrics as their definitions read: every order that ties allow, in fractions; balls item by item."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product


def orders(groups: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Every order of the items in which no item of a later group precedes one of an earlier."""
    for parts in product(*(list(permutations(group)) for group in groups)):
        yield [rel for part in parts for rel in part]


def average_precision(rel: Sequence[int], k: int, denominator: str) -> Fraction:
    found, total = 0, Fraction(0)
    for place, value in enumerate(rel[:k], 1):
        if value > 0:
            found += 1
            total += Fraction(found, place)
    relevant = sum(value > 0 for value in rel)
    end = {"total": relevant, "retrieved": found, "capped": min(relevant, k)}[denominator]
    return total / end if end else Fraction(0)


def gain(rel: Sequence[int], k: int) -> float:
    return math.fsum((2**value - 1) / math.log2(place + 1) for place, value in enumerate(rel[:k], 1))


def expected(groups: Sequence[Sequence[int]], k: int | None) -> dict[str, float]:
    """Every tie-aware number of one list, by enumeration."""
    rankings = list(orders(groups))
    length = len(rankings[0])
    cut = length if k is None else k
    found = {}
    for denominator in ("total", "retrieved", "capped"):
        values = [average_precision(rel, cut, denominator) for rel in rankings]
        found[f"ap_{denominator}"] = float(sum(values) / len(values))
        if denominator == "total":
            found["ap_best"], found["ap_worst"] = float(max(values)), float(min(values))
    found["dcg"] = math.fsum(gain(rel, cut) for rel in rankings) / len(rankings)
    ideal = gain(sorted(rankings[0], reverse=True), cut)
    found["ndcg"] = found["dcg"] / ideal if ideal else 0.0
    hits = sum(Fraction(sum(value > 0 for value in rel[:cut]), cut) for rel in rankings if cut)
    found["precision"] = float(hits / len(rankings)) if cut else 0.0
    return found


def lgap(query: Sequence[int], codes: Sequence[Sequence[int]], relevant: Sequence[int], r: int) -> Fraction:
    total = Fraction(0)
    for t in range(r + 1):
        ball = [i for i, code in enumerate(codes) if sum(a != b for a, b in zip(code, query, strict=True)) <= t]
        if not ball:
            continue
        most = max(sum(tuple(codes[i]) == tuple(codes[j]) for j in ball) for i in ball)
        volume = sum(math.comb(len(query), j) for j in range(t + 1))
        total += Fraction(sum(relevant[i] for i in ball), len(ball)) * Fraction(len(ball), most * volume)
    return total / (r + 1)
