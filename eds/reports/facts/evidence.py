"""What numbers rest on: judged pairs that a model gives no score, queries behind a number and those passed over."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eds.metrics import Result
from eds.metrics.labelled import read_labels, scores_of
from eds.reports.document import Sentence, count, say
from eds.reports.material import Material

SKIPPED = " skipped"  # how counts of a measure name queries that it passes over
WITHOUT = "not known"  # the verdict on an AUC where some model lacks scores


def unscored(material: Material) -> dict[str, int]:
    """By model: the judged pairs that it gives no score; only models that score some pairs, and lack others."""

    def compute() -> dict[str, int]:
        if material.scores is None or material.truth is None:
            return {}
        scores = scores_of(read_labels(material.labels), material.scores)
        lacking = {name: int((~np.isfinite(score)).sum()) for name, score in scores.items()}
        return {name: n for name, n in lacking.items() if 0 < n < len(scores[name])}

    found: dict[str, int] = material.once("unscored", compute)
    return found


def warning(material: Material) -> tuple[Sentence, ...]:
    """That AUCs are over different pairs, where that is so; nothing else."""
    lacking = unscored(material)
    if not lacking:
        return ()
    named = ", ".join(f"{name} {n:,}" for name, n in lacking.items())
    return (
        say("AUCs cannot be compared here: of {pairs} judged pairs some have no score, for the model's list does not"
            " hold them ({named}). Each model is measured on pairs of its own, so that the order of the models by AUC"
            " says nothing. Give vectors (eds embeddings import), or lists that hold every judged pair.", "warn",
            pairs=count(len(material.labels)), named=named),
    )  # fmt: skip


def outsiders(material: Material, models: Iterable[str]) -> list[str]:
    """Of these models those that had no part in the pool; none where nobody knows who made it."""
    makers = set(material.makers)
    return [name for name in models if name not in makers] if makers else []


def behind(results: Sequence[Result] | None, measure: str) -> str:
    """How many queries or pairs stand behind a measure, and which queries it passes over; empty: not measured."""
    told = [result for result in results or () if str(result.measure) == measure and result.values is not None]
    if not told:
        return ""
    unit = "pairs" if told[0].measure.parameters.get("average") == "micro" else "queries"
    skipped: dict[str, list[int]] = {}
    for result in told:
        for name, size in result.values.counts.items() if result.values else ():
            if name.endswith(SKIPPED):
                skipped.setdefault(name.removeprefix("queries ").removesuffix(SKIPPED), []).append(size)
    passed = [f"{span(sizes)} queries {why} passed over" for why, sizes in skipped.items() if max(sizes)]
    n = span(result.values.n for result in told if result.values)
    return f"n = {n} {unit}" + (f" ({', '.join(passed)})" if passed else "")


def behind_all(results: Sequence[Result] | None, names: Mapping[str, str]) -> str:
    """The same of several measures, by what they are called in words: those with the same n told together."""
    found: dict[str, list[str]] = {}
    for measure, called in names.items():
        if told := behind(results, measure):
            found.setdefault(told, []).append(called)
    return "; ".join(f"{', '.join(called)}: {told}" for told, called in found.items())


def span(sizes: Iterable[int]) -> str:
    """Sizes that are all alike as one, others from the least to the largest.

    >>> span([1000, 1000]), span([3, 12])
    ('1,000', '3 to 12')
    """
    told = sorted(set(sizes))
    return f"{told[0]:,}" if len(told) == 1 else f"{told[0]:,} to {told[-1]:,}"
