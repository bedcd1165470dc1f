"""`eds labels`: experts, campaigns, and the judgements themselves: in, out, saved and brought back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command, lined
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store

BY = "command line"  # who the audit log says it was
PATIENCE = 3.0  # seconds that somebody at a terminal waits for a server that does not answer
NEW = click.Path(path_type=Path, dir_okay=False)
OLD = click.Path(path_type=Path, dir_okay=False, exists=True)
FORMATS = click.Choice(["csv", "jsonl", "parquet", "crowdkit"])
kind = click.option("--format", "kind", type=FORMATS, help="The file's format (default: its ending).")
share = click.FloatRange(0, 1)


@click.group()
def labels() -> None:
    """Keep every judgement: experts, campaigns, import, export, backup."""


@labels.group()
def experts() -> None:
    """Accounts of those who judge."""


@labels.group()
def campaigns() -> None:
    """Which pairs a panel judges, and how."""


@command(experts, "add", example="eds labels experts add maria --role lead")
@click.argument("name")
@click.option("--role", type=click.Choice(["expert", "lead", "administrator"]), default="expert", help="What they may.")
@click.option("--hours", type=float, default=72.0, help="How long the invitation holds.")
def add(console: Console, name: str, role: str, hours: float) -> None:
    """Make an account and an invitation, with which the expert chooses a password, once."""
    from eds.labels.experts import add_expert, invite

    with opened_store(console, create=True) as store:
        add_expert(store, name, role, by=BY)
        _tell_invitation(console, name, invite(store, name, hours=hours, by=BY), hours)


@command(experts, "invite", example="eds labels experts invite maria")
@click.argument("name")
@click.option("--hours", type=float, default=72.0, help="How long the invitation holds.")
def invite(console: Console, name: str, hours: float) -> None:
    """Make a new invitation (a forgotten password); earlier ones end."""
    from eds.labels.experts import invite as make

    with opened_store(console) as store:
        _tell_invitation(console, name, make(store, name, hours=hours, by=BY), hours)


@command(experts, "list", example="eds labels experts list --json")
def list_(console: Console) -> None:
    """List every expert: role, state, number of judgements."""
    from eds.labels.experts import list_experts

    with opened_store(console) as store:
        _tell_frame(console, list_experts(store), "No experts yet: eds labels experts add NAME.")


@command(experts, "disable", example="eds labels experts disable maria")
@click.argument("name")
def disable(console: Console, name: str) -> None:
    """Lock an expert out at once, everywhere; every label stays."""
    from eds.labels.experts import disable as act

    with opened_store(console) as store:
        act(store, name, by=BY)
    console.answer({"expert": name, "disabled": True}, f"{name} is locked out; the labels stay.")


@command(experts, "enable", example="eds labels experts enable maria")
@click.argument("name")
def enable(console: Console, name: str) -> None:
    """Let a disabled expert in again."""
    from eds.labels.experts import enable as act

    with opened_store(console) as store:
        act(store, name, by=BY)
    console.answer({"expert": name, "disabled": False}, f"{name} may sign in again.")


@command(campaigns, "add", example="eds labels campaigns add pool --origin pool --expert maria --expert jan")
@click.argument("name")
@click.option("--expert", "panel", multiple=True, required=True, help="An expert of the panel; give it several times.")
@click.option("--origin", "origins", multiple=True, help="Only suspects of this origin; may be given several times.")
@click.option(
    "--mode", type=click.Choice(["pair", "grid"]), default="pair", help="One pair at a time, or a query's all."
)
@click.option(
    "--polarity", type=click.Choice(["similar", "different"]), help="Grid: what an untouched candidate means."
)
@click.option("--guideline", default="", help="Version of the guideline; every label stores it.")
@click.option("--gold-share", type=share, default=0.0, help="Known pairs mixed in, as a share of the pairs.")
@click.option("--repeat-share", type=share, default=0.0, help="Pairs asked a second time, as a share.")
@click.option("--early-stop", is_flag=True, help="Ask no further when a pair's majority is certain.")
@click.option("--control-share", type=share, default=0.1, help="With early stop: pairs that everybody judges.")
def campaign(
    console: Console,
    name: str,
    panel: tuple[str, ...],
    origins: tuple[str, ...],
    mode: str,
    polarity: str | None,
    guideline: str,
    gold_share: float,
    repeat_share: float,
    early_stop: bool,
    control_share: float,
) -> None:
    """Let a panel judge the project's suspects."""
    from eds.labels.campaigns import Plan, create_campaign

    suspects = console.project.read("suspects")
    if origins:
        suspects = suspects[suspects["origin"].isin(origins)]
    if not len(suspects):
        raise InputError("no suspects are of that origin", where="--origin", do="See eds suspects list.")
    seed = console.project.config.project.seed
    plan = Plan(name, mode, polarity, guideline, seed, gold_share, repeat_share, early_stop, control_share)
    with opened_store(console, create=True) as store:
        create_campaign(store, plan, suspects, panel, by=BY)
        _tell_status(console, store, name)


@command(campaigns, "list", example="eds labels campaigns list")
def list_campaigns(console: Console) -> None:
    """List every campaign with its settings."""
    from eds.labels.queue import list_campaigns as find

    with opened_store(console) as store:
        _tell_frame(console, find(store), "No campaigns yet: eds labels campaigns add NAME.")


