"""`eds labels`: experts, campaigns, guidelines, and the judgements themselves."""

from pathlib import Path
from typing import Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.images import Columns
from eds.cli.options import as_of, campaign, existing_file, new_file, one_of, spending
from eds.cli.programs import tokens, webhooks
from eds.cli.render import format_share, format_table
from eds.cli.render_labels import (
    render_campaigns,
    render_disagreement,
    render_imported,
    render_invitation,
    render_needs,
    render_overview,
    render_voided,
)
from eds.cli.serving import serve

NO_CAMPAIGNS = "No campaigns yet: eds labels campaigns add NAME."
VALUES = {"similar": 1, "different": 0, "withdrawn": None}
share = click.FloatRange(0, 1)
hours = click.option("--hours", type=float, default=72.0, help="Hours until the invitation expires.")
votes_format = click.option(
    "--format",
    "kind",
    type=one_of(choices.VoteFormat),
    help="File format (default: its ending).",
)


@click.group()
def labels() -> None:
    """Experts' judgements: accounts, campaigns, exchange."""


labels.add_command(serve)
labels.add_command(tokens)
labels.add_command(webhooks)


@labels.group()
def experts() -> None:
    """Accounts of experts, leads and administrators."""


@command(experts, "add", example="eds labels experts add lead-1 --role lead")
@click.argument("name")
@click.option("--role", type=one_of(choices.Role), default="expert", help="Role of the account.")
@click.option("--campaign", "campaigns", multiple=True, help="A campaign that they join on signing in; repeatable.")
@hours
def add_expert(console: Console, name: str, role: str, campaigns: tuple[str, ...], hours: float) -> None:
    """Add an account and print its invitation."""
    console.show(console.project.experts.add(name, role, hours=hours, campaigns=campaigns), render_invitation)


@command(experts, "invite", example="eds labels experts invite expert-1")
@click.argument("name")
@hours
def invite(console: Console, name: str, hours: float) -> None:
    """Invite again, after a forgotten password."""
    console.show(console.project.experts.invite(name, hours=hours), render_invitation)


@command(experts, "list", example="eds labels experts list --json", reads=True)
def list_experts(console: Console) -> None:
    """List accounts: role, state, judgements, last seen."""
    console.show_table(console.project.experts.list(), "No experts yet: eds labels experts add NAME.")


@command(experts, "disable", example="eds labels experts disable expert-1")
@click.argument("name")
def disable(console: Console, name: str) -> None:
    """Sign an expert out and lock the account; labels stay."""
    console.project.experts.disable(name)
    console.answer({"expert": name, "disabled": True}, f"{name} is locked out; the labels stay.")


@command(experts, "enable", example="eds labels experts enable expert-1")
@click.argument("name")
def enable(console: Console, name: str) -> None:
    """Let a disabled expert sign in again."""
    console.project.experts.enable(name)
    console.answer({"expert": name, "disabled": False}, f"{name} may sign in again.")


@labels.group()
def campaigns() -> None:
    """Campaigns: which pairs a panel judges, and how."""


