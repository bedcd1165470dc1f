"""`eds labels experts`: the accounts of those who judge."""

import click

from eds.cli.console import Console, command
from eds.cli.label_store import tell_found
from eds.project.label_store import BY, opened


@click.group()
def experts() -> None:
    """Accounts of those who judge."""


@command(experts, "add", example="eds labels experts add lead-1 --role lead")
@click.argument("name")
@click.option("--role", type=click.Choice(["expert", "lead", "administrator"]), default="expert", help="What they may.")
@click.option("--hours", type=float, default=72.0, help="How long the invitation holds.")
def add(console: Console, name: str, role: str, hours: float) -> None:
    """Make an account and an invitation, with which the expert chooses a password, once."""
    from eds.labels.experts import add_expert, invite

    with opened(console.project, create=True) as store:
        add_expert(store, name, role, by=BY)
        _tell_invitation(console, name, invite(store, name, hours=hours, by=BY), hours)


@command(experts, "invite", example="eds labels experts invite expert-1")
@click.argument("name")
@click.option("--hours", type=float, default=72.0, help="How long the invitation holds.")
def invite(console: Console, name: str, hours: float) -> None:
    """Make a new invitation (a forgotten password); earlier ones end."""
    from eds.labels.experts import invite as make

    with opened(console.project) as store:
        _tell_invitation(console, name, make(store, name, hours=hours, by=BY), hours)


@command(experts, "list", example="eds labels experts list --json")
def list_(console: Console) -> None:
    """List every expert: role, state, number of judgements."""
    from eds.labels.experts import list_experts

    tell_found(console, list_experts, "No experts yet: eds labels experts add NAME.")


@command(experts, "disable", example="eds labels experts disable expert-1")
@click.argument("name")
def disable(console: Console, name: str) -> None:
    """Lock an expert out at once, everywhere; every label stays."""
    from eds.labels.experts import disable as act

    with opened(console.project) as store:
        act(store, name, by=BY)
    console.answer({"expert": name, "disabled": True}, f"{name} is locked out; the labels stay.")


@command(experts, "enable", example="eds labels experts enable expert-1")
@click.argument("name")
def enable(console: Console, name: str) -> None:
    """Let a disabled expert in again."""
    from eds.labels.experts import enable as act

    with opened(console.project) as store:
        act(store, name, by=BY)
    console.answer({"expert": name, "disabled": False}, f"{name} may sign in again.")


def _tell_invitation(console: Console, name: str, token: str, hours: float) -> None:
    console.answer(
        {"expert": name, "invitation": token, "hours": hours},
        f"Invitation for {name}, works once, for {hours:g} hours (it is shown only now): {token}",
    )
