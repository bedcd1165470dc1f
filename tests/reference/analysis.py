"""Analyses by their definitions: enumeration and loops. Slow."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from tests.reference.metrics import Labels, Scores, four_aucs

Lists = Mapping[str, Mapping[str, Iterable[str]]]


def leave_one_out(
    suspects: Lists, labels: Labels, scores: Mapping[str, Scores], metric: str, mode: str
) -> dict[str, dict[str, float]]:
    """By removed generator and evaluated model: the metric on the labels that are kept."""
    proposed = {model: {(q, c) for q, ids in lists.items() for c in ids} for model, lists in suspects.items()}
    found = {}
    for removed in suspects:
        others = set().union(*(pairs for model, pairs in proposed.items() if model != removed))
        gone = proposed[removed] - others if mode == "unique" else proposed[removed]
        kept = [label for label in labels if (label[0], label[1]) not in gone]
        found[removed] = {model: four_aucs(told, kept)[metric] for model, told in scores.items()}
    return found


def micro_resample(scores: Scores, labels: Labels, drawn: Sequence[str]) -> dict[str, float]:
    """The AUCs of the drawn queries' pairs: a query drawn twice stands there twice, under two names."""
    renamed = [(f"{place} {query}", query) for place, query in enumerate(drawn)]
    return four_aucs(
        [(name, candidate, score) for name, query in renamed for q, candidate, score in scores if q == query],
        [(name, candidate, value) for name, query in renamed for q, candidate, value in labels if q == query],
    )


def sign_flip(differences: Sequence[float]) -> float:
    observed = abs(math.fsum(differences))
    sums = [
        abs(math.fsum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(value >= observed - 1e-9 for value in sums) / len(sums)


def tau_ap(reference: Sequence[float], estimated: Sequence[float]) -> float:
    order = sorted(range(len(estimated)), key=lambda item: -estimated[item])
    shares = [
        sum(reference[above] > reference[item] for above in order[:place]) / place
        for place, item in enumerate(order)
        if place
    ]
    return 2 * sum(shares) / len(shares) - 1


def reusability(suspects: Lists, labels: Labels, rankings: Lists, k: int) -> dict[str, tuple[float, float]]:
    """By generator: official HR@k with all labels, and without those of the pairs that only it proposed."""
    from tests.reference.metrics import official_loops

    proposed = {model: {(q, c) for q, ids in lists.items() for c in ids} for model, lists in suspects.items()}
    found = {}
    for model, pairs in proposed.items():
        others = set().union(*(other for name, other in proposed.items() if name != model))
        kept = [label for label in labels if (label[0], label[1]) not in pairs - others]
        mine = {query: list(ids) for query, ids in rankings[model].items()}
        found[model] = official_loops(mine, labels, k)[0], official_loops(mine, kept, k)[0]
    return found
