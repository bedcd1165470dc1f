"""How fast each expert works, and in how many sessions. Every act counts: a correction takes time, too."""

import numpy as np
import pandas as pd

from eds.errors import InputError

REST = 900.0  # seconds without an act after which a sitting has ended


def expert_pace(labels: pd.DataFrame, rest: float = REST) -> pd.DataFrame:
    """A row for every expert, by name.

    `acts`; `sittings`, parted by pauses longer than `rest` seconds; `hours` worked: the time from the first to the last
    act of each sitting, and the seconds of each sitting's first judgement; `per_hour`: acts of those hours, NaN where
    nothing was timed; `last_at`: the latest act.
    """
    if not rest > 0:
        raise InputError(f"rest is {rest}", where="pace", hint="Give seconds, more than 0.")
    rows = labels[["expert_id", "created_at", "seconds"]].sort_values(["expert_id", "created_at"], ignore_index=True)
    gap = rows.groupby("expert_id")["created_at"].diff().dt.total_seconds().to_numpy(np.float64)
    begins = ~(gap <= rest)  # NaN: the expert's first act
    worked = np.where(begins, rows["seconds"].fillna(0.0).clip(upper=rest).to_numpy(np.float64), gap)
    rows = rows.assign(begins=begins, worked=worked)
    grouped = rows.groupby("expert_id", sort=True)
    hours = grouped["worked"].sum().to_numpy(np.float64) / 3600
    acts = grouped.size().to_numpy(np.int64)
    return pd.DataFrame(
        {
            "expert_id": list(grouped.groups),
            "acts": acts,
            "sittings": grouped["begins"].sum().to_numpy(np.int64),
            "hours": hours,
            "per_hour": np.where(hours > 0, acts / np.where(hours > 0, hours, 1.0), np.nan),
            "last_at": grouped["created_at"].max().to_numpy(),
        }
    )


def seconds_histogram(labels: pd.DataFrame, bins: int = 40, longest: float = 60.0) -> pd.DataFrame:
    """Return how long judgements take, by expert: expert_id, seconds (middle of the bin), share of the expert's acts.

    The bins are equally wide on a logarithmic scale, from 0.1 s to `longest`; what lies beyond is in the outer bins.
    """
    rows = labels[["expert_id", "seconds"]].dropna()
    edges = np.geomspace(0.1, longest, bins + 1)
    place = np.clip(np.digitize(rows["seconds"].to_numpy(np.float64), edges) - 1, 0, bins - 1)
    counts = pd.crosstab(rows["expert_id"], place).reindex(columns=range(bins), fill_value=0)
    shares = counts.div(counts.sum(axis=1), axis=0)
    middle = np.sqrt(edges[:-1] * edges[1:])
    return pd.DataFrame(
        {
            "expert_id": np.repeat(shares.index.astype(str).to_numpy(), bins),
            "seconds": np.tile(middle, len(shares)),
            "share": shares.to_numpy(np.float64).ravel(),
        }
    )
