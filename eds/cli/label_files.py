"""`eds labels import`, `export`, `backup`, `restore`, `upgrade`: judgements in, out, saved and brought back."""

from datetime import UTC, datetime
from pathlib import Path

import click

from eds.cli.console import Console, command
from eds.project.label_store import BY, address, moment, needed, opened

NEW = click.Path(path_type=Path, dir_okay=False)
OLD = click.Path(path_type=Path, dir_okay=False, exists=True)
FORMATS = click.Choice(["csv", "jsonl", "parquet", "crowdkit"])
kind = click.option("--format", "kind", type=FORMATS, help="The file's format (default: its ending).")


@command(None, "import", example="eds labels import votes.csv --campaign crowd --add-missing")
@click.argument("file", type=OLD)
@click.option("--campaign", "name", required=True, help="The campaign that takes them.")
@click.option("--add-missing", is_flag=True, help="Enter experts, pairs and the campaign that are not known yet.")
@kind
def import_(console: Console, file: Path, name: str, add_missing: bool, kind: str | None) -> None:
    """Take votes from a file: all of them, or every fault is told by row."""
    from eds.labels import vote_files
    from eds.labels.transfer import import_votes

    frame = vote_files.read(file, vote_files.format_of(file, kind))
    with opened(console.project, create=True) as store:
        done = import_votes(store, frame, name, add_missing=add_missing, where=str(file), by=BY)
    dropped = f"; columns left out: {', '.join(done.dropped)}" if done.dropped else ""
    console.answer(
        {"added": done.added, "already": done.already, "dropped": list(done.dropped)},
        f"{done.added:,} votes are new, {done.already:,} were there already{dropped}",
    )


@command(None, "export", example="eds labels export votes.parquet --campaign pool")
@click.argument("file", type=NEW)
@click.option("--campaign", "name", help="Only this campaign.")
@click.option("--as-of", metavar="TIME", help="Only acts up to this moment (ISO 8601; UTC unless it says else).")
@kind
def export(console: Console, file: Path, name: str | None, as_of: str | None, kind: str | None) -> None:
    """Write every act to a file (crowdkit: every answer in force)."""
    from eds.labels.transfer import export_votes

    with opened(console.project) as store:
        count = export_votes(store, file, kind, only=name, as_of=moment(as_of))
    console.answer({"acts": count, "file": str(file)}, f"{count:,} acts: {file}")


@command(None, "backup", example="eds labels backup labels-monday.zip")
@click.argument("file", type=NEW)
def backup(console: Console, file: Path) -> None:
    """Save everything to one file, while experts go on working."""
    from eds.labels.backup import back_up

    with opened(console.project) as store:
        made = back_up(store, file)
    console.answer(
        {"file": str(file), **vars(made)}, f"{made.labels:,} acts are saved: {file} (it holds password hashes)"
    )


@command(None, "restore", example="eds labels restore labels-monday.zip")
@click.argument("file", type=OLD)
@click.option("--replace", is_flag=True, help="Put it in the place of labels.db, which is kept under another name.")
def restore(console: Console, file: Path, replace: bool) -> None:
    """Bring a backup back: into a new labels.db or an empty PostgreSQL database."""
    with needed():
        from eds.labels.backup import restore as act

    made = act(file, address(console.project), replace=replace)
    console.answer(vars(made), f"{made.labels:,} acts of {made.made_at} are back.")


@command(None, "upgrade", example="eds labels upgrade")
@click.option("--backup", "file", type=NEW, help="Where the backup goes (default: beside the project's labels).")
def upgrade(console: Console, file: Path | None) -> None:
    """Bring the labels of an older eds to this one's schema, after a backup."""
    with needed():
        from eds.labels.backup import upgrade_store
        from eds.labels.migrate import newest

    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    saved = file or console.project.root / f"labels-before-upgrade-{stamp}.zip"
    before = upgrade_store(address(console.project), saved)
    done = "is the newest already; its guards were made anew" if before == newest() else f"is upgraded to {newest()}"
    console.answer({"from": before, "to": newest(), "backup": str(saved)}, f"Schema {before} {done}; backup: {saved}")
