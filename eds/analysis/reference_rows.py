"""What a model's value is held against: what chance gives, and what the experts themselves reach.

Both are on the labels that the models are measured on.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.metrics import Measure
from eds.metrics.definition import ModelInputs
from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Integers, LabelledPairs

DRAWS = 50  # random orders behind a chance level on lists


@dataclass(frozen=True)
class HumanCeiling:
    """The experts by a measure, each held against the majority of the others."""

    value: float  # mean over the experts
    low: float  # the lowest expert
    high: float
    experts: int
    pairs: int  # votes behind it


def chance_level(measure: Measure, labelled: LabelledPairs, lengths: Integers, seed: int = 0) -> float:
    """The measure's value of a model that knows nothing; NaN where the measure looks at neither lists nor scores.

    Formula: on scores without a cut-off, the value where all scores are equal (ROC-AUC .5, PR-AUC the prevalence); else
    the mean over 50 random orders.
    Source: a random ranking, by simulation; for P@k it is the mean of positives / candidates.
    Conventions: `lengths` are the candidates of each of the labels' queries; a random list holds all of them.
    Example, run by doctest:
    >>> pairs = pd.DataFrame({"query_id": "q", "candidate_id": ["a", "b", "c", "d"], "value": [1, 0, 0, 0]})
    >>> chance_level(Measure("ROC-AUC"), LabelledPairs.from_frame(pairs), np.array([4]))
    0.5
    """
    definition, rng = measure.definition, np.random.default_rng(seed)
    if definition.needs not in ("scores", "lists", "official lists"):
        return float("nan")

    def value(inputs: ModelInputs) -> float:
        return definition.compute(inputs, measure.k, measure.parameters).value

    if definition.needs == "scores":
        if definition.cut == "never":
            equal = np.zeros(len(labelled.value))
            return value(ModelInputs(labelled, score=equal, sampled=labelled, sampled_score=equal))
        return float(
            np.mean([value(ModelInputs(labelled, score=rng.random(len(labelled.value)))) for _ in range(DRAWS)])
        )
    return float(np.mean([value(ModelInputs(labelled, _random_lists(labelled, lengths, rng))) for _ in range(DRAWS)]))


def _random_lists(labelled: LabelledPairs, lengths: Integers, rng: np.random.Generator) -> JudgedLists:
    """The labelled places of lists in random order."""
    counts = labelled.positives + labelled.negatives
    lengths = np.maximum(lengths, counts)  # where the rules show one image of a product, labels may be more
    parts = [rng.choice(n, size, replace=False) for n, size in zip(lengths.tolist(), counts.tolist(), strict=True)]
    place = np.concatenate(parts) + 1 if parts else np.zeros(0, np.int64)
    order = np.lexsort((place, labelled.query))
    asked = np.ones(len(order), np.bool_)
    return JudgedLists(
        labelled.query[order],
        place[order],
        labelled.value[order],
        asked,
        labelled.positives,
        labelled.negatives,
        lengths,
    )


def human_ceiling(measure: Measure, votes: pd.DataFrame) -> HumanCeiling | None:
    """The mean over the experts of the measure, of each expert's answers against the majority of the others.

    `votes`: query_id, candidate_id, expert_id and value (1 or 0), a row for each expert and pair. None where it is not
    defined: an expert answers yes or no and ranks no catalogue, so only measures on scores without a cut-off have it.

    Formula: for each expert, the measure with the answers as scores and the others' majority as labels.
    Source: the usual leave-one-annotator-out estimate.
    Conventions: pairs on which the others tie, or nobody else answered, do not count; an expert without a value is left
    out; low and high are the extreme experts, not an interval.
    Example, run by doctest:
    >>> rows = [("q", c, e, v) for c, e, v in zip("aabbaabb", "xyxyzwzw", [1, 1, 0, 0, 1, 1, 0, 0])]
    >>> frame = pd.DataFrame(rows, columns=["query_id", "candidate_id", "expert_id", "value"])
    >>> human_ceiling(Measure("ROC-AUC"), frame).value
    1.0
    """
    definition = measure.definition
    if definition.needs != "scores" or definition.cut != "never" or measure.parameters.get("negatives") == "sampled":
        return None
    pair = ["query_id", "candidate_id"]
    sums = votes.groupby(pair)["value"].agg(["sum", "size"])
    joined = votes.join(sums, on=pair)
    joined["lead"] = 2 * (joined["sum"] - joined["value"]) - (joined["size"] - 1)
    joined = joined[joined["lead"] != 0]
    values, used = [], 0
    for _, part in joined.groupby("expert_id"):
        labelled = LabelledPairs.from_frame(part[pair].assign(value=(part["lead"] > 0).astype("int64")))
        score = np.zeros(len(labelled.value))
        score[labelled.find_ids(part["query_id"], part["candidate_id"])] = part["value"]
        found = definition.compute(ModelInputs(labelled, score=score), None, measure.parameters).value
        if not np.isnan(found):
            values.append(found)
            used += len(part)
    if not values:
        return None
    return HumanCeiling(float(np.mean(values)), min(values), max(values), len(values), used)
