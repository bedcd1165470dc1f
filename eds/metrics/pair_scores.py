"""The scores that models give labelled pairs, as arrays in the order of the labels.

Scores that are not finite and pairs that are scored twice are refused; labelled pairs without a score are NaN, so
that measures can count them.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from eds.pairs import LabelledPairs, Reals, factorize
from eds.schema import Column, Table, to_codes
from eds.tables import CANDIDATE, MODEL, QUERY

SCORED = Table(
    "scores of pairs",
    "a model's similarity of a pair",
    ("model", "query_id", "candidate_id"),
    (MODEL, QUERY, CANDIDATE, Column("score", "real", "the model's similarity; larger is nearer")),
)


def align_scores(labelled: LabelledPairs, scores: pd.DataFrame) -> dict[str, Reals]:
    """By model, ascending: the score of every labelled pair, (pairs,) float64, NaN where there is none.

    `scores` has columns model, query_id, candidate_id, score; pairs without a label are ignored.
    """
    codes = to_codes(scores[[name for name in SCORED.names if name in scores.columns]], SCORED, "scores of pairs")
    models, model = factorize(codes["model"])
    index = labelled.find_ids(codes["query_id"], codes["candidate_id"])
    table = np.full((len(models), len(labelled.value)), np.nan)
    known = index >= 0
    table[model[known], index[known]] = codes["score"].to_numpy()[known]
    return dict(zip(models.to_pylist(), table, strict=True))


def scores_frame(scores: dict[str, Iterable[tuple[str, str, float]]]) -> pd.DataFrame:
    """Plain scores {model: [[query, candidate, score], ...]} as a frame model, query_id, candidate_id, score.

    >>> scores_frame({"m": [("q", "c", 0.5)]}).to_numpy().tolist()
    [['m', 'q', 'c', 0.5]]
    """
    rows = [(model, *row) for model, pairs in scores.items() for row in pairs]
    columns = {name: [row[index] for row in rows] for index, name in enumerate(SCORED.names)}
    return pd.DataFrame(columns).astype({**dict.fromkeys(SCORED.names[:3], "str"), "score": "float64"})
