"""Webhooks in the store: where to, how far each was delivered, and what is waiting.

A webhook keeps the last act that its receiver has confirmed, so nothing is lost while the receiver or the server is
down, and an act may come twice. Acts are waiting once they are `SETTLED` old: on PostgreSQL a smaller number may be
committed after a larger one. Several servers over one database share the work: `claim` gives a webhook to one of them.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import pandas as pd
import sqlalchemy as sa

from eds.choices import WebhookEvent
from eds.errors import InputError
from eds.labels import audit
from eds.labels.bulk import frame
from eds.labels.frames import acts_after
from eds.labels.permissions import check_lead
from eds.labels.queue import progress
from eds.labels.schema import campaign, label_event, webhook, webhook_finished
from eds.labels.sessions import SECOND
from eds.labels.store import Store

EVENTS: tuple[str, ...] = get_args(WebhookEvent)
SETTLED = 10 * SECOND
CLAIM = 120 * SECOND  # that one server has for a delivery
FIRST_WAIT, LONGEST_WAIT = 5 * SECOND, 3600 * SECOND  # between two tries
MOST_ACTS = 100  # of one delivery
MOST = 20  # webhooks of a project


@dataclass(frozen=True)
class Claimed:
    """A webhook that this server delivers to now."""

    number: int
    url: str
    events: tuple[str, ...]
    secret: str
    delivered: int  # the last act that its receiver has confirmed
    failures: int  # tries since then


def add_webhook(store: Store, url: str, events: Sequence[str], *, by: str) -> tuple[int, str]:
    """Add a webhook for what happens from now on; its number, and the secret that signs what it sends."""
    if unknown := sorted(set(events) - set(EVENTS)):
        raise InputError(f"unknown event {unknown[0]}", where="events", hint=f"There are {', '.join(EVENTS)}.")
    secret = "whsec_" + secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "add a webhook")
        if connection.execute(sa.select(sa.func.count()).select_from(webhook)).scalar_one() >= MOST:
            raise InputError(f"there are {MOST} webhooks", where="webhook", hint="Remove one first.")
        last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(label_event.c.id), 0))).scalar_one()
        row = {
            "url": url,
            "events": ",".join(event for event in EVENTS if event in events),
            "secret": secret,
            "created_by": by,
            "created_at": store.now(),
            "delivered": last,
        }
        number = connection.execute(sa.insert(webhook).values(row).returning(webhook.c.id)).scalar_one()
        audit.note(connection, store.now(), by, "add webhook", str(number), url=url)
        return int(number)

    return store.write(act), secret


def list_webhooks(store: Store) -> pd.DataFrame:
    """Return every webhook, oldest first: its address, and how often and why the last tries failed."""
    query = sa.select(
        webhook.c.id.label("number"),
        webhook.c.url,
        webhook.c.events,
        webhook.c.created_by,
        webhook.c.created_at,
        webhook.c.failures,
        webhook.c.problem,
    ).order_by(webhook.c.id)
    return store.read(lambda connection: frame(connection, query, "created_at"))


def remove_webhook(store: Store, number: int, *, by: str) -> None:
    """Send nothing more to a webhook."""

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "remove a webhook")
        connection.execute(sa.delete(webhook_finished).where(webhook_finished.c.webhook == number))
        if connection.execute(sa.delete(webhook).where(webhook.c.id == number)).rowcount != 1:
            raise InputError(f"there is no webhook {number}", where="webhook", hint="See eds labels webhooks list.")
        audit.note(connection, store.now(), by, "remove webhook", str(number))

    store.write(act)


def claim(store: Store) -> list[Claimed]:
    """Return the webhooks that are due and have acts waiting; until CLAIM is over nobody else gets them."""
    now = store.now()
    waiting = sa.exists().where(label_event.c.id > webhook.c.delivered, label_event.c.created_at <= now - SETTLED)
    columns = (webhook.c.url, webhook.c.events, webhook.c.secret, webhook.c.delivered, webhook.c.failures)
    query = sa.select(webhook.c.id, *columns).where(webhook.c.next_at <= now, waiting)
    due = store.read(lambda connection: connection.execute(query).all())
    if not due:
        return []

    def act(connection: sa.Connection) -> list[Claimed]:
        return [
            Claimed(row.id, row.url, tuple(row.events.split(",")), row.secret, row.delivered, row.failures)
            for row in due
            if connection.execute(
                sa.update(webhook).where(webhook.c.id == row.id, webhook.c.next_at <= now).values(next_at=now + CLAIM)
            ).rowcount
        ]

    return store.write(act)


def last_settled(store: Store) -> int:
    """Return the number of the last act that may be delivered, 0 if there is none."""
    query = sa.select(sa.func.coalesce(sa.func.max(label_event.c.id), 0))
    query = query.where(label_event.c.created_at <= store.now() - SETTLED)
    return int(store.read(lambda connection: connection.execute(query).scalar_one()))


def waiting_acts(store: Store, after: int) -> pd.DataFrame:
    """Return the next acts behind a number that are settled, oldest first, as `acts_after`."""
    return acts_after(store, after, limit=MOST_ACTS, until=store.now() - SETTLED)


def newly_finished(store: Store, number: int, names: Sequence[str]) -> list[str]:
    """Return those of these campaigns in which nothing is left to judge, and whose end was not delivered yet."""
    query = sa.select(campaign.c.name).join(webhook_finished, webhook_finished.c.campaign == campaign.c.id)
    query = query.where(webhook_finished.c.webhook == number)
    known = set(store.read(lambda connection: connection.execute(query).scalars().all()))
    return [name for name in names if name not in known and not progress(store, name)["left"].sum()]


def confirm(store: Store, number: int, delivered: int, finished: Sequence[str] = (), *, more: bool) -> None:
    """Note what a receiver has confirmed; with `more` the webhook stays claimed."""

    def act(connection: sa.Connection) -> None:
        values: dict[str, object] = {"delivered": delivered, "failures": 0, "problem": ""}
        values["next_at"] = store.now() + CLAIM if more else 0
        connection.execute(sa.update(webhook).where(webhook.c.id == number).values(values))
        for name in finished:
            known = sa.select(sa.literal(number), campaign.c.id).where(campaign.c.name == name)
            connection.execute(sa.insert(webhook_finished).from_select(["webhook", "campaign"], known))

    store.write(act)


def postpone(store: Store, hook: Claimed, problem: str) -> None:
    """Note that a delivery failed, and try again later: after 5 seconds, 10, 20, ... at most an hour."""
    wait = min(FIRST_WAIT * 2 ** min(hook.failures, 20), LONGEST_WAIT)
    change = sa.update(webhook).where(webhook.c.id == hook.number)
    values = {"failures": hook.failures + 1, "problem": problem[:300], "next_at": store.now() + wait}
    store.write(lambda connection: connection.execute(change.values(values)))
