"""What numbers rest on: judged pairs that a model gives no score, queries behind a number and those passed over."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eds.metrics import Measure, Result
from eds.metrics.evidence import with_negatives
from eds.metrics.pair_scores import align_scores
from eds.pairs import Flags, LabelledPairs, Reals
from eds.reports.document import Sentence, count, say
from eds.reports.material import Material

SKIPPED = " skipped"  # how counts of a measure name queries that it passes over
OF_PAIRS = ("PairMRR", "PairRecall")  # whose n counts similar pairs
WITHOUT = "not known"  # the verdict on an AUC where some model lacks scores


def scored(material: Material, side: str = "annotated") -> tuple[LabelledPairs, dict[str, Reals]]:
    """The pairs behind AUCs on one kind of negatives, and every model's scores of them; nothing where none are told."""

    def compute() -> tuple[LabelledPairs, dict[str, Reals]]:
        labelled = LabelledPairs.from_frame(material.labels)
        if side == "sampled":
            labelled, _ = with_negatives(labelled, material.need("negatives"))
        found = align_scores(labelled, material.need("scores"))
        return labelled, {name: score for name, score in found.items() if np.isfinite(score).any()}

    found: tuple[LabelledPairs, dict[str, Reals]] = material.once(f"scored {side}", compute)
    return found


def by_some(scores: Mapping[str, Reals]) -> Flags:
    """(pairs,) bool: which pairs some model scores; those that none can score stand behind no model's AUC."""
    return np.asarray(np.any([np.isfinite(score) for score in scores.values()], axis=0), np.bool_)


def unscored(material: Material, side: str = "annotated") -> dict[str, int]:
    """By model: the pairs that other models score and it does not, which part its AUCs from theirs."""
    there = (material.scores, material.truth, material.negatives if side == "sampled" else material.truth)
    if any(table is None for table in there):
        return {}
    _, scores = scored(material, side)
    if not scores:
        return {}
    some = by_some(scores)
    lacking = {name: int((some & ~np.isfinite(score)).sum()) for name, score in scores.items()}
    return {name: n for name, n in lacking.items() if n}


def warning(material: Material, side: str = "annotated") -> tuple[Sentence, ...]:
    """That AUCs are over different pairs, where that is so; nothing else."""
    lacking = unscored(material, side)
    if not lacking:
        return ()
    named = ", ".join(f"{name} {n:,}" for name, n in lacking.items())
    pairs = "judged pairs" if side == "annotated" else "similar and drawn pairs"
    return (
        say(f"AUCs cannot be compared here: of {{pairs}} {pairs} some are scored by other models and not by these"
            " ({named}): the model's list does not hold them, or it has no vector of an image (--allow-missing). Each"
            " model is measured on pairs of its own, so that the order of the models by AUC says nothing. Give vectors"
            " of every image (eds embeddings compute, or import), or lists that hold every judged pair.", "warn",
            pairs=count(len(scored(material, side)[0].value)), named=named),
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
    unit = _unit(told[0].measure)
    skipped: dict[str, list[int]] = {}
    for result in told:
        for name, size in result.values.counts.items() if result.values else ():
            if name.endswith(SKIPPED):
                skipped.setdefault(name.removeprefix("queries ").removesuffix(SKIPPED), []).append(size)
    passed = [f"{span(sizes)} queries {why} passed over" for why, sizes in skipped.items() if max(sizes)]
    n = span(result.values.n for result in told if result.values)
    return f"n = {n} {unit}" + (f" ({', '.join(passed)})" if passed else "")


def _unit(measure: Measure) -> str:
    """What a measure's n counts."""
    if measure.name in OF_PAIRS or measure.parameters.get("average") == "micro":
        return "pairs"
    return "candidates" if measure.name == "CodeUsage" else "queries"


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
