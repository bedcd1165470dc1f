"""The parts of a report: sections of sentences, tables, charts and galleries. HTML, JSON and CSV show the same parts.

A number is kept once, in full, with its kind (how it is formatted). The templates of sentences are ours; the values in
their slots may be anybody's text, and are escaped where they are shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import altair as alt

Kind = Literal[
    "text", "count", "share", "points", "value", "signed", "p", "hours", "seconds", "times", "few", "flag", "names"
]
Tone = Literal["plain", "note", "warn"]
SLOT = re.compile(r"\{([a-z_0-9]+)\}")


@dataclass(frozen=True)
class Number:
    """A number and how it is formatted; None or NaN is undefined."""

    value: float | int | None
    kind: Kind = "value"


@dataclass(frozen=True)
class Sentence:
    """A template with slots, {like_this}, and the numbers and texts that fill them."""

    template: str
    filled: Mapping[str, Number | str] = field(default_factory=dict)
    tone: Tone = "plain"
    key: str = ""  # what it states, in JSON and CSV

    def __post_init__(self) -> None:
        slots = set(SLOT.findall(self.template))
        if slots != set(self.filled):
            raise TypeError(f"the sentence has slots {sorted(slots)} and values for {sorted(self.filled)}")

    def parts(self) -> Iterator[tuple[Literal["words", "number", "name"], Any]]:
        """The template's own words, numbers and inserted texts, in order."""
        start = 0
        for slot in SLOT.finditer(self.template):
            yield "words", self.template[start : slot.start()]
            value = self.filled[slot[1]]
            yield ("number" if isinstance(value, Number) else "name"), value
            start = slot.end()
        yield "words", self.template[start:]


@dataclass(frozen=True)
class Column:
    """A column of a table; `low` and `high` name the fields of its limits, `formula` explains the number.

    `kind_of` names the field of a row that holds its kind, in tables whose rows are different measures.
    """

    key: str
    label: str
    kind: Kind = "text"
    low: str = ""
    high: str = ""
    formula: str = ""
    kind_of: str = ""

    def kind_in(self, row: Mapping[str, Any]) -> Kind:
        """The kind of the number in this row."""
        kind: Kind = row[self.kind_of] if self.kind_of else self.kind
        return kind


@dataclass(frozen=True)
class Table:
    """Rows of named fields, and the columns that are shown; `detail`: in JSON and CSV only, and named on the page."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    caption: str = ""
    detail: bool = False


@dataclass(frozen=True)
class Figure:
    """A chart: a function that returns an Altair chart and its arguments; see `eds.reports.charts`."""

    key: str
    title: str
    chart: "Callable[..., alt.TopLevelMixin]"
    data: Mapping[str, Any]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """One image of a pair: its thumbnail as JPEG, or the reason why there is none."""

    image_id: str
    jpeg: bytes | None = None
    reason: str = ""


@dataclass(frozen=True)
class Pair:
    """A pair in a gallery, with remarks."""

    query: Picture
    candidate: Picture
    similar: bool
    remarks: tuple[Sentence, ...]


@dataclass(frozen=True)
class Gallery:
    """Pairs that illustrate the numbers."""

    key: str
    title: str
    pairs: tuple[Pair, ...]
    caption: str = ""


@dataclass(frozen=True)
class Found:
    """An image that a model finds: how far it is, and whether it is right; None where nobody knows."""

    picture: Picture
    distance: int
    similar: bool | None


@dataclass(frozen=True)
class Strip:
    """What one model finds for a query, nearest first, and a remark."""

    model: str
    found: tuple[Found, ...]
    remark: str = ""


@dataclass(frozen=True)
class Strips:
    """A query, and a strip of each model."""

    key: str
    title: str
    query: Picture
    strips: tuple[Strip, ...]
    caption: str = ""


@dataclass(frozen=True)
class Tile:
    """A key figure with its interval, or the reason why it has none; `known` is the known truth of a drawn project."""

    key: str
    number: Number
    label: str
    low: float | None = None
    high: float | None = None
    reason: str = ""
    known: float | None = None


@dataclass(frozen=True)
class Tiles:
    """The key figures."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Step:
    """Something to do next: what it would settle, and the command."""

    key: str
    action: Sentence
    command: str = ""


@dataclass(frozen=True)
class Steps:
    """What to do next, the most useful step first."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Gap:
    """What is missing, and the command that makes it."""

    what: str
    hint: str = ""


Block = Sentence | Table | Figure | Gallery | Strips | Tiles | Steps | Gap


@dataclass(frozen=True)
class Section:
    """A section of the report: the question, and the answer in one line where the inputs give one."""

    key: str
    title: str
    question: str
    blocks: tuple[Block, ...]
    answer: Sentence | None = None


@dataclass(frozen=True)
class Report:
    """The whole report; `made` says when, with which program, options and data."""

    title: str
    made: Mapping[str, Any]
    sections: tuple[Section, ...]


class Missing(Exception):  # noqa: N818 - an input is absent, which is not an error
    """An input that a section needs is missing."""

    def __init__(self, gap: Gap) -> None:
        self.gap = gap
        super().__init__(gap.what)


def say(template: str, /, **filled: Number | str) -> Sentence:
    """A sentence; every slot must be filled, and nothing else."""
    return Sentence(template, filled)


def state(key: str, template: str, /, **filled: Number | str) -> Sentence:
    """A sentence that states a result; `key` names the statement in JSON and CSV."""
    return Sentence(template, filled, "plain", key)


def note(template: str, /, **filled: Number | str) -> Sentence:
    """A sentence of background, set in grey."""
    return Sentence(template, filled, "note")


def warn(template: str, /, **filled: Number | str) -> Sentence:
    """A warning."""
    return Sentence(template, filled, "warn")


def count(value: float | int | None) -> Number:
    """A count."""
    return Number(value, "count")


def share(value: float | None) -> Number:
    """A share, shown as a percentage."""
    return Number(value, "share")