@command(campaigns, "add", example="eds labels campaigns add pool --origin pool --expert expert-1 --expert expert-2")
@click.argument("name")
@click.option("--expert", "experts", multiple=True, required=True, help="An expert of the panel; repeatable.")
@click.option("--origin", "origins", multiple=True, help="Only suspects of this origin; repeatable.")
@click.option("--undecided", is_flag=True, help="Only suspects without a decided label.")
@click.option("--experts-per-pair", type=click.IntRange(1), help="Experts who judge each pair (default: all).")
@click.option("--mode", type=one_of(choices.JudgingMode), default="pair", help="One pair, or a query's candidates.")
@click.option("--polarity", type=one_of(choices.Polarity), help="Grid: label of untouched candidates.")
@click.option("--guideline", default="", help="Version of the guideline; each label stores it.")
@click.option("--gold-share", type=share, help="Share of known pairs (default: grid 0.05, random 0.15).")
@click.option("--repeat-share", type=share, help="Share of pairs asked twice (default: grid 0.05).")
@click.option("--early-stop", is_flag=True, help="Stop asking once a pair's majority is certain.")
@click.option("--adaptive", is_flag=True, help="Ask further experts only where the label is unsure.")
@click.option("--control-share", type=share, default=0.1, help="With either: share of pairs that all judge.")
@click.option("--quality", type=one_of(choices.CampaignQuality), help="Set gold, repeats, early stop and practice.")
@click.option("--practice", type=click.IntRange(0), help="Known pairs before the first session (default: none).")
@click.option("--limit", type=click.IntRange(1), help="Only the first whole queries, with at most so many pairs.")
@click.option(
    "--pairs", type=click.Path(path_type=Path, exists=True), help="Only the pairs of a file (CSV or Parquet)."
)
@click.option("--question", default="", help="What the page asks (default: whether the two are similar).")
@click.option("--names", nargs=2, default=("", ""), help="What the page calls the query and the candidate.")
@click.option("--aspect", "aspects", multiple=True, help="An aspect that experts may name; repeatable.")
@click.option("--similar-from", type=click.IntRange(1, 3), help="Experts grade 0-3; similar from this grade on.")
@click.option("--notes", is_flag=True, help="Experts may write a note with an answer.")
@spending
def add_campaign(
    console: Console,
    name: str,
    experts: tuple[str, ...],
    origins: tuple[str, ...],
    undecided: bool,
    limit: int | None,
    pairs: Path | None,
    question: str,
    names: tuple[str, str],
    aspects: tuple[str, ...],
    similar_from: int | None,
    notes: bool,
    **plan: Any,
) -> None:
    """Let a panel of experts judge the suspects."""
    from eds.project.campaigns import CampaignPlan, Form

    form = Form(question, *names, aspects, similar_from, notes)
    settings = CampaignPlan(**plan, form=form)
    chosen: dict[str, Any] = {"origins": origins, "undecided": undecided, "limit": limit, "pairs": pairs}
    chosen["plan"] = settings
    if console.project.dry_run:
        console.show(console.project.campaigns.price(name, experts, **chosen), lambda price: f"This {price.text}.")
        return
    console.show_table(console.project.campaigns.create(name, experts, **chosen), NO_CAMPAIGNS)


@command(campaigns, "list", example="eds labels campaigns list", reads=True)
def list_campaigns(console: Console) -> None:
    """List campaigns and their settings."""
    table = console.project.campaigns.list()
    console.answer(table, lambda: render_campaigns(table) if len(table) else NO_CAMPAIGNS)


@command(campaigns, "join", example="eds labels campaigns join pool --expert expert-3")
@click.argument("name")
@click.option("--expert", "experts", multiple=True, required=True, help="Who joins; repeatable.")
def join(console: Console, name: str, experts: tuple[str, ...]) -> None:
    """Add experts to a panel; they share the open work."""
    console.show_table(console.project.campaigns.add_experts(name, experts), NO_CAMPAIGNS)


@command(campaigns, "leave", example="eds labels campaigns leave pool expert-1")
@click.argument("name")
@click.argument("expert")
def leave(console: Console, name: str, expert: str) -> None:
    """Remove an expert from a panel; the votes stay."""
    console.show_table(console.project.campaigns.remove_expert(name, expert), NO_CAMPAIGNS)


@command(campaigns, "adapt", example="eds labels campaigns adapt pool")
@click.argument("name")
def adapt(console: Console, name: str) -> None:
    """Update which pairs of an adaptive campaign need votes.

    From the labels decided so far, and from the control pairs, which everybody judges. Prints the votes that it saves,
    and how many labels of control pairs fewer votes would have turned.
    """
    console.show(console.project.campaigns.adapt(name), lambda result: result.text)


@command(campaigns, "close", example="eds labels campaigns close pool")
@click.argument("name")
def close(console: Console, name: str) -> None:
    """Close a campaign; answers not yet sent are still accepted."""
    console.project.campaigns.close(name)
    console.answer({"campaign": name, "closed": True}, f"{name} is closed.")


