"""The endpoints of the API, in the order of the document: what each takes, gives and calls.

Every endpoint is one verb of `eds.Project`, asked as the account of the token: the library checks the right to it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel

from annotator_ui.api.models import (
    Account,
    AddedPairs,
    Campaign,
    Campaigns,
    MadeCampaign,
    MadeWebhook,
    NewCampaign,
    NewPairs,
    NewWebhook,
    Nothing,
    Pair,
    Panelist,
    PriceAnswer,
    Vote,
    Votes,
    VotesQuery,
    WebhookAnswer,
    WebhookList,
)
from annotator_ui.app_state import Viewer, acting, may, site
from annotator_ui.judging.payload import Body, Query
from eds.project.campaigns import CampaignPlan
from eds.project.price import Price
from eds.project.webhooks import vote_records

PAIR = ["query_id", "candidate_id"]
NUMBER = re.compile("[0-9]{1,18}")


class PriceError(Exception):
    """The request adds judgements, and does not agree to their price."""

    def __init__(self, price: Price) -> None:
        super().__init__(price.text)
        self.price = price_answer(price)


class NotFoundError(Exception):
    """What the address names does not exist, or is not for this account."""


@dataclass(frozen=True)
class Call:
    """A request, checked: who asks, the parts of the path, the query's and the body's model."""

    who: Viewer
    path: dict[str, str]
    query: Any
    body: Any


@dataclass(frozen=True)
class Endpoint:
    """One address and method."""

    method: Literal["GET", "POST", "DELETE"]
    path: str  # below /api/v1
    about: str
    act: Callable[[Call], BaseModel]
    gives: type[BaseModel]
    role: Literal["expert", "lead"] = "lead"
    query: type[Query] | None = None
    body: type[Body] | None = None


def _me(call: Call) -> Account:
    return Account(name=call.who.name, role=call.who.role)


def _add_pairs(call: Call) -> AddedPairs:
    pairs, project = _frame(call.body.pairs), acting(call.who)
    if not call.body.agree:
        raise PriceError(project.add_pairs(pairs, dry_run=True).price)
    result = project.add_pairs(pairs)
    return AddedPairs(added=result.drawn, price=price_answer(result.price))


def _campaigns(call: Call) -> Campaigns:
    progress = site().project.campaigns.progress()
    campaigns = [campaign_answer(call.who, row, progress) for row in _campaign_rows()]
    return Campaigns(campaigns=[found for found in campaigns if found is not None])


def _campaign(call: Call) -> Campaign:
    name = call.path["campaign"]
    for row in _campaign_rows():
        if row["name"] == name:
            found = campaign_answer(call.who, row, site().project.campaigns.progress(name))
            if found is not None:
                return found
    raise NotFoundError(f"there is no campaign {name!r}")


def _make_campaign(call: Call) -> MadeCampaign:
    new, campaigns = call.body, acting(call.who).campaigns
    plan = CampaignPlan(
        mode=new.mode, polarity=new.polarity, guideline=new.guideline, experts_per_pair=new.experts_per_pair
    )
    options: dict[str, Any] = {
        "origins": new.origins,
        "undecided": new.undecided,
        "limit": new.limit,
        "plan": plan,
        "pairs": None if new.pairs is None else _frame(new.pairs),
    }
    price = campaigns.price(new.name, new.experts, **options)
    if not new.agree:
        raise PriceError(price)
    campaigns.create(new.name, new.experts, **options)
    made = _campaign(Call(call.who, {"campaign": new.name}, None, None))
    return MadeCampaign(campaign=made, price=price_answer(price))


def _votes(call: Call) -> Votes:
    labels, query = site().project.labels, call.query
    acts = labels.votes_after(query.after, limit=query.limit, campaign=query.campaign)
    last = int(acts["number"].iloc[-1]) if len(acts) else query.after
    return Votes(votes=[Vote(**record) for record in vote_records(acts)], next=last)


def _webhooks(_: Call) -> WebhookList:
    found = _rows(site().project.webhooks.list())
    return WebhookList(webhooks=[WebhookAnswer(**{**hook, "events": hook["events"].split(",")}) for hook in found])


def _add_webhook(call: Call) -> MadeWebhook:
    made = acting(call.who).webhooks.add(call.body.url, call.body.events)
    return MadeWebhook(**asdict(made))


def _remove_webhook(call: Call) -> Nothing:
    number = call.path["number"]
    if not NUMBER.fullmatch(number):
        raise NotFoundError(f"there is no webhook {number!r}")
    acting(call.who).webhooks.remove(int(number))
    return Nothing()


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint("GET", "/me", "Whom the token stands for.", _me, Account, role="expert"),
    Endpoint("POST", "/pairs", "Tasks in: add pairs to the suspects.", _add_pairs, AddedPairs, body=NewPairs),
    Endpoint("GET", "/campaigns", "Campaigns and their progress.", _campaigns, Campaigns, role="expert"),
    Endpoint("GET", "/campaigns/{campaign}", "The progress of a campaign.", _campaign, Campaign, role="expert"),
    Endpoint("POST", "/campaigns", "Let experts judge suspects.", _make_campaign, MadeCampaign, body=NewCampaign),
    Endpoint("GET", "/votes", "Votes out: every act, oldest first, in portions.", _votes, Votes, query=VotesQuery),
    Endpoint("GET", "/webhooks", "Webhooks and their condition.", _webhooks, WebhookList),
    Endpoint(
        "POST",
        "/webhooks",
        "Send labels and finished campaigns to an address.",
        _add_webhook,
        MadeWebhook,
        body=NewWebhook,
    ),
    Endpoint("DELETE", "/webhooks/{number}", "Send nothing more to a webhook.", _remove_webhook, Nothing),
)


def price_answer(price: Price) -> PriceAnswer:
    """Return a price as the API gives it."""
    return PriceAnswer(**{name: getattr(price, name) for name in PriceAnswer.model_fields})


def campaign_answer(who: Viewer, row: dict[str, Any], progress: pd.DataFrame) -> Campaign | None:
    """Return a campaign as this account may see it: leads every panelist, experts themselves; None if nobody."""
    mine = progress[progress["campaign"] == row["name"]]
    if not may(who, "lead"):
        mine = mine[mine["expert"] == who.name]
        if not len(mine):
            return None
    experts = [
        Panelist(expert=expert, done=int(done), left=int(left))
        for expert, done, left in mine[["expert", "done", "left"]].itertuples(index=False)
    ]
    return Campaign(
        name=row["name"],
        mode=row["mode"],
        closed=bool(pd.notna(row["closed_at"])),
        done=sum(one.done for one in experts),
        left=sum(one.left for one in experts),
        experts=experts,
    )


def _campaign_rows() -> list[dict[str, Any]]:
    return _rows(site().project.campaigns.judged_by_experts())


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict(orient="records")]


def _frame(pairs: Sequence[Pair]) -> pd.DataFrame:
    return pd.DataFrame([(pair.query_id, pair.candidate_id) for pair in pairs], columns=PAIR)
