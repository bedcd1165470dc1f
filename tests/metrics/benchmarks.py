"""Small random benchmarks for the property tests: lists, labels and scores that tie often."""

from dataclasses import dataclass

import pandas as pd
from hypothesis import strategies as st

from eds.metrics import scores_frame
from eds.suspects import labels_frame, lists_frame

IDS = [f"c{number}" for number in range(8)]
QUERIES = ["q0", "q1", "q2", "q3"]
MODELS = ["A", "B", "C"]


@dataclass(frozen=True)
class Bench:
    lists: dict[str, dict[str, list[str]]]
    labels: list[tuple[str, str, int]]
    scores: dict[str, list[tuple[str, str, float]]]

    @property
    def rankings_frame(self) -> pd.DataFrame:
        return lists_frame(self.lists)

    @property
    def labels_frame(self) -> pd.DataFrame:
        return labels_frame(self.labels)

    @property
    def scores_frame(self) -> pd.DataFrame:
        return scores_frame(dict(self.scores))

    def judged(self, query: str) -> dict[str, int]:
        return {candidate: value for q, candidate, value in self.labels if q == query}


@st.composite
def benches(draw: st.DrawFn) -> Bench:
    """Lists of any length, labels for some pairs (in the lists or not), a score for most labelled pairs."""
    lists = {
        model: {query: draw(st.permutations(IDS))[: draw(st.integers(1, 8))] for query in QUERIES} for model in MODELS
    }
    values = st.sampled_from([None, None, 0, 1, 1])
    told = [(query, candidate, draw(values)) for query in QUERIES for candidate in IDS]
    labels = [(query, candidate, value) for query, candidate, value in told if value is not None]
    numbers = st.sampled_from([None, -1.0, 0.0, 0.25, 0.25000001, 0.5, 1.0])
    scores = {}
    for model in MODELS:
        drawn = [(query, candidate, draw(numbers)) for query in QUERIES for candidate in IDS]
        scores[model] = [(query, candidate, score) for query, candidate, score in drawn if score is not None]
    return Bench(lists, labels or [("q0", "c0", 1)], scores)


def shuffled(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)
