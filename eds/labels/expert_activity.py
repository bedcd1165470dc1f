"""One expert's own work: when they judged, and how fast, for the page that shows them their progress."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from eds.labels.bulk import frame
from eds.labels.schema import assignment, campaign, expert, label_event
from eds.labels.store import Store
from eds.labels.validation import check_name

PAUSE = 120.0  # seconds without a judgement from which on it was a break
NEAR = 1.0  # seconds: what is stored this soon after another belongs to its page, which is sent in several parts
EACH = 30.0  # seconds that each answer of a page may take before it was one: a grid of 24 may well take three minutes
RECENT = 300  # judgements that the pace is computed from
ENOUGH = 10  # fewest judgements that give a pace


@dataclass(frozen=True)
class Pace:
    """How fast an expert works: judgements an hour of work (not of breaks); the stretch since the last break."""

    per_hour: float | None  # None until there are enough
    stretch_minutes: float


def expert_acts(store: Store, expert_name: str) -> pd.DataFrame:
    """Acts of this expert that count, oldest first: campaign, created_at, seconds, value, first (not a revision)."""
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
        .where(expert.c.name == check_name(expert_name, "expert"), label_event.c.late == 0)
        .order_by(label_event.c.created_at, label_event.c.id)
    )
    result = store.read(lambda connection: frame(connection, query, "created_at"))
    return result.assign(first=result["sequence"] == 1).drop(columns="sequence")


def pace(acts: pd.DataFrame, now: pd.Timestamp) -> Pace:
    """The pace of the last RECENT judgements; `acts` (created_at, seconds) in order. Breaks do not count.

    Formula:     work of a page = gap since the page before, if gap - `seconds` <= PAUSE, else its `seconds`
    Source:      the pace of a grid, 24 pairs in three minutes, is not a sequence of breaks
    Conventions: answers that were stored within NEAR seconds of each other are a page; without `seconds`, or where
                 these are beyond max(PAUSE, EACH * answers), a gap up to that is work, and a longer one counts nothing

    >>> moments = pd.date_range("2026-05-01 12:00", periods=61, freq="10s", tz="UTC")
    >>> pace(pd.DataFrame({"created_at": moments, "seconds": np.nan}), moments[-1])
    Pace(per_hour=360.0, stretch_minutes=10.0)
    """
    if not len(acts):
        return Pace(None, 0.0)
    moments = acts["created_at"].astype("datetime64[us, UTC]").astype(np.int64).to_numpy() / 1e6
    first = np.flatnonzero(np.diff(moments, prepend=-np.inf) > NEAR)
    answers = np.diff(first, append=len(moments))
    pages = moments[first + answers - 1]
    own = np.add.reduceat(acts["seconds"].astype(float).fillna(0.0).to_numpy(), first)
    longest = np.maximum(PAUSE, EACH * answers)
    gaps = np.diff(pages, prepend=-np.inf)
    own = np.where(own <= longest, own, 0.0)
    broke = np.where(own > 0, gaps - own > PAUSE, gaps > longest)
    work = np.where(broke, own, gaps)
    behind = np.cumsum(answers[::-1])[::-1] - answers  # answers that came later
    recent = (behind < RECENT) & ~(broke & (work == 0))
    counted, seconds = int(answers[recent].sum()), float(work[recent].sum())
    per_hour = 3600 * counted / seconds if counted >= ENOUGH and seconds > 0 else None
    rests = now.timestamp() - pages[-1] > longest[-1]
    return Pace(per_hour, 0.0 if rests else float(work[np.flatnonzero(broke)[-1] :].sum()) / 60)
