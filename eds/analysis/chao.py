"""Positives that no model found, judged by how often the models found the same ones; free of extra labels.

Models err alike, so both estimates are too small: lower bounds on the number of positives.
"""

from collections.abc import Sequence

from eds.errors import InputError


def unseen_positives(found_by_exactly: Sequence[int], models: int) -> dict[str, float]:
    """A lower bound on the number of positives, and the share of them that was found, at most.

    Formula: Chao2, bias-corrected: S + ((t-1)/t) f1 (f1 - 1) / (2 (f2 + 1)); f_j positives that exactly j of t models
    propose, S their sum.
    Source: specification 13.9; Chao 1987.
    Conventions: f_j beyond the end are 0; no positive at all: the recall is NaN.
    Example, run by doctest:
    >>> round(unseen_positives([300, 90, 40, 12, 5, 2], 6)["chao2_total"], 6)
    859.714286
    """
    if any(count < 0 for count in found_by_exactly) or models < 1 or any(found_by_exactly[models:]):
        raise InputError(
            "found_by_exactly are not counts of 1..models", hint="Give one count for each number of models."
        )
    once, twice = [*found_by_exactly, 0, 0][:2]
    observed = sum(found_by_exactly)
    total = observed + (models - 1) / models * once * (once - 1) / (2 * (twice + 1))
    return {"observed": observed, "chao2_total": total, "chao2_recall": observed / total if total else float("nan")}


def chapman_estimate(n1: int, n2: int, both: int) -> float:
    """The number of positives, from what two models found and what both found.

    Formula: (n1 + 1)(n2 + 1) / (both + 1) - 1.
    Source: specification 13.9; Chapman 1951.
    Conventions: assumes that the two find independently of each other; they do not quite: a lower bound.
    Example, run by doctest:
    >>> round(chapman_estimate(120, 90, 30), 6)
    354.193548
    """
    if not 0 <= both <= min(n1, n2):
        raise InputError(f"both is {both}, of {n1} and {n2}", hint="Give what both found: at most what each found.")
    return (n1 + 1) * (n2 + 1) / (both + 1) - 1
