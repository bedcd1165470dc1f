"""The positive rate of the judged pairs over time."""

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.intervals import wilson_interval

KEY = ["query_id", "candidate_id"]


def rate_growth(labels: pd.DataFrame, truth: pd.DataFrame, points: int = 200, level: float = 0.95) -> pd.DataFrame:
    """The positive rate p_k after each decided pair, thinned to at most `points` rows: the last is what holds now.

    A pair counts from its last vote (kind normal) on. Columns: `at`, `labelled`, `positive`, `rate`, `low`, `high`
    (Wilson: as if pairs were drawn at random; a pool judged from its best ranks down begins too high).
    """
    if points < 2:
        raise InputError(f"points is {points}", where="growth", hint="Give 2 or more.")
    votes = labels.loc[labels["kind"] == "normal", [*KEY, "created_at"]]
    settled = votes.groupby(KEY, sort=False)["created_at"].max().rename("at").reset_index()
    rows = truth[[*KEY, "value"]].merge(settled, on=KEY, how="inner").sort_values(["at", *KEY], ignore_index=True)
    positive = rows["value"].to_numpy(np.int64).cumsum()
    labelled = np.arange(1, len(rows) + 1)
    kept = np.unique(np.linspace(0, len(rows) - 1, min(points, len(rows))).round().astype(np.int64))
    low, high = wilson_interval(positive[kept], labelled[kept], level)
    return pd.DataFrame(
        {
            "at": rows["at"].iloc[kept].reset_index(drop=True),
            "labelled": labelled[kept],
            "positive": positive[kept],
            "rate": positive[kept] / labelled[kept],
            "low": low,
            "high": high,
        }
    )
