"""What numbers rest on: labelled pairs that a model does not score, queries behind a number, queries skipped."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eds.analysis.comparison_words import trained_words
from eds.metrics import Measure, Result
from eds.metrics.inputs import with_negatives
from eds.metrics.pair_scores import align_scores
from eds.pairs import Flags, LabelledPairs, Reals
from eds.reports.document import Sentence, count, warn
from eds.reports.inputs import ReportInputs

SKIPPED = " skipped"  # the end of the name under which a measure counts queries that it skips
OF_PAIRS = ("PairMRR", "PairRecall")  # whose n counts similar pairs
UNKNOWN = "unknown"  # the verdict on an AUC where a model lacks scores


def scored_pairs(inputs: ReportInputs, side: str = "annotated") -> tuple[LabelledPairs, dict[str, Reals]]:
    """The pairs behind AUCs on one kind of negatives, and the scores of every model that scores any of them."""

    def compute() -> tuple[LabelledPairs, dict[str, Reals]]:
        labelled = LabelledPairs.from_frame(inputs.labels)
        if side == "sampled":
            labelled, _ = with_negatives(labelled, inputs.require("negatives"))
        scores = align_scores(labelled, inputs.require("scores"))
        return labelled, {name: score for name, score in scores.items() if np.isfinite(score).any()}

    pairs: tuple[LabelledPairs, dict[str, Reals]] = inputs.cached(f"scored {side}", compute)
    return pairs


def scored_by_any(scores: Mapping[str, Reals]) -> Flags:
    """(pairs,) bool: whether any model scores the pair; the others are part of no model's AUC."""
    return np.asarray(np.any([np.isfinite(score) for score in scores.values()], axis=0), np.bool_)


def unscored(inputs: ReportInputs, side: str = "annotated") -> dict[str, int]:
    """By model: the number of pairs that other models score and it does not."""
    needed = (inputs.scores, inputs.truth, inputs.negatives if side == "sampled" else inputs.truth)
    if any(table is None for table in needed):
        return {}
    _, scores = scored_pairs(inputs, side)
    if not scores:
        return {}
    scored = scored_by_any(scores)
    missing = {name: int((scored & ~np.isfinite(score)).sum()) for name, score in scores.items()}
    return {name: n for name, n in missing.items() if n}


def warning(inputs: ReportInputs, side: str = "annotated") -> tuple[Sentence, ...]:
    """A warning where models are measured on different pairs; otherwise nothing."""
    missing = unscored(inputs, side)
    if not missing:
        return ()
    names = ", ".join(f"{name} {n:,}" for name, n in missing.items())
    pairs = "judged pairs" if side == "annotated" else "similar and sampled pairs"
    return (
        warn(
            f"AUCs cannot be compared here: of {{pairs}} {pairs}, some are scored by other models but not by these"
            " ({names}), because the model's list does not contain them or it has no vector of an image"
            " (--allow-missing). Each model is measured on its own pairs, so the order of the models by AUC means"
            " nothing. Provide vectors of every image (eds embeddings compute, or import), or lists that contain every"
            " judged pair.",
            pairs=count(len(scored_pairs(inputs, side)[0].value)),
            names=names,
        ),
    )


def role(inputs: ReportInputs, model: str) -> str:
    """Whether the model helped to build the pool, and whether it was trained on data of this project."""
    pool_models = inputs.pool_models
    new = model in inputs.newcomers if inputs.newcomers is not None else model not in pool_models
    part = ("new model" if new else "pool model") if pool_models else UNKNOWN
    seen = inputs.trained.get(model, ())
    return f"{part}, {trained_words(seen)}" if seen else part


def sample_size(results: Sequence[Result] | None, measure: str) -> str:
    """How many queries or pairs are behind a measure, and how many it skips; empty where it was not measured."""
    measured = [result for result in results or () if str(result.measure) == measure and result.values is not None]
    if not measured:
        return ""
    skipped: dict[str, list[int]] = {}
    for result in measured:
        for name, size in result.values.counts.items() if result.values else ():
            if name.endswith(SKIPPED):
                skipped.setdefault(name.removeprefix("queries ").removesuffix(SKIPPED), []).append(size)
    reasons = [
        f"{span(sizes)} {'query' if max(sizes) == 1 else 'queries'} {reason} skipped"
        for reason, sizes in skipped.items()
        if max(sizes)
    ]
    n = span(result.values.n for result in measured if result.values)
    return f"n = {n} {_unit(measured[0].measure)}" + (f" ({', '.join(reasons)})" if reasons else "")


def _unit(measure: Measure) -> str:
    """What a measure's n counts."""
    if measure.name in OF_PAIRS or measure.parameters.get("average") == "micro":
        return "pairs"
    return "candidates" if measure.name == "CodeUsage" else "queries"


def sample_sizes(results: Sequence[Result] | None, labels: Mapping[str, str]) -> str:
    """The sample sizes of several measures, by their labels; measures with the same size are listed together."""
    groups: dict[str, list[str]] = {}
    for measure, label in labels.items():
        if size := sample_size(results, measure):
            groups.setdefault(size, []).append(label)
    return "; ".join(f"{', '.join(names)}: {size}" for size, names in groups.items())


def span(sizes: Iterable[int]) -> str:
    """Equal sizes as one number, others from the smallest to the largest.

    >>> span([1000, 1000]), span([3, 12])
    ('1,000', '3 to 12')
    """
    distinct = sorted(set(sizes))
    return f"{distinct[0]:,}" if len(distinct) == 1 else f"{distinct[0]:,} to {distinct[-1]:,}"