@command(campaigns, "reopen", example="eds labels campaigns reopen pool")
@click.argument("name")
def reopen(console: Console, name: str) -> None:
    """Reopen a closed campaign; its open work is assigned again."""
    console.project.campaigns.reopen(name)
    console.answer({"campaign": name, "closed": False}, f"{name} is open again.")


@command(campaigns, "show", example="eds labels campaigns show pool", reads=True)
@click.argument("name")
def show_campaign(console: Console, name: str) -> None:
    """Show progress, speed and the expected end."""
    console.show(console.project.campaigns.overview(name), render_overview)


@command(campaigns, "needs", example="eds labels campaigns needs pool --json", reads=True)
@click.argument("name")
def needs(console: Console, name: str) -> None:
    """List what needs a lead: speeders, drift, absentees, ties."""
    console.show(console.project.campaigns.needs(name), render_needs)


@command(campaigns, "disagreement", example="eds labels campaigns disagreement pool", reads=True)
@click.argument("name")
def disagreement(console: Console, name: str) -> None:
    """Show where and between whom experts disagree."""
    console.show(console.project.campaigns.disagreement(name), render_disagreement)


@command(labels, "status", example="eds labels status --campaign pool", reads=True)
@campaign
def status(console: Console, campaign: str | None) -> None:
    """Show what each expert has judged and has left.

    stopped: pairs that are settled and not asked any more; left_panel: 1 for an expert who left the panel.
    """
    console.show_table(console.project.campaigns.progress(campaign), NO_CAMPAIGNS)


@labels.group()
def guideline() -> None:
    """Versions of the guideline: what similar means."""


@command(guideline, "save", example="eds labels guideline save 2 similar.md --examples examples.csv")
@click.argument("version")
@click.argument("file", type=existing_file)
@click.option("--examples", type=existing_file, help="Table: query_id, candidate_id, kind, value, note.")
def save(console: Console, version: str, file: Path, examples: Path | None) -> None:
    """Save a Markdown text as a new version, which never changes."""
    count = console.project.guidelines.save(version, file, examples)
    console.answer({"version": version, "examples": count}, f"Guideline {version} is saved, with {count:,} examples.")


@command(guideline, "list", example="eds labels guideline list", reads=True)
def list_guidelines(console: Console) -> None:
    """List versions, with their campaigns and labels."""
    console.show_table(console.project.guidelines.list(), "No guideline yet: eds labels guideline save VERSION FILE.")


@command(guideline, "show", example="eds labels guideline show 2", reads=True)
@click.argument("version")
def show(console: Console, version: str) -> None:
    """Print a version's text and examples."""
    saved = console.project.guidelines.read(version)
    examples = [vars(example) for example in saved.examples]
    headings = ["query_id", "candidate_id", "kind", "value", "note"]
    rows = [[example[name] for name in headings] for example in examples]
    text = f"{saved.content}\n\n{format_table(headings, rows)}" if rows else saved.content
    console.answer({"version": version, "content": saved.content, "examples": examples}, text)


@command(guideline, "enforce", example="eds labels guideline enforce 2 --campaign pool")
@click.argument("version")
@click.option("--campaign", required=True, help="The campaign that follows it from now on.")
def enforce(console: Console, version: str, campaign: str) -> None:
    """Put a version in force; earlier labels keep theirs."""
    console.project.guidelines.enforce(version, campaign)
    console.answer({"campaign": campaign, "guideline": version}, f"{campaign} now follows guideline {version}.")


@labels.group()
def calibration() -> None:
    """Rounds of known pairs with feedback, before judging."""


@command(calibration, "plan", example="eds labels calibration plan pool --pairs 12 --needed 0.8")
@click.argument("campaign")
@click.option("--pairs", type=int, required=True, help="Pairs in a round; 0: no calibration.")
@click.option("--needed", type=share, default=0.8, help="Share that must be right.")
def plan(console: Console, campaign: str, pairs: int, needed: float) -> None:
    """Require rounds before judging, until enough is right."""
    console.project.calibration.plan(campaign, pairs, needed)
    rounds = f"with {pairs:,} pairs, {format_share(needed, 0)} of them right" if pairs else "no more"
    console.answer({"campaign": campaign, "pairs": pairs, "needed": needed}, f"{campaign} calibrates {rounds}.")