@command(campaigns, "close", example="eds labels campaigns close pool")
@click.argument("name")
def close(console: Console, name: str) -> None:
    """Hand out no more of a campaign; labels on their way are kept."""
    from eds.labels.campaigns import close_campaign

    with opened_store(console) as store:
        close_campaign(store, name, by=BY)
    console.answer({"campaign": name, "closed": True}, f"{name} is closed.")


@command(labels, "status", example="eds labels status --campaign pool")
@click.option("--campaign", "name", help="Only this campaign.")
def status(console: Console, name: str | None) -> None:
    """Tell, for each campaign and expert, what is judged and what is left."""
    with opened_store(console) as store:
        _tell_status(console, store, name)


@command(labels, "import", example="eds labels import votes.csv --campaign crowd --add-missing")
@click.argument("file", type=OLD)
@click.option("--campaign", "name", required=True, help="The campaign that takes them.")
@click.option("--add-missing", is_flag=True, help="Enter experts, pairs and the campaign that are not known yet.")
@kind
def import_(console: Console, file: Path, name: str, add_missing: bool, kind: str | None) -> None:
    """Take votes from a file: all of them, or every fault is told by row."""
    from eds.labels import votes
    from eds.labels.transfer import import_votes

    frame = votes.read(file, votes.format_of(file, kind))
    with opened_store(console, create=True) as store:
        done = import_votes(store, frame, name, add_missing=add_missing, where=str(file), by=BY)
    dropped = f"; columns left out: {', '.join(done.dropped)}" if done.dropped else ""
    console.answer(
        {"added": done.added, "already": done.already, "dropped": list(done.dropped)},
        f"{done.added:,} votes are new, {done.already:,} were there already{dropped}",
    )


@command(labels, "export", example="eds labels export votes.parquet --campaign pool")
@click.argument("file", type=NEW)
@click.option("--campaign", "name", help="Only this campaign.")
@click.option("--as-of", metavar="TIME", help="Only acts up to this moment (ISO 8601; UTC unless it says else).")
@kind
def export(console: Console, file: Path, name: str | None, as_of: str | None, kind: str | None) -> None:
    """Write every act to a file (crowdkit: every answer in force)."""
    from eds.labels.transfer import export_votes

    with opened_store(console) as store:
        count = export_votes(store, file, kind, only=name, as_of=_moment(as_of))
    console.answer({"acts": count, "file": str(file)}, f"{count:,} acts: {file}")


@command(labels, "backup", example="eds labels backup labels-monday.zip")
@click.argument("file", type=NEW)
def backup(console: Console, file: Path) -> None:
    """Save everything to one file, while experts go on working."""
    from eds.labels.backup import back_up

    with opened_store(console) as store:
        made = back_up(store, file)
    console.answer(
        {"file": str(file), **vars(made)}, f"{made.labels:,} acts are saved: {file} (it holds password hashes)"
    )


@command(labels, "restore", example="eds labels restore labels-monday.zip")
@click.argument("file", type=OLD)
@click.option("--replace", is_flag=True, help="Put it in the place of labels.db, which is kept under another name.")
def restore(console: Console, file: Path, replace: bool) -> None:
    """Bring a backup back: into a new labels.db or an empty PostgreSQL database."""
    with _needed():
        from eds.labels.backup import restore as act

    made = act(file, _url(console), replace=replace)
    console.answer(vars(made), f"{made.labels:,} acts of {made.made_at} are back.")


@command(labels, "upgrade", example="eds labels upgrade")
@click.option("--backup", "file", type=NEW, help="Where the backup goes (default: beside the project's labels).")
def upgrade(console: Console, file: Path | None) -> None:
    """Bring the labels of an older eds to this one's schema, after a backup."""
    with _needed():
        from eds.labels.backup import upgrade_store

    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    saved = file or console.project.root / f"labels-before-upgrade-{stamp}.zip"
    before = upgrade_store(_url(console), saved)
    console.answer({"from": before, "backup": str(saved)}, f"Schema {before} is upgraded; backup: {saved}")


@contextmanager
def opened_store(console: Console, *, create: bool = False) -> "Iterator[Store]":
    """The project's label store, for the length of a block."""
    with _needed():
        from eds.labels.store import open_store

    store = open_store(_url(console), create=create, patience=PATIENCE)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"labels need the package {error.name}, which is not installed", do='Run: pip install "eds[labels]".'
        ) from error


def _url(console: Console) -> str | Path:
    return console.project.config.labels.url or console.project.path("labels")


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no time", where="--as-of", do="Write it as 2026-05-01T12:00:00Z.") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _tell_invitation(console: Console, name: str, token: str, hours: float) -> None:
    console.answer(
        {"expert": name, "invitation": token, "hours": hours},
        f"Invitation for {name}, works once, for {hours:g} hours (it is shown only now): {token}",
    )


def _tell_status(console: Console, store: "Store", name: str | None) -> None:
    from eds.labels.queue import progress

    _tell_frame(console, progress(store, name), "No campaigns yet: eds labels campaigns add NAME.")


def _tell_frame(console: Console, frame: "pd.DataFrame", if_empty: str) -> None:
    shown = frame.astype(object).where(frame.notna(), None)

    def text() -> str:
        return lined(list(shown.columns), shown.to_numpy().tolist()) if len(shown) else if_empty

    console.answer(frame, text)
