"""Provenance: which model ranked a pair where, as the text `beit:3;clip:0` and as a long frame.

The text is sorted by model name; names hold neither `:` nor `;` (eds.project.check_model_name).
It MUST NOT be shown to annotators.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError
from eds.pairs import Integers, decode, to_text
from eds.tables import check_model_name


def join_sources(models: list[str], model: Integers, rank: Integers, starts: Integers) -> pa.Array:
    """One text for each group of rows; rows are sorted by group and model, `starts` has each group's first row."""
    depth = int(rank.max(initial=0)) + 1
    code = model * depth + rank
    if len(models) * depth <= len(code):  # counting, not sorting: linear in the rows
        there = np.bincount(code, minlength=len(models) * depth) > 0
        token, place = np.flatnonzero(there), (np.cumsum(there) - 1)[code]
    else:
        token, place = np.unique(code, return_inverse=True)
    texts = pa.array([f"{models[code // depth]}:{code % depth}" for code in token.tolist()], pa.string())
    offsets = pa.array(np.append(starts, len(model)).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts.take(pa.array(place))), ";")


def sources_frame(suspects: pd.DataFrame) -> pd.DataFrame:
    """Model, query_id, candidate_id, rank: one row for each time a model proposed a suspect of the pool.

    >>> pair = pd.DataFrame({"query_id": ["q"], "candidate_id": ["c"], "sources": ["beit:3;clip:0"]})
    >>> sources_frame(pair).to_numpy().tolist()
    [['beit', 'q', 'c', 3], ['clip', 'q', 'c', 0]]
    """
    rows = suspects[suspects["origin"] == "pool"] if "origin" in suspects.columns else suspects
    rows = rows[rows["sources"].notna()]
    split = pc.split_pattern(to_text(rows["sources"]), ";")
    parents = pc.list_parent_indices(split).to_numpy(zero_copy_only=False)
    tokens = pc.list_flatten(split).dictionary_encode()
    parsed = [_parse(token) for token in tokens.dictionary.to_pylist()]
    place = tokens.indices.to_numpy(zero_copy_only=False)
    models = pa.array([model for model, _ in parsed], pa.string())
    return pd.DataFrame(
        {
            "model": decode(place.astype(np.int64), models),
            "query_id": rows["query_id"].to_numpy()[parents],
            "candidate_id": rows["candidate_id"].to_numpy()[parents],
            "rank": np.array([rank for _, rank in parsed], np.int64)[place],
        }
    )


def _parse(token: str) -> tuple[str, int]:
    model, colon, rank = token.rpartition(":")
    if not colon or not (rank.isascii() and rank.isdigit()):
        raise InputError(
            f"{token!r} does not name a model and a rank",
            where="suspects.sources",
            hint="It is written as beit:3;clip:0.",
        )
    return check_model_name(model), int(rank)
