"""`eds labels flags` and `adjudicate`: what experts set aside with a reason, and what a lead decides."""

import uuid

import click

from eds.cli.console import Console, command
from eds.cli.label_store import tell_found
from eds.project.label_store import BY, opened

VALUES = {"similar": 1, "different": 0, "withdrawn": None}


@click.group()
def flags() -> None:
    """Tasks that experts set aside with a reason."""


@command(flags, "list", example="eds labels flags list --campaign pool")
@click.option("--campaign", "name", help="Only this campaign.")
def list_(console: Console, name: str | None) -> None:
    """List the flags nobody has resolved, with the expert's own answer if there is one."""
    from eds.labels.flags import open_flags

    tell_found(console, lambda store: open_flags(store, name), "No flag is open.")


@command(flags, "resolve", example="eds labels flags resolve 12 --again")
@click.argument("number", type=int)
@click.option("--again", is_flag=True, help="Put the question to the expert once more.")
@click.option("--by", default=BY, help="Who resolves it: kept with the flag and in the audit log.")
def resolve(console: Console, number: int, again: bool, by: str) -> None:
    """Say that a flag is dealt with; no label changes."""
    from eds.labels.flags import resolve_flag

    with opened(console.project) as store:
        now = resolve_flag(store, number, by=by, again=again)
    told = "is resolved" if now else "was resolved before; nothing changed"
    console.answer({"flag": number, "resolved": True, "already": not now}, f"Flag {number} {told}.")


@command(
    None,
    "adjudicate",
    example="eds labels adjudicate q1 c7 --campaign pool --value different --by lead-1 --note sleeves",
)
@click.argument("query_id")
@click.argument("candidate_id")
@click.option("--campaign", "name", required=True, help="The campaign that asks this pair.")
@click.option("--value", type=click.Choice(list(VALUES)), required=True, help="The decision; or take one back.")
@click.option("--by", required=True, help="The lead who decides.")
@click.option("--note", default="", help="Why; it is kept in the audit log.")
def adjudicate(
    console: Console, query_id: str, candidate_id: str, name: str, value: str, by: str, note: str
) -> None:  # fmt: skip
    """Keep a lead's decision on a pair, beside the votes; eds truth decide --adjudicated lets it count."""
    from eds.labels.adjudication import adjudicate as act

    with opened(console.project) as store:
        made = act(store, name, query_id, candidate_id, VALUES[value], by=by, token=str(uuid.uuid4()), note=note)
    console.answer(
        {"query_id": query_id, "candidate_id": candidate_id, "value": VALUES[value], "label_id": made.token},
        f"{by} decided {query_id} {candidate_id}: {value}. The votes stay as they are.",
    )
