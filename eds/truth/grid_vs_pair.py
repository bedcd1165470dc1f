"""Grid mode compared with pair mode: the same expert on the same pair, in a grid and alone.

A grid campaign asks a share of its pairs a second time in pair mode, and two campaigns may ask the same
pairs each in its own way: both give rows here. Not here: which act counts (current_votes.py).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.intervals import rate_interval
from eds.truth.coefficients import cohen_kappa

MODES = ("pair", "grid")


@dataclass(frozen=True)
class ModesCompared:
    """The comparison of both modes.

    `both`: judgements given in both modes (by one expert on one pair, neither unsure); `agreed`: alike; `agreement`,
    `low`, `high`, `no_interval` (over queries, or why there is none); `kappa` (Cohen's, NaN where undefined);
    `only_grid`, `only_pair`: similar in this mode only;
    `pair_seconds`, `grid_seconds`: medians over all judgements of a mode, NaN where none was timed.
    """

    both: int
    agreed: int
    agreement: float
    low: float
    high: float
    no_interval: str | None
    kappa: float
    only_grid: int
    only_pair: int
    pair_seconds: float
    grid_seconds: float


def modes_compared(acts: pd.DataFrame, level: float = 0.95) -> ModesCompared:
    """Compare the modes over acts: the labels table with a column `mode` (pair or grid) behind.

    Of each expert, pair and mode the last act that no other supersedes counts, be it a normal one, gold or a repeat.
    """
    if "mode" not in acts.columns:
        raise InputError("column mode is missing", where="acts", hint="Give the acts with the mode each was shown in.")
    held = acts[~acts["label_id"].isin(acts["supersedes"].dropna()) & acts["mode"].isin(MODES)]
    key = ["query_id", "candidate_id", "expert_id", "mode"]
    last = held.sort_values(["created_at", "label_id"]).drop_duplicates(key, keep="last")
    result = last[last["value"].notna()]
    wide = result.pivot(index=key[:3], columns="mode", values="value").reindex(columns=list(MODES)).dropna()
    pair, grid = (wide[mode].to_numpy(np.int64) for mode in MODES)
    both, agreed = len(wide), int((pair == grid).sum())
    alike = pd.Series(pair == grid, index=wide.index.get_level_values("query_id"), dtype=np.float64).groupby(level=0)
    interval = rate_interval(alike.sum(), alike.size(), level)
    yes = np.array([((pair == 1) & (grid == 1)).sum(), ((pair == 1) & (grid == 0)).sum()])
    no = np.array([((pair == 0) & (grid == 1)).sum(), ((pair == 0) & (grid == 0)).sum()])
    return ModesCompared(
        both,
        agreed,
        agreed / both if both else float("nan"),
        interval.low,
        interval.high,
        interval.no_interval,
        float(cohen_kappa(yes, no)),
        int(no[0]),
        int(yes[1]),
        *(float(held.loc[held["mode"] == mode, "seconds"].median()) for mode in MODES),
    )
