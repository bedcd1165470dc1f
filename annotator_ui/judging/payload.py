"""What the judging page sends, as models; every fault of a request is reported at once."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from eds.errors import InputError
from eds.project.labels import Judgement

MOST_BYTES = 256 * 1024
MOST_ACTS = 200
MOST_SKIPPED = 1000

Name = Annotated[str, Field(min_length=1, max_length=200)]
Numbers = Annotated[
    list[Annotated[int, Field(ge=0, lt=2**63)]],
    Field(max_length=MOST_SKIPPED),
    BeforeValidator(lambda text: [part for part in text.split(",") if part] if isinstance(text, str) else text),
]


# What an expert's page names and exports show: nothing that a spreadsheet takes for a formula, and no essay.
Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9 _.:/-]{0,99}$|^-[A-Za-z0-9_-]{19}$")]
Version = Annotated[str, Field(pattern=r"^([^=+@\t\r\n-][^\t\r\n]{0,199})?$")]


class Body(BaseModel):
    """A JSON body: exactly these fields, each of its own type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Query(BaseModel):
    """The parameters of an address; others are ignored, empty ones have their default."""

    model_config = ConfigDict(frozen=True)


class Answer(Body):
    """A judgement; `submit` checks what its fields may hold."""

    token: Token
    assignment: int
    value: int | None
    seconds: float | None = None
    mode: str | None = None
    guideline: Version | None = None
    aspects: str | None = None
    grade: int | None = None
    note: str | None = None

    def judgement(self) -> Judgement:
        """Return it as the library takes it."""
        return Judgement(**dict(self))


class Flag(Body):
    """A task set aside with a reason."""

    token: Token
    assignment: int
    reason: str


class Withdrawal(Body):
    """A flag that is taken back."""

    token: Token
    assignment: int
    flag: str  # its token


class Delivery(Body):
    """One POST of the page: what was judged, by whom, in which tab."""

    tab: Name | None  # None: the page that sends judges nothing itself, it delivers what a closed page left behind
    expert: Name  # who judged; somebody else may have signed in since in the same browser
    judgements: list[Answer] = []
    flags: list[Flag] = []
    withdrawals: list[Withdrawal] = []

    @model_validator(mode="after")
    def _not_too_many(self) -> "Delivery":
        acts = len(self.judgements) + len(self.flags) + len(self.withdrawals)
        if acts > MOST_ACTS:
            raise ValueError(f"{acts} acts at once, more than {MOST_ACTS}")
        return self


class TabClaim(Body):
    """A tab that asks whether it may go on, or takes that right."""

    tab: Name
    expert: Name
    take: bool = False


class TasksQuery(Query):
    """How many tasks, and which not."""

    count: int = Field(20, ge=1, le=100)
    skip: Numbers = []


class PagesQuery(Query):
    """How many pages of which size, and which tasks not."""

    pages: int = Field(3, ge=1, le=10)
    size: int = Field(30, ge=1, le=60)
    skip: Numbers = []


class HistoryQuery(Query):
    """How many answers."""

    count: int = Field(50, ge=1, le=10_000)
    only: int | None = Field(None, ge=1, lt=2**63)  # one assignment


B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)


def parse_body(model: type[B], body: bytes) -> B:
    """Return the body as this model; InputError with every fault."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from error


def parse_query(model: type[Q], parameters: Mapping[str, str]) -> Q:
    """Return the parameters of an address as this model; InputError with every fault."""
    try:
        return model.model_validate({name: value for name, value in parameters.items() if value})
    except ValidationError as error:
        raise _refusal(error) from error


def _refusal(error: ValidationError) -> InputError:
    """All faults, each with its place: `judgement 1: token: Input should be a valid string`."""
    faults = [": ".join([*_place(fault["loc"]), fault["msg"]]) for fault in error.errors()]
    return InputError("the request cannot be read", where="request", hint="Reload the page.", faults=faults)


def _place(loc: tuple[Any, ...]) -> list[str]:
    """The position in the request; of a list one of its members, counted from 0."""
    if len(loc) > 1 and isinstance(loc[1], int):
        return [f"{str(loc[0]).removesuffix('s')} {loc[1]}", *map(str, loc[2:])]
    return [str(part) for part in loc]