@command(calibration, "list", example="eds labels calibration list pool", reads=True)
@click.argument("campaign")
def list_rounds(console: Console, campaign: str) -> None:
    """List every expert's rounds and the share that was right."""
    console.show_table(console.project.calibration.results(campaign), "No calibration round yet.")


@command(calibration, "again", example="eds labels calibration again pool expert-1")
@click.argument("campaign")
@click.argument("expert")
def again(console: Console, campaign: str, expert: str) -> None:
    """Ask an expert for another round."""
    made = console.project.calibration.ask_again(campaign, expert)
    document = {"campaign": campaign, "expert": expert, "round": made.number, "pairs": made.size}
    console.answer(document, f"{expert} goes on with {campaign} after round {made.number}, of {made.size:,} pairs.")


@labels.group()
def gold() -> None:
    """Pairs with known answers, for calibration and checks."""


@command(gold, "add", example="eds labels gold add known.csv")
@click.argument("file", type=existing_file)
def add_gold(console: Console, file: Path) -> None:
    """Add known pairs: query_id, candidate_id, value."""
    new, known = console.project.labels.add_gold(file)
    console.answer({"added": new, "known": known}, f"{new:,} of {known:,} gold pairs are new.")


@command(gold, "list", example="eds labels gold list --json", reads=True)
def list_gold(console: Console) -> None:
    """List known pairs; do not show them to experts."""
    console.show_table(console.project.labels.gold(), "No gold yet: eds labels gold add FILE.")


@labels.group()
def flags() -> None:
    """Pairs that experts set aside with a reason."""


@command(flags, "list", example="eds labels flags list --campaign pool", reads=True)
@campaign
def list_flags(console: Console, campaign: str | None) -> None:
    """List open flags, with the expert's own answer."""
    console.show_table(console.project.labels.flags(campaign), "No flag is open.")


@command(flags, "resolve", example="eds labels flags resolve 12 --again")
@click.argument("number", type=int)
@click.option("--again", is_flag=True, help="Ask the expert once more.")
@click.option("--by", help="Who resolves it, for the audit log.")
def resolve(console: Console, number: int, again: bool, by: str | None) -> None:
    """Mark a flag as resolved; no label changes."""
    now = console.project.labels.resolve_flag(number, again=again, by=by)
    text = "is resolved" if now else "was resolved before; nothing changed"
    console.answer({"flag": number, "resolved": True, "already": not now}, f"Flag {number} {text}.")


@command(
    labels,
    "adjudicate",
    example="eds labels adjudicate q1 c7 --campaign pool --value different --by lead-1 --note sleeves",
)
@click.argument("query_id")
@click.argument("candidate_id")
@click.option("--campaign", required=True, help="The campaign that asks this pair.")
@click.option("--value", type=click.Choice(list(VALUES)), required=True, help="The decision, or withdraw it.")
@click.option("--by", required=True, help="The lead who decides.")
@click.option("--note", default="", help="The reason, for the audit log.")
def adjudicate(
    console: Console, query_id: str, candidate_id: str, campaign: str, value: str, by: str, note: str
) -> None:
    """Record a lead's decision beside the votes."""
    label = console.project.labels.adjudicate(query_id, candidate_id, campaign, VALUES[value], by=by, note=note)
    console.answer(
        {"query_id": query_id, "candidate_id": candidate_id, "value": VALUES[value], "label_id": label},
        f"{by} decided {query_id} {candidate_id}: {value}. The votes are unchanged; the decision counts with the next "
        "eds truth decide (--no-adjudication leaves it out).",
    )


