"""Every text of the page about programs: tokens of the API, and webhooks."""

from typing import ClassVar

from annotator_ui.translation import Texts


class PROGRAMS(Texts):
    """Tokens of one's own, and for leads the project's webhooks."""

    title = "API"
    about = "Programs that add pairs, follow campaigns and fetch votes."
    document = "Documentation of the API"
    tokens = "Tokens"
    tokens_about = "A program with a token acts as you, with your rights."
    none = "No tokens yet."
    columns: ClassVar = {"number": "No.", "label": "For", "created_at": "Made", "expires_at": "Valid until"}
    label = "What the token is for"
    days = "Days until it expires"
    make = "Make token"
    made = "Copy the token now: it is not shown again."
    which = "Token"
    revoke = "Revoke"
    revoked = "The token is revoked."
    webhooks = "Webhooks"
    webhooks_about = (
        "Each new label, and the end of a campaign, is sent to these addresses. They must be public and use https."
    )
    no_webhooks = "No webhooks yet."
    webhook_columns: ClassVar = {
        "number": "No.",
        "url": "Address",
        "events": "Events",
        "failures": "Failed tries",
        "problem": "Last problem",
    }
    url = "Address"
    events = "Events"
    add = "Add webhook"
    added = "Copy the secret that signs its deliveries now: it is not shown again."
    which_webhook = "Webhook"
    remove = "Remove"
    removed = "The webhook is removed."
