"""`eds undo`: the journal, and taking back what nobody has judged."""

import sys
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command
from eds.cli.render import count, format_table
from eds.errors import DeclinedError

if TYPE_CHECKING:
    from eds.project.undo import JournalResult, UndoResult


@command(None, "undo", example="eds undo --dry-run")
@click.argument("entry", required=False)
@click.option("--list", "show_list", is_flag=True, help="List what can be undone, and what was.")
@click.option("--yes", is_flag=True, envvar="EDS_YES", help="Do not ask, for scripts.")
def undo(console: Console, entry: str | None, show_list: bool, yes: bool) -> None:
    """Undo a draw, campaign, import or duplicate decision.

    What nobody has judged is taken back, by default of the last entry; judgements are never deleted.
    """
    if show_list:
        console.show(console.project.journal(), render_journal)
        return
    if console.dry_run:
        console.show(console.project.undo(entry), render_undo)
        return
    plan = console.project.undo(entry, dry_run=True)
    if not yes:
        question = render_undo(plan)
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise DeclinedError(question.splitlines()[0].rstrip("."), hint="Nothing was undone; --yes undoes it.")
        if not click.confirm(f"{question}\nGo on?", err=True):
            raise DeclinedError("nothing was undone")
    console.show(console.project.undo(plan.entry.name), render_undo)


def render_journal(result: "JournalResult") -> str:
    """A row for each entry, newest first."""
    rows = [
        [one.name, f"{one.at[:19]}Z", one.actor, one.pairs, "undone" if one.undone else "", one.what]
        for one in reversed(result.entries)
    ]
    if not rows:
        return "Nothing was drawn, pooled, asked or imported since the journal is kept."
    return format_table(["entry", "when (UTC)", "by", "pairs", "", "what"], rows)


def render_undo(result: "UndoResult") -> str:
    """What is taken back, and what stays."""
    verb = "Took back" if result.done else "Would take back"
    entry = result.entry
    if entry.name.startswith("votes-"):
        lines = [f"{verb} {count(result.taken_back, 'vote')}: {entry.what} ({entry.name})."]
    elif entry.name.startswith("duplicates-"):
        lines = [f"{verb} {count(result.taken_back, 'decision')} about near duplicates: {entry.what} ({entry.name})."]
    else:
        lines = [f"{verb} {count(result.taken_back, 'pair')} that nobody has judged: {entry.what} ({entry.name})."]
        if result.judged:
            lines.append(f"Judged, so their votes and labels stay: {count(result.judged, 'pair')}.")
        if result.returned:
            lines.append(f"Back, as it had taken them away: {count(result.returned, 'pair')}.")
        if result.judgements_saved:
            lines.append(f"Fewer to make: {count(result.judgements_saved, 'judgement')}.")
    return "\n".join([*lines, *([result.note] if result.note else [])])
