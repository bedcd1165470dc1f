"""Webhooks: judgements and finished campaigns, sent to other programs as they happen."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from eds.labels import webhooks
from eds.labels.webhooks import EVENTS, Claimed
from eds.project.label_store import opened
from eds.project.results import Result
from eds.project.webhook_target import DeliveryError, check_url, send, verify

if TYPE_CHECKING:
    from eds.labels.store import Store
    from eds.project import Project

_List = list  # a method of Webhooks has its name
__all__ = ["EVENTS", "DeliveryError", "NewWebhook", "Webhooks", "verify", "vote_records"]


@dataclass(frozen=True)
class NewWebhook(Result):
    """A webhook that was added; its secret cannot be shown again."""

    number: int
    url: str
    events: tuple[str, ...]
    secret: str


@dataclass(frozen=True)
class Webhooks:
    """The webhooks of a project. The annotator's server delivers while it runs; `deliver` does it once."""

    project: "Project"

    def add(self, url: str, events: Sequence[str] = EVENTS) -> NewWebhook:
        """Send what happens from now on to an address: public and https, or one that eds.toml allows."""
        check_url(url, self.project.config.annotator.webhook_hosts)
        with opened(self.project) as store:
            number, secret = webhooks.add_webhook(store, url, events, by=self.project.actor)
        self.project.end_rehearsal()  # nobody could check what it signs
        return NewWebhook(number, url, tuple(events), secret)

    def list(self) -> pd.DataFrame:
        """Return every webhook, oldest first, and how often and why its last deliveries failed."""
        with opened(self.project) as store:
            return webhooks.list_webhooks(store)

    def remove(self, number: int) -> None:
        """Send nothing more to a webhook."""
        with opened(self.project) as store:
            webhooks.remove_webhook(store, number, by=self.project.actor)

    def deliver(self) -> int:
        """Deliver what is waiting to every webhook that is due; the number of deliveries that were confirmed."""
        self.project.would_begin("change", "webhooks", "send what is waiting")
        with opened(self.project) as store:
            return sum(self._deliver(store, hook) for hook in webhooks.claim(store))

    def _deliver(self, store: "Store", hook: Claimed) -> int:
        """Deliver in portions until nothing is waiting, or one is not confirmed."""
        confirmed, at, allowed = 0, hook.delivered, self.project.config.annotator.webhook_hosts
        end = webhooks.last_settled(store)
        try:
            while at < end:
                acts = webhooks.waiting_acts(store, at)
                more = len(acts) == webhooks.MOST_ACTS
                at = int(acts["number"].iloc[-1]) if more else max(end, *acts["number"])  # others are not votes
                finished = webhooks.newly_finished(store, hook.number, [*dict.fromkeys(acts["campaign"])])
                events: _List[tuple[str, str, dict[str, Any]]] = []
                if len(acts):
                    events.append(("label.written", f"labels-{hook.number}-{at}", {"labels": vote_records(acts)}))
                for name in finished:
                    events.append(("campaign.finished", f"finished-{hook.number}-{name}", {"campaign": name}))
                for event, number, content in events:
                    if event in hook.events:
                        send(hook.url, self._body(event, number, content), hook.secret, event, allowed)
                        confirmed += 1
                webhooks.confirm(store, hook.number, at, finished, more=at < end)
        except DeliveryError as error:
            webhooks.postpone(store, hook, error.what)
        return confirmed

    def _body(self, event: str, number: str, content: dict[str, Any]) -> bytes:
        project = self.project.config.project.name or self.project.root.resolve().name
        return json.dumps({"id": number, "event": event, "project": project, **content}, ensure_ascii=False).encode()


def vote_records(acts: pd.DataFrame) -> "list[dict[str, Any]]":
    """Return acts as JSON has them: times as text, what is missing as null."""
    at = pd.to_datetime(acts["created_at"], unit="us", utc=True).dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    table = acts.drop(columns="number").assign(created_at=at)
    records: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=6))
    return records
