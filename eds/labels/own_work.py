"""One expert's own work: when they judged, and how fast, for the page that shows them their progress."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from eds.labels.bulk import frame
from eds.labels.schema import assignment, campaign, expert, label_event
from eds.labels.store import Store
from eds.labels.texts import check_name

PAUSE = 120.0  # seconds without a judgement from which on it was a break
RECENT = 300  # judgements that the pace is told from


@dataclass(frozen=True)
class Pace:
    """How fast an expert works: judgements an hour of work (not of breaks); the stretch since the last break."""

    per_hour: float | None  # None until there is enough to tell
    stretch_minutes: float


def own_acts(store: Store, expert_name: str) -> pd.DataFrame:
    """Every act of this expert, oldest first: campaign, created_at, seconds, value, first (not a revision)."""
    query = (
        sa.select(
            campaign.c.name.label("campaign"),
            label_event.c.created_at,
            label_event.c.seconds,
            label_event.c.value,
            label_event.c.sequence,
        )
        .select_from(label_event)
        .join(assignment, assignment.c.id == label_event.c.assignment)
        .join(campaign, campaign.c.id == assignment.c.campaign)
        .join(expert, expert.c.id == assignment.c.expert)
        .where(expert.c.name == check_name(expert_name, "expert"))
        .order_by(label_event.c.created_at, label_event.c.id)
    )
    found = store.read(lambda connection: frame(connection, query, "created_at"))
    return found.assign(first=found["sequence"] == 1).drop(columns="sequence")


def pace(moments: "pd.Series[pd.Timestamp]", now: pd.Timestamp) -> Pace:
    """The pace of the last RECENT judgements; `moments` in order. Breaks (gaps from PAUSE seconds on) do not count.

    >>> moments = pd.Series(pd.date_range("2026-05-01 12:00", periods=61, freq="10s", tz="UTC"))
    >>> pace(moments, moments.iloc[-1])
    Pace(per_hour=360.0, stretch_minutes=10.0)
    """
    seconds = moments.astype("datetime64[us, UTC]").astype(np.int64).to_numpy() / 1e6
    if not len(seconds):
        return Pace(None, 0.0)
    gaps = np.diff(seconds)
    recent = gaps[-RECENT:]
    working = recent[recent < PAUSE]
    per_hour = 3600 * len(working) / working.sum() if len(working) >= 10 and working.sum() > 0 else None
    breaks = np.flatnonzero(gaps >= PAUSE)
    began = seconds[breaks[-1] + 1] if len(breaks) else seconds[0]
    rests = now.timestamp() - seconds[-1] >= PAUSE
    return Pace(None if per_hour is None else float(per_hour), 0.0 if rests else float(seconds[-1] - began) / 60)