@command(labels, "audit", example="eds labels audit --json", reads=True)
def audit(console: Console) -> None:
    """List administrative actions: when, who, what, to whom."""
    console.show_table(console.project.labels.audit(), "No administrative actions yet.")


@command(labels, "import", example="eds labels import votes.csv --campaign crowd --new-experts --values yes=1,no=0")
@click.argument("file", type=existing_file)
@click.option("--campaign", required=True, help="The campaign of the votes; it is created if it is new.")
@click.option("--map", "columns", type=Columns(), default="", help="Our columns in the file: ours=theirs,...")
@click.option(
    "--values", type=Columns(), metavar="TEXT=ANSWER,...", default="", help="Answers mean similar, different or unsure."
)
@click.option("--new-experts", is_flag=True, help="Add experts who have no account yet.")
@click.option("--new-pairs", is_flag=True, help="Accept pairs that are not suspects.")
@votes_format
def import_(console: Console, file: Path, campaign: str, **options: Any) -> None:
    """Import votes from a file: all of them, or none.

    Columns: query_id, candidate_id, expert_id, value (1 similar, 0 not, empty unsure); if there are any, seconds,
    created_at, vote_id, supersedes, kind, session_id, guideline. Usual names of others (query, candidate, annotator,
    label, ...), semicolons and tabs, and answers such as yes and no are recognised, and the answer says how. Ids that
    are not images are always refused. An import can be voided: eds labels imports void NUMBER.
    """
    console.show(console.project.labels.import_votes(file, campaign, **options), render_imported)


@labels.group()
def imports() -> None:
    """Imports of votes, which a lead can void."""


@command(imports, "list", example="eds labels imports list", reads=True)
def list_imports(console: Console) -> None:
    """List imports: file, campaign, votes, void or not."""
    console.show_table(console.project.labels.imports(), "No votes were imported.")


@command(imports, "void", example="eds labels imports void 2 --note 'columns were swapped'")
@click.argument("number", type=int)
@click.option("--again", is_flag=True, help="Let a void import count again.")
@click.option("--note", default="", help="The reason.")
def void(console: Console, number: int, again: bool, note: str) -> None:
    """Void an import: its votes no longer count; none is deleted."""
    console.show(console.project.labels.void_import(number, void=not again, note=note), render_voided)


@command(labels, "export", example="eds labels export votes.parquet --campaign pool")
@click.argument("file", type=new_file)
@campaign
@as_of
@votes_format
def export(console: Console, file: Path, **options: Any) -> None:
    """Export all judgements to a file (crowdkit: current ones)."""
    count = console.project.labels.export_votes(file, **options)
    console.answer({"judgements": count, "file": str(file)}, f"Wrote {count:,} judgements to {file}.")


@command(labels, "backup", example="eds labels backup labels-monday.zip")
@click.argument("file", type=new_file)
def backup(console: Console, file: Path) -> None:
    """Back up all labels to one file, while experts work."""
    made = console.project.labels.back_up(file)
    console.answer(
        {"file": str(file), **vars(made)}, f"Saved {made.labels:,} judgements to {file}. It holds password hashes."
    )


@command(labels, "restore", example="eds labels restore labels-monday.zip")
@click.argument("file", type=existing_file)
@click.option("--replace", is_flag=True, help="Replace labels.db; the old file is renamed.")
def restore(console: Console, file: Path, replace: bool) -> None:
    """Restore a backup into a new or empty label store."""
    made = console.project.labels.restore(file, replace=replace)
    console.answer(vars(made), f"Restored {made.labels:,} judgements of {made.made_at}.")


@command(labels, "upgrade", example="eds labels upgrade")
@click.option("--backup", type=new_file, help="Where the backup goes (default: beside the labels).")
def upgrade(console: Console, backup: Path | None) -> None:
    """Upgrade labels of an older eds, after a backup."""
    console.show(
        console.project.labels.upgrade(backup),
        lambda done: (
            f"Schema {done.before} "
            + ("is the newest; its triggers were renewed" if done.before == done.after else f"is now {done.after}")
            + f"; backup: {done.backup}"
        ),
    )
