"""What the API takes and gives, as models: requests are checked by them, and the OpenAPI document shows them."""

from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field

from annotator_ui.judging.payload import Body, Name, Query
from eds.choices import JudgingMode, Polarity, WebhookEvent

EVENTS: tuple[WebhookEvent, ...] = get_args(WebhookEvent)
MOST_PAIRS = 5_000  # of one request
ImageId = Annotated[str, Field(min_length=1, max_length=1000)]


class Answer(BaseModel):
    """An answer of the API."""

    model_config = ConfigDict(frozen=True)


class Pair(Body):
    """Two images of the catalogue."""

    query_id: ImageId
    candidate_id: ImageId


class NewPairs(Body):
    """Pairs that become suspects, so that campaigns can ask them."""

    pairs: Annotated[list[Pair], Field(min_length=1, max_length=MOST_PAIRS)] = Field(
        description="Pairs of image ids: query_id and candidate_id."
    )
    agree: bool = Field(default=False, description="Agree to the price. Without it the answer is 409 with the price.")


class NewCampaign(Body):
    """A campaign: which suspects a panel judges, and how."""

    name: Name = Field(description="The campaign's name, which experts see.")
    experts: Annotated[list[Name], Field(min_length=1, max_length=1000)] = Field(
        description="The panel: names of accounts."
    )
    pairs: Annotated[list[Pair], Field(max_length=MOST_PAIRS)] | None = Field(
        default=None, description="Only these suspects; without it all."
    )
    origins: list[Name] = Field(default_factory=list, description="Only suspects of these origins: pool, random, ...")
    undecided: bool = Field(default=False, description="Only pairs without a decided label.")
    limit: Annotated[int, Field(gt=0)] | None = Field(default=None, description="Whole queries up to so many pairs.")
    mode: JudgingMode = Field(default="pair", description="One pair, or a grid: a query's candidates.")
    polarity: Polarity | None = Field(default=None, description="Of a grid: what an untouched candidate means.")
    guideline: Annotated[str, Field(max_length=200)] = Field(
        default="", description="Version of the guideline; each label stores it."
    )
    experts_per_pair: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="Experts who judge each pair; without it all."
    )
    agree: bool = Field(default=False, description="Agree to the price. Without it the answer is 409 with the price.")


class NewWebhook(Body):
    """Where to send what happens."""

    url: Annotated[str, Field(min_length=1, max_length=2000)] = Field(description="A public address, with https.")
    events: Annotated[list[WebhookEvent], Field(min_length=1)] = Field(
        default_factory=lambda: [*EVENTS], description="What is sent; without it everything."
    )


class VotesQuery(Query):
    """Which votes."""

    campaign: Annotated[str, Field(max_length=200)] | None = Field(default=None, description="Only of this campaign.")
    after: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=0, description="`next` of the answer before.")
    limit: Annotated[int, Field(ge=1, le=10_000)] = Field(default=1_000, description="How many at most.")


class Account(Answer):
    """Whom the token stands for."""

    name: str
    role: str


class PriceAnswer(Answer):
    """What judging costs."""

    pairs: int
    judgements: int
    hours: float
    seconds: float
    measured: bool


class AddedPairs(Answer):
    """What was added."""

    added: int
    price: PriceAnswer


class Panelist(Answer):
    """How far an expert is in a campaign."""

    expert: str
    done: int
    left: int


class Campaign(Answer):
    """A campaign and how far it is; an expert sees only their own part."""

    name: str
    mode: str
    closed: bool
    done: int
    left: int
    experts: list[Panelist]


class Campaigns(Answer):
    """Campaigns, oldest first."""

    campaigns: list[Campaign]


class MadeCampaign(Answer):
    """The new campaign and its price."""

    campaign: Campaign
    price: PriceAnswer


class Vote(Answer):
    """An act of an expert; a correction names the act it supersedes."""

    label_id: str
    campaign: str
    query_id: str
    candidate_id: str
    expert_id: str
    value: int | None = Field(description="1 similar, 0 not, null unsure")
    seconds: float | None
    created_at: str
    supersedes: str | None
    kind: str
    guideline: str | None


class Votes(Answer):
    """Votes, oldest first; ask again with `after=next` until there are none."""

    votes: list[Vote]
    next: int


class WebhookAnswer(Answer):
    """A webhook and its condition."""

    number: int
    url: str
    events: list[str]
    created_by: str
    failures: int
    problem: str


class WebhookList(Answer):
    """Every webhook."""

    webhooks: list[WebhookAnswer]


class MadeWebhook(Answer):
    """A new webhook; its secret is not shown again."""

    number: int
    url: str
    events: list[str]
    secret: str


class Nothing(Answer):
    """Done."""


class Fault(Answer):
    """What is wrong, what to do, and every fault; with status 409 the price to agree to."""

    error: str
    hint: str = ""
    faults: list[str] = []
    price: PriceAnswer | None = None
