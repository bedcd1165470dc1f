"""How far a campaign is: judged and left, the pace that was measured, and when its experts will be ready."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd

from eds.labels.queue import list_campaigns, progress
from eds.project.decide import read_votes
from eds.project.label_store import opened
from eds.project.results import Result
from eds.tables import LABELS
from eds.truth.current_votes import current_acts
from eds.truth.expert_signs import QUICK
from eds.truth.throughput import expert_pace

if TYPE_CHECKING:
    import altair as alt

    from eds.project import Project

RECENT = timedelta(days=7)  # the pace is that of the last days, since people's time changes


@dataclass(frozen=True)
class CampaignOverview(Result):
    """The state of a campaign, as its page shows it first."""

    name: str
    state: str  # open or closed
    mode: str
    polarity: str | None
    guideline: str
    pairs: int
    experts_per_pair: int | None  # None: all
    total: int  # judgements asked for
    done: int
    left: int  # of experts who are on the panel
    stopped: int  # spared, since the pair was decided without
    flagged: int
    a_day: float | None  # judgements a day in the last days; None before the first one
    hours_left: float | None  # of judging, by the seconds that each expert takes; None where one has not begun
    ready_at: datetime | None  # if everybody goes on as in the last days; None where somebody has stopped
    days: pd.DataFrame  # day, judgements
    experts: pd.DataFrame  # expert, total, done, left, unsure, flagged, left_panel, hours, per_hour, seconds, ...

    @property
    def share(self) -> float:
        """The judged part of what is asked."""
        return self.done / max(self.total - self.stopped, 1)

    def days_chart(self) -> "alt.Chart":
        """Draw the judgements of every day."""
        from eds.reports.campaign_charts import days_chart

        return days_chart(self.days)


def campaign_overview(project: "Project", name: str, as_of: datetime | None = None) -> CampaignOverview:
    """How far a campaign is; see `Campaigns.overview`."""
    now = pd.Timestamp(as_of or datetime.now(UTC))
    labels = read_votes(project, name, as_of).labels
    with opened(project) as store:
        counts = progress(store, name).drop(columns="campaign")
        plan: Any = list_campaigns(store).set_index("name").loc[name]
    experts = _experts(labels, counts, now)
    active = experts[experts["left_panel"] == 0]
    waiting = active[active["left"] > 0]
    hours = waiting["left"] / waiting["per_hour"]
    days = waiting["left"] / waiting["a_day"].where(waiting["a_day"] > 0)
    open_ = pd.isna(plan["closed_at"])
    ready = None
    if open_ and len(waiting) and days.notna().all():
        ready = (now + timedelta(days=float(days.max()))).to_pydatetime()
    a_day = float(experts["a_day"].sum()) if len(labels) else None
    return CampaignOverview(
        name=name,
        state="open" if open_ else "closed",
        mode=str(plan["mode"]),
        polarity=None if pd.isna(plan["polarity"]) else str(plan["polarity"]),
        guideline=str(plan["guideline"]),
        pairs=int(plan["items"]),
        experts_per_pair=None if pd.isna(plan["experts_per_pair"]) else int(plan["experts_per_pair"]),
        total=int(counts["total"].sum()),
        done=int(counts["done"].sum()),
        left=int(active["left"].sum()),
        stopped=int(counts["stopped"].sum()),
        flagged=int(counts["flagged"].sum()),
        a_day=a_day,
        hours_left=float(hours.sum()) if hours.notna().all() else None,
        ready_at=ready,
        days=_by_day(labels),
        experts=experts,
    )


def _experts(labels: pd.DataFrame, counts: pd.DataFrame, now: pd.Timestamp) -> pd.DataFrame:
    """The progress of each expert, with pace, judgements a day in the last days, and the share of similar over time."""
    paces = expert_pace(labels).rename(columns={"expert_id": "expert"})
    groups = labels.sort_values(["created_at", "label_id"]).groupby("expert_id")
    standing = labels.iloc[current_acts(labels[LABELS.names]).row].dropna(subset="seconds")
    quick = (standing["seconds"] < QUICK["pair"]).groupby(standing["expert_id"]).mean()
    rows = []
    for name, mine in groups:
        since = max(now - RECENT, mine["created_at"].iloc[0])
        span = max((now - since) / timedelta(days=1), 1.0)
        values = mine.loc[(mine["kind"] == "normal") & mine["value"].notna(), "value"].astype(float)
        parts = [part for part in _twelfths(values) if len(part)]
        timed = mine["seconds"].dropna()
        rows.append(
            {
                "expert": name,
                "a_day": float((mine["created_at"] > now - RECENT).sum()) / span,
                "seconds": float(timed.median()) if len(timed) else float("nan"),
                "under_1_s": float(quick.get(name, float("nan"))),
                "similar_over_time": [float(part.mean()) for part in parts],
            }
        )
    names = ["expert", "a_day", "seconds", "under_1_s", "similar_over_time"]
    result = counts.merge(paces.drop(columns="acts"), how="left", on="expert")
    result = result.merge(pd.DataFrame(rows, columns=names), how="left", on="expert")
    empty = result["similar_over_time"].map(lambda part: part if isinstance(part, list) else [])
    return result.assign(similar_over_time=empty, a_day=result["a_day"].astype(float))


def _twelfths(values: "pd.Series[float]") -> "list[pd.Series[float]]":
    size = max(-(-len(values) // 12), 1)
    return [values.iloc[start : start + size] for start in range(0, len(values), size)]


def _by_day(labels: pd.DataFrame) -> pd.DataFrame:
    """The judgements of every day from the first to the last one."""
    if not len(labels):
        return pd.DataFrame({"day": pd.Series(dtype="datetime64[ns, UTC]"), "judgements": pd.Series(dtype="int64")})
    counts = labels.set_index("created_at").resample("D").size()
    return pd.DataFrame({"day": counts.index, "judgements": counts.to_numpy()})
