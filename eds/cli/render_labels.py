"""How campaigns, their needs and imports of votes become text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eds.cli.render import count, format_frame, format_rate, format_share, format_table

if TYPE_CHECKING:
    import pandas as pd

    from eds.project.campaign_needs import CampaignNeeds, Need
    from eds.project.campaign_overview import CampaignOverview
    from eds.project.campaign_statistics import Disagreement
    from eds.project.foreign_votes import ImportedVotes
    from eds.project.labels import VoidedImport

ACTIONS = {  # what a need asks for, as the command that does it, or in words
    "look": "look at the answers",
    "practice": "eds labels calibration again {campaign} {expert}",
    "invite": "eds labels experts invite {expert}",
    "remind": "remind the expert",
    "hand over": "eds labels campaigns leave {campaign} {expert}",
    "decide pairs": "decide them in the annotator, or eds labels adjudicate",
    "decide": "eds truth decide",
    "report": "eds reports write",
}
SERIES = {"gold": "known pairs", "repeats": "repeated pairs", "others": "pairs that others judged, too"}


def render_campaigns(table: "pd.DataFrame") -> str:
    """A row per campaign with what tells it from others; --json has every setting."""
    rows = []
    for row in table.astype(object).where(table.notna(), None).to_dict(orient="records"):
        stop = "adaptive" if row["adaptive"] else "early stop" if row["early_stop"] else "all votes"
        state = "withdrawn" if row["withdrawn_at"] else "closed" if row["closed_at"] else "open"
        per_pair = row["experts_per_pair"] or row["experts"]
        rows.append([row["name"], state, row["items"], row["experts"], per_pair, row["mode"], stop, row["guideline"]])
    heads = ["campaign", "state", "pairs", "experts", "experts per pair", "mode", "asks", "guideline"]
    return format_table(heads, rows)


def render_overview(overview: "CampaignOverview") -> str:
    """How far a campaign is: one line of context, then the experts."""
    speed = "" if overview.a_day is None or not overview.left else f", {overview.a_day:,.0f} a day"
    left = f"; {overview.left:,} left"
    if overview.left and overview.hours_left is not None:
        left += f", about {overview.hours_left:,.1f} hours of judging"
    ready = "" if overview.ready_at is None else f", ready on {overview.ready_at:%Y-%m-%d}"
    names = ["expert", "total", "done", "left", "unsure", "flagged", "per_hour", "seconds", "last_at"]
    return (
        f"{overview.name} is {overview.state}: {overview.done:,} of {overview.total:,} judgements{speed}{left}{ready}."
        f"\n{format_frame(overview.experts[names])}"
    )


def render_needs(result: "CampaignNeeds") -> str:
    """What needs a lead, and the command for it."""
    if not result.needs:
        return "Nothing needs a lead."
    rows = [
        [need.expert or None, _need(need), ACTIONS[need.action].format(campaign=result.campaign, expert=need.expert)]
        for need in result.needs
    ]
    return format_table(["expert", "what", "to do"], rows)


def _need(need: "Need") -> str:
    """What is wrong, in words.

    >>> from eds.project.campaign_needs import Need
    >>> _need(Need("gold", "look", "ann", 5, 12, 5 / 12, 0.19, 0.68, 0.8))
    'right on 5 of 12 known pairs: 41.7 % [19.0, 68.0], below 80.0 %'
    >>> _need(Need("split", "decide pairs", count=19, of=1)), _need(Need("flags", "decide pairs", count=1, of=1))
    ('19 pairs with votes for and against, 1 of them a tie', '1 flag on 1 pair')
    """
    share = "" if need.share is None else format_share(need.share)
    if need.low is not None and need.high is not None:
        share += f" [{100 * need.low:.1f}, {100 * need.high:.1f}]"
    line = "" if need.line is None else format_share(need.line)
    since = "" if need.since is None else f"{need.since:%Y-%m-%d %H:%M}"
    return {
        "gold": f"right on {need.count:,} of {count(need.of, 'known pair')}: {share}, below {line}",
        "speed": f"answers too fast in {need.count:,} of {count(need.of, 'pair')}: {share}, above {line}",
        "drift": f"errors on {SERIES.get(need.series, need.series)}: {share} since {since}, {line} before",
        "uninvited": f"never signed in; {need.count:,} of {count(need.of, 'pair')} wait",
        "absent": f"no judgement since {since or 'the start'}; {need.count:,} of {count(need.of, 'pair')} wait",
        "flags": f"{count(need.count, 'flag')} on {count(need.of, 'pair')}",
        "split": f"{count(need.count, 'pair')} with votes for and against, {need.of:,} of them a tie",
        "truth": f"the truth is {need.series}",
        "report": f"the report is {need.series}",
    }[need.kind]


def render_disagreement(result: "Disagreement") -> str:
    """Where experts disagree: categories, the most disputed queries, experts, guidelines."""
    parts = []
    for title, head, table, rate in (
        ("Disputed pairs by category", "category", result.by_category, format_rate),
        ("Most disputed queries", "query", result.by_query.query("disputed > 0").head(10), _rate_alone),
    ):
        rows = [[row["group"], row["pairs"], row["disputed"], rate(row)] for row in table.to_dict(orient="records")]
        parts += [f"{title}\n{format_table([head, 'pairs', 'disputed', 'rate'], rows)}"] if rows else []
    if len(result.experts):
        heads = ["expert", "other expert", "pairs judged by both", "similar to the first alone"]
        names = ["expert_a", "expert_b", "both", "only_a"]
        parts.append(f"Similar to one expert alone\n{format_table(heads, result.experts[names].to_numpy().tolist())}")
    guidelines = result.guidelines.astype(object).where(result.guidelines.notna(), None).to_dict(orient="records")
    if guidelines:
        rows = [[row["guideline"] or "none", row["answers"], *_guideline_shares(row)] for row in guidelines]
        heads = ["guideline", "answers", "unsure", "called similar", "with the others"]
        parts.append(f"By version of the guideline\n{format_table(heads, rows)}")
    return "\n\n".join(parts) or "Nobody has judged yet."


def _rate_alone(row: Mapping[Any, Any]) -> str:
    return format_share(row["rate"])


def _guideline_shares(row: dict[Any, Any]) -> list[str | None]:
    similar = None if row["positive_rate"] is None else format_share(row["positive_rate"])
    if similar and row.get("low") is not None:
        similar += f" [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
    unsure, others = (row[name] for name in ("unsure_rate", "with_others"))
    return [format_share(unsure), similar, None if others is None else format_share(others)]


def render_imported(result: "ImportedVotes") -> str:
    """What an import of votes did."""
    made = f" Campaign {result.campaign} is new." if result.new_campaign else ""
    lines = [f"{count(result.added, 'new vote')}; stored before: {result.already:,}.{made}"]
    lines.append(f"Suspects among {count(result.pairs, 'pair')}: {result.suspects:,}.")
    renamed = [f"{ours} from {theirs}" for ours, theirs in result.columns.items() if ours != theirs]
    if result.delimiter not in (None, ","):
        renamed.insert(0, "columns between " + {";": "semicolons", "\t": "tabs", "|": "bars"}[str(result.delimiter)])
    if not result.header:
        renamed.insert(0, f"no header: the columns were taken for {', '.join(result.columns.values())}")
    renamed += [f"{text or 'an empty answer'} as {word}" for text, word in result.answers.items()]
    if renamed:
        lines.append(f"Read: {'; '.join(renamed)}.")
    if result.new_experts:
        lines.append(f"New experts: {', '.join(result.new_experts)}; no further work is assigned to them.")
    if result.repeated:
        lines.append(
            f"{result.repeated:,} rows repeat another row or a stored vote and count once. If they are judgements of "
            "their own, give the columns vote_id, kind and supersedes."
        )
    if result.dropped:
        lines.append(f"Ignored columns: {', '.join(result.dropped)}.")
    if result.number is not None:
        lines.append(f"Was it the wrong file? eds labels imports void {result.number}")
    return "\n".join(lines)


def render_voided(result: "VoidedImport") -> str:
    """Whether the votes of an import count, and what to do next."""
    state = "no longer count; they are kept" if result.void else "count again"
    if not result.changed:
        return f"Import {result.number} was so before: its {result.votes:,} votes {state}."
    other = f" --again takes this back: eds labels imports void {result.number} --again." if result.void else ""
    return (
        f"The {result.votes:,} votes of import {result.number} ({result.source}, campaign {result.campaign}) {state}. "
        f"Next: eds truth decide.{other}"
    )


def render_invitation(invitation: Any) -> str:
    """The link of an invitation, and how to complete it."""
    address = (
        "" if "://" in invitation.link else "\nPut the annotator's address before it, or set annotator.url in eds.toml."
    )
    return (
        f"Invitation for {invitation.expert}, works once, for {invitation.hours:g} hours (it is shown only now):\n"
        f"{invitation.link}{address}"
    )
