"""`eds truth`: the decided labels, and how far the experts agree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.options import as_of, campaign, confidence, existing_file, one_of
from eds.cli.render import count, format_frame, format_interval, format_share, format_table
from eds.registry import VOTING_RULES

if TYPE_CHECKING:
    from eds.project.agreement import AgreementResult
    from eds.project.decide import DecideResult

SHOWN = 10  # disputed or differing pairs


@click.group()
def truth() -> None:
    """Labels decided from the votes; agreement of the experts."""


@command(truth, "decide", example="eds truth decide --rule majority")
@click.option("--rule", type=one_of(VOTING_RULES), help="Voting rule (default: eds.toml).")
@click.option("--panel", type=click.IntRange(1), help="Experts per pair (default: the campaigns').")
@as_of
@campaign
@click.option("--adjudication/--no-adjudication", default=True, help="Let leads' decisions replace votes.")
@click.option("--replace", is_flag=True, help="Store it even if labels change or disappear.")
def decide(console: Console, **options: Any) -> None:
    """Decide every pair from its votes and store the truth."""
    console.show(console.project.decide(**options), render_decision)


@command(truth, "agreement", example="eds truth agreement --json", reads=True)
@as_of
@campaign
@click.option("--control", type=existing_file, help="Pairs that everybody judged (default: the campaigns').")
@click.option("--gold", type=existing_file, help="Known answers (default: the label store's).")
@click.option("--resamples", type=click.IntRange(0), default=2000, help="Bootstrap resamples; 0: no intervals.")
@confidence
@click.option("--disputed", type=click.IntRange(0), default=SHOWN, help="Disputed pairs to show, closest first.")
def agreement(console: Console, disputed: int, **options: Any) -> None:
    """Show how far the experts agree, and the disputed pairs."""
    console.show(console.project.agreement(**options), lambda result: render_agreement(result, disputed))


def render_decision(result: "DecideResult") -> str:
    """The decision as text."""
    counts, panel = result.counts, result.panel
    of = (
        f"{panel['smallest']}"
        if panel["smallest"] == panel["largest"]
        else f"{panel['smallest']} to {panel['largest']}"
    )
    lines = [
        f"{result.pairs:,} pairs have a label, {counts['positive']:,} of them similar "
        f"(rule {result.rule}, panel of {of}; {count(counts['ties'], 'tie')} counted as not similar).",
        f"{counts['complete']:,} complete, {counts['decided']:,} decided early, {counts['open']:,} open, "
        f"{counts['undefined']:,} with only unsure answers.",
    ]
    if "adjudicated" in counts:
        lines.append(f"{count(counts['adjudicated'], 'label')} decided by leads.")
    if counts.get("late"):
        lines.append(
            f"{counts['late']:,} judgements do not count: given more than 7 days after their campaign was closed or "
            "their expert left."
        )
    if result.pictures and (result.pictures.labels_of_gone or result.pictures.labels_of_changed):
        lines.append(f"Pictures: {result.pictures.text}.")
    if result.unusable:
        lines.append(
            f"{result.unusable:,} labels are of images that are no query or no candidate of the catalogue: no measure "
            "uses them."
        )
    if counts.get("imported"):
        lines.append(f"{counts['imported']:,} labels came with an imported benchmark.")
    if result.change and result.change.turned + result.change.lost:
        text = "; ".join(f"{count:,} {direction}" for direction, count in result.change.directions.items())
        lines.append(f"Of {result.change.stored:,} labels stored before, {text}.")
    if result.stored and result.differing:
        kept = (
            "the votes' label is stored" if result.replaced else "the imported label stays; --replace stores the votes'"
        )
        lines.append(f"{result.differing:,} pairs were judged differently here than in the benchmark: {kept}.")
    if not result.stored and result.differing_pairs is not None:
        lines.append(
            f"Not stored: truth.parquet keeps rule {result.stored_rule}, and {result.differing:,} pairs differ. "
            "To store this decision: --replace."
        )
        if result.differing:
            lines.append(format_frame(result.differing_pairs.head(SHOWN)))
    return "\n".join(lines)


def render_agreement(result: "AgreementResult", disputed: int) -> str:
    """The agreement as tables."""
    subset = " of the control pairs" if result.control else ""
    head = (
        f"{result.items:,} pairs{subset} judged: {result.pairable:,} by two or more experts, {result.complete:,} by "
        f"all; {result.unsure:,} unsure answers; {len(result.disputed_pairs):,} disputed pairs."
    )
    tables = (
        _coefficients(result),
        _pairs_of_experts(result),
        _experts(result),
        _disputed(result, disputed),
    )
    return "\n\n".join([*(table for table in tables if table), head])


def _coefficients(result: "AgreementResult") -> str:
    from eds.project.agreement import COEFFICIENTS

    rows = []
    for row in result.coefficients.to_dict(orient="records"):
        why = f" (no interval: {row['no_interval']})" if isinstance(row["no_interval"], str) else ""
        if row["coefficient"] == "percent_agreement":
            shown = _limited(row["value"], row) + why
        else:
            shown = format_interval(row["value"], row["low"], row["high"]) + why
        rows.append([COEFFICIENTS.get(row["coefficient"], row["coefficient"]), shown])
    return format_table(["agreement", "value"], rows)


def _pairs_of_experts(result: "AgreementResult") -> str:
    rows = [
        [
            f"{row['expert_a']} and {row['expert_b']}",
            row["items"],
            _limited(row["agreement"], row),
            format_interval(row["kappa"], float("nan"), float("nan")),
        ]
        for row in result.pairs_of_experts.to_dict(orient="records")
    ]
    return format_table(["experts", "pairs judged by both", "agree", "Cohen's kappa"], rows) if rows else ""


def _experts(result: "AgreementResult") -> str:
    heads = ["expert", "judged", "called similar", "unsure", "with the majority", "drift", "median time"]
    optional = {"gold_score": "gold pairs right", "repeat_consistency": "repeats alike"}
    optional = {key: head for key, head in optional.items() if result.experts[key].notna().any()}
    rows = []
    for row in result.experts.to_dict(orient="records"):
        drift, seconds = row["drift"], row["median_seconds"]
        rows.append(
            [
                row["expert_id"],
                row["judged"],
                _limited(row["positive_rate"], row),
                format_share(row["skip_rate"]),
                format_share(row["with_others"]),
                "n/a" if drift != drift else f"{100 * drift:+.1f} points",
                "n/a" if seconds != seconds else f"{seconds:,.1f} s",
                *(format_share(row[key]) for key in optional),
            ]
        )
    return format_table([*heads, *optional.values()], rows) if rows else ""


def _limited(share: float, row: Mapping[Any, Any]) -> str:
    """A share in percent with the limits of the row, where it has any."""
    known = row["low"] == row["low"]
    return f"{format_share(share)} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]" if known else format_share(share)


def _disputed(result: "AgreementResult", shown: int) -> str:
    names = ["query_id", "candidate_id", "votes_for", "votes_against", "unsure", "tie"]
    rows = result.disputed_pairs.head(shown)[names].to_numpy().tolist()
    heads = ["disputed pair: query", "candidate", "similar", "not similar", "unsure", "tie"]
    return format_table(heads, rows) if rows else ""
