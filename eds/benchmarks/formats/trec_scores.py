"""Scores that keep the ranks in every reader of TREC runs."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError


def lowered(run: pd.DataFrame) -> tuple[NDArray[np.float64], int]:
    """Scores for a run whose rows stand by query and rank, and how many of them had to change.

    trec_eval holds scores in 32 bits, ignores the rank and breaks ties by docno descending: so in each query the
    scores, rounded to 32 bits, must fall strictly. Where they do, they stay as they are to the last digit; a score that
    does not lie below the one before becomes the next smaller 32-bit number. A query's rows are gone through by rank,
    all queries at once. Returns (rows,) float64.
    """
    scores = run["score"].to_numpy(np.float64).copy()
    with np.errstate(over="ignore"):
        short = scores.astype(np.float32)
    if not np.isfinite(short).all():
        raise InputError("scores do not fit into 32 bits, which readers of TREC runs use", where="neighbors",
                         do="Scale the model's scores.")  # fmt: skip
    starts = np.flatnonzero(np.diff(pd.factorize(run["query_id"])[0], prepend=-1))
    lengths = np.diff(np.append(starts, len(scores)))
    changed = 0
    for depth in range(1, int(lengths.max(initial=0))):
        here = starts[lengths > depth] + depth
        limit = np.nextafter(short[here - 1], np.float32(-np.inf))
        low = short[here] > limit
        short[here[low]] = limit[low]
        scores[here[low]] = limit[low]
        changed += int(low.sum())
    if not np.isfinite(short).all():
        raise InputError("scores are too close to the smallest 32-bit number", where="neighbors", do="Scale them.")
    return scores, changed
