"""The positive rate of the judged pairs over time."""

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.intervals import rate_interval

KEY = ["query_id", "candidate_id"]


def rate_growth(labels: pd.DataFrame, truth: pd.DataFrame, points: int = 200, level: float = 0.95) -> pd.DataFrame:
    """The positive rate p_k after each decided pair, thinned to at most `points` rows: the last is what holds now.

    A pair counts from its last vote (kind normal) on. Columns: `at`, `labelled`, `positive`, `rate`, `low`, `high`,
    `no_interval` (over queries, or the reason why there is none). A pool judged from its best ranks down begins too
    high.
    """
    if points < 2:
        raise InputError(f"points is {points}", where="growth", hint="Give 2 or more.")
    votes = labels.loc[labels["kind"] == "normal", [*KEY, "created_at"]]
    settled = votes.groupby(KEY, sort=False)["created_at"].max().rename("at").reset_index()
    rows = truth[[*KEY, "value"]].merge(settled, on=KEY, how="inner").sort_values(["at", *KEY], ignore_index=True)
    value, labelled = rows["value"].to_numpy(np.int64), np.arange(1, len(rows) + 1)
    positive, query = value.cumsum(), pd.factorize(rows["query_id"])[0]
    kept = np.unique(np.linspace(0, len(rows) - 1, min(points, len(rows))).round().astype(np.int64))
    intervals = [
        rate_interval(np.bincount(query[: last + 1], value[: last + 1]), np.bincount(query[: last + 1]), level)
        for last in kept
    ]
    return pd.DataFrame(
        {
            "at": rows["at"].iloc[kept].reset_index(drop=True),
            "labelled": labelled[kept],
            "positive": positive[kept],
            "rate": positive[kept] / labelled[kept],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "no_interval": pd.Series([interval.no_interval for interval in intervals], dtype=object),
        }
    )
