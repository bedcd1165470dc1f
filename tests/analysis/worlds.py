"""Simulated worlds: similar pairs that are known, models of known quality, a pool made by some of them.

Truth, generators and newcomer are drawn anew from the world's number. A model's score of a pair is what all models see
of it (`shared`), its similarity, and an error of its own; generators are drawn exchangeably, and an equal newcomer is
one more draw. So two models of the same skill differ by the queries' chance only.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.analysis import AnalysisInputs
from eds.metrics import Measure, Result, ScoringInputs, evaluate
from eds.pairs import Flags, Integers

SKILL = 1.6  # of generators: shift of similar pairs, in standard deviations of a model's own error
NEWCOMERS = {"equal": SKILL, "slightly worse": SKILL - 0.15, "much worse": SKILL - 0.8, "better": SKILL + 0.4}
NEW = "new"
AUC = Measure("ROC-AUC")
HR = Measure("P", 5)


@dataclass(frozen=True)
class Size:
    """How large a world is."""

    queries: int = 150
    candidates: int = 400
    generators: int = 6
    depth: int = 5
    similar: float = 0.03
    shared: float = 0.6  # spread of what all models see in a pair that is not similar


@dataclass(frozen=True, eq=False)
class World:
    """What was drawn: the scores of every model, the labels of the pool, and the lists."""

    names: tuple[str, ...]
    truth: Flags  # (queries, candidates)
    inputs: AnalysisInputs

    def results(self, measures: list[Measure]) -> list[Result]:
        """Every model's value of the measures."""
        inputs = self.inputs
        scoring = ScoringInputs(
            inputs.require("labels"), rankings=inputs.rankings, scores=inputs.scores, negatives=inputs.negatives
        )
        return evaluate(scoring, measures)


def draw_world(number: int, newcomer: str, size: Size = Size()) -> World:
    """The world of that number with a newcomer of that kind; every pair of the pool is judged rightly."""
    rng = np.random.default_rng([number, list(NEWCOMERS).index(newcomer)])
    shape = size.queries, size.candidates
    truth = rng.random(shape) < size.similar
    shared = size.shared * rng.normal(size=shape)
    makers = tuple(f"g{number}" for number in range(size.generators))
    skills = [*(SKILL for _ in makers), NEWCOMERS[newcomer]]
    scores = np.stack([skill * truth + shared + rng.normal(size=shape) for skill in skills])
    order = np.argsort(-scores, axis=2)
    heads = order[:, :, : size.depth]
    pooled = np.zeros(shape, bool)
    for lists in heads[:-1]:
        np.put_along_axis(pooled, lists, True, axis=1)
    names = (*makers, NEW)
    query, candidate = np.nonzero(pooled)
    labels = pair_frame(query, candidate).assign(value=truth[query, candidate].astype(np.int64))
    rankings = pd.concat([_lists(name, lists) for name, lists in zip(names, heads, strict=True)], ignore_index=True)
    scored = pd.concat(
        [
            pair_frame(query, candidate).assign(model=name, score=score[query, candidate])
            for name, score in zip(names, scores, strict=True)
        ],
        ignore_index=True,
    )
    inputs = AnalysisInputs(
        labels=labels,
        pool_lists=rankings[rankings["model"] != NEW],
        rankings=rankings,
        scores=scored,
        pooled=labels[["query_id", "candidate_id"]],
    )
    return World(names, truth, inputs)


def pair_frame(query: Integers, candidate: Integers) -> pd.DataFrame:
    """Pairs by their ids."""
    return pd.DataFrame({"query_id": QUERY_IDS[query], "candidate_id": CANDIDATE_IDS[candidate]})


def _lists(name: str, lists: Integers) -> pd.DataFrame:
    queries, depth = lists.shape
    frame = pair_frame(np.repeat(np.arange(queries), depth), lists.ravel())
    return frame.assign(model=name, rank=np.tile(np.arange(depth), queries))


QUERY_IDS = np.array([f"q{number:05}" for number in range(3000)], dtype=object)
CANDIDATE_IDS = np.array([f"c{number:05}" for number in range(3000)], dtype=object)
