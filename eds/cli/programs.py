"""`eds labels tokens` and `eds labels webhooks`: what programs use beside the pages."""

from typing import TYPE_CHECKING

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import one_of

if TYPE_CHECKING:
    from eds.project.experts import NewApiToken
    from eds.project.webhooks import NewWebhook


@click.group()
def tokens() -> None:
    """Tokens of the API: a program acts as an account."""


@command(tokens, "make", example="eds labels tokens make lead-1 --label nightly")
@click.argument("name")
@click.option("--label", required=True, help="What the token is for.")
@click.option("--days", type=click.FloatRange(0, 366, min_open=True), default=90.0, help="Days until it expires.")
def make(console: Console, name: str, label: str, days: float) -> None:
    """Make a token and print it; it is not shown again."""
    console.show(console.project.experts.make_token(name, label, days=days), _render_token)


@command(tokens, "list", example="eds labels tokens list lead-1", reads=True)
@click.argument("name")
def list_tokens(console: Console, name: str) -> None:
    """List the valid tokens of an account."""
    console.show_table(console.project.experts.tokens(name), f"No tokens: eds labels tokens make {name} --label LABEL.")


@command(tokens, "revoke", example="eds labels tokens revoke lead-1 3")
@click.argument("name")
@click.argument("number", type=int)
def revoke(console: Console, name: str, number: int) -> None:
    """End a token."""
    console.project.experts.revoke_token(name, number)
    console.answer({"expert": name, "revoked": number}, f"Token {number} of {name} is revoked.")


@click.group()
def webhooks() -> None:
    """Webhooks: send labels and finished campaigns to programs."""


@command(webhooks, "add", example="eds labels webhooks add https://hooks.example.com/eds")
@click.argument("url")
@click.option(
    "--event", "events", multiple=True, type=one_of(choices.WebhookEvent), help="What is sent (default: all)."
)
def add(console: Console, url: str, events: tuple[str, ...]) -> None:
    """Add a webhook and print the secret that signs it."""
    verbs = console.project.webhooks
    console.show(verbs.add(url, events) if events else verbs.add(url), _render_webhook)


@command(webhooks, "list", example="eds labels webhooks list", reads=True)
def list_webhooks(console: Console) -> None:
    """List webhooks and why the last tries failed."""
    console.show_table(console.project.webhooks.list(), "No webhooks: eds labels webhooks add URL.")


@command(webhooks, "remove", example="eds labels webhooks remove 1")
@click.argument("number", type=int)
def remove(console: Console, number: int) -> None:
    """Send nothing more to a webhook."""
    console.project.webhooks.remove(number)
    console.answer({"removed": number}, f"Webhook {number} is removed.")


@command(webhooks, "deliver", example="eds labels webhooks deliver")
def deliver(console: Console) -> None:
    """Deliver once what is waiting; the annotator does so too."""
    count = console.project.webhooks.deliver()
    console.answer({"delivered": count}, f"{count:,} deliveries were confirmed.")


def _render_token(made: "NewApiToken") -> str:
    return f"{made.token}\nIt acts as {made.expert} for {made.days:g} days, and is not shown again."


def _render_webhook(made: "NewWebhook") -> str:
    return f"{made.secret}\nThis secret signs what webhook {made.number} sends to {made.url}. It is not shown again."
