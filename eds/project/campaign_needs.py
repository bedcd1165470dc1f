"""What needs a lead in a campaign: experts who need a look or do not come, and pairs and tables to decide."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from eds.labels.adjudication import adjudications
from eds.labels.experts import list_experts
from eds.labels.flags import open_flags
from eds.labels.frames import acts_frame, gold_pairs
from eds.labels.queue import list_campaigns, progress
from eds.project.label_store import opened
from eds.project.report import report_condition
from eds.project.results import Result
from eds.tables import LABELS
from eds.truth import disputed_pairs
from eds.truth.expert_signs import GOLD_LINE, SHOWN, Look, expert_answers, expert_signs

if TYPE_CHECKING:
    from eds.project import Project

Kind = Literal["gold", "speed", "drift", "uninvited", "absent", "flags", "split", "truth", "report"]
ORDER: tuple[Kind, ...] = ("gold", "speed", "drift", "uninvited", "absent", "flags", "split", "truth", "report")
ABSENT = timedelta(days=3)  # without a judgement, while pairs wait
KEY = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class Need:
    """One thing that needs a lead, the figures it rests on, and the action that it asks for."""

    kind: Kind
    action: str  # look, practice, invite, remind, hand over, decide pairs, decide, report
    expert: str = ""
    count: int = 0  # quick or right answers, errors since a change, waiting or disputed pairs, flags
    of: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None
    line: float | None = None  # what the share is held against; of a drift the error rate before
    series: str = ""  # of a drift: gold, repeats, others; of a table: absent or stale
    since: datetime | None = None
    minutes: float | None = None  # that deciding the pairs takes, by the experts' own seconds
    most: tuple[tuple[str, int], ...] = ()  # of pairs: the categories with most of them
    pairs: tuple[tuple[str, str], ...] = ()  # some of them: query_id, candidate_id


@dataclass(frozen=True)
class CampaignNeeds(Result):
    """Everything that needs a lead, the gravest first."""

    campaign: str
    needs: tuple[Need, ...]

    @property
    def table(self) -> pd.DataFrame:
        """The needs as a table, without the pairs."""
        names = ["kind", "expert", "count", "of", "share", "low", "high", "line", "series", "since", "action"]
        return pd.DataFrame([[getattr(need, name) for name in names] for need in self.needs], columns=names)


def campaign_needs(project: "Project", name: str, as_of: datetime | None = None) -> CampaignNeeds:
    """What needs a lead; see `Campaigns.needs`."""
    from eds.labels.calibration import planned

    now = as_of or datetime.now(UTC)
    with opened(project) as store:
        acts, gold = acts_frame(store, as_of=as_of, campaign=name), gold_pairs(store)
        counts, plan = progress(store, name), list_campaigns(store).set_index("name").loc[name]
        states = list_experts(store).set_index("name")
        flags, decided, rounds = open_flags(store, name), adjudications(store, name), planned(store, name)
    needs = [
        *_signs(acts, gold, counts, practice=rounds is not None, line=rounds[1] if rounds else GOLD_LINE),
        *(_absent(acts, counts, states, plan, now) if pd.isna(plan["closed_at"]) else []),
        *_flags(flags),
        *_split(project, acts, decided),
        *_tables(project, judged=bool(len(acts))),
    ]
    return CampaignNeeds(name, tuple(sorted(needs, key=lambda need: ORDER.index(need.kind))))


def answers(project: "Project", name: str, expert: str, kind: Look) -> pd.DataFrame:
    """An expert's answers in force; see `Campaigns.answers`."""
    with opened(project) as store:
        return expert_answers(acts_frame(store, campaign=name), gold_pairs(store), expert, kind)


def _signs(acts: pd.DataFrame, gold: pd.DataFrame, counts: pd.DataFrame, *, practice: bool, line: float) -> list[Need]:
    """Experts whose judgements need a look; another practice round is for those who still judge."""
    going = set(counts.loc[(counts["left_panel"] == 0) & (counts["left"] > 0), "expert"])
    return [
        Need(
            sign.kind,
            "practice" if sign.kind == "gold" and practice and sign.expert in going else "look",
            sign.expert,
            sign.count,
            sign.of,
            sign.share,
            sign.low,
            sign.high,
            sign.line,
            sign.series,
            None if sign.since is None else sign.since.to_pydatetime(),
            pairs=sign.pairs,
        )
        for sign in expert_signs(acts, gold, gold_line=line)
    ]


def _absent(
    acts: pd.DataFrame, counts: pd.DataFrame, states: pd.DataFrame, plan: "pd.Series[Any]", now: datetime
) -> list[Need]:
    """Experts for whom pairs wait: who has no invitation, or has not judged for days."""
    needs = []
    last = acts.groupby("expert_id")["created_at"].max()
    for row in counts[(counts["left_panel"] == 0) & (counts["left"] > 0)].to_dict("records"):
        name, left, total = str(row["expert"]), int(row["left"]), int(row["total"])
        state = str(states["state"].get(name, "active"))
        at = last.get(name)
        since = pd.Timestamp(str(plan["created_at"])) if at is None else at
        if state == "new" and at is None:
            needs.append(Need("uninvited", "invite", name, left, total))
        elif state != "disabled" and now - since > ABSENT:
            action = "remind" if pd.isna(plan["experts_per_pair"]) else "hand over"
            seen = None if at is None else pd.Timestamp(at).to_pydatetime()
            needs.append(Need("absent", action, name, left, total, since=seen))
    return needs


def _flags(flags: pd.DataFrame) -> list[Need]:
    if not len(flags):
        return []
    pairs = flags[KEY].drop_duplicates()
    return [Need("flags", "decide pairs", count=len(flags), of=len(pairs), pairs=_some(pairs))]


def _split(project: "Project", acts: pd.DataFrame, decided: pd.DataFrame) -> list[Need]:
    """The pairs with votes for and against that no lead has decided."""
    split = disputed_pairs(acts[LABELS.names])
    open_ = split.merge(decided[KEY], how="left", on=KEY, indicator=True).query("_merge == 'left_only'")
    if not len(open_):
        return []
    seconds = acts.loc[acts["kind"] == "normal", "seconds"].median()
    most: tuple[tuple[str, int], ...] = ()
    if project.path("images").exists():
        images = project.read("images", columns=["image_id", "category"]).set_index("image_id")["category"]
        counts = open_["query_id"].map(images).dropna().value_counts()
        most = tuple((str(name), int(count)) for name, count in counts.head(2).items()) if len(counts) > 1 else ()
    minutes = None if pd.isna(seconds) else len(open_) * float(seconds) / 60
    ties = int(open_["tie"].sum())
    return [Need("split", "decide pairs", count=len(open_), of=ties, minutes=minutes, most=most, pairs=_some(open_))]


def _tables(project: "Project", *, judged: bool) -> list[Need]:
    """The truth that is absent or stale; else the report."""
    if not judged:
        return []
    truth = project.state("truth").condition
    if truth != "fresh":
        return [Need("truth", "decide", series="absent" if truth == "absent" else "stale")]
    report = report_condition(project)
    return [] if report == "fresh" else [Need("report", "report", series=report)]


def _some(pairs: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    first = pairs.head(SHOWN)
    return tuple(zip(first["query_id"].astype(str), first["candidate_id"].astype(str), strict=True))
