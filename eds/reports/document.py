"""What a report is made of: sections with sentences, tables, figures and galleries; HTML, JSON and CSV show the same.

A number stands here once, with its kind (which says how it is shown, never what it is). Templates of sentences are
ours; whatever is put into them may be anybody's text, and is escaped where it is shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "text", "count", "share", "points", "value", "signed", "p", "hours", "seconds", "times", "few", "flag", "names"
]
SLOT = re.compile(r"\{([a-z_0-9]+)\}")


@dataclass(frozen=True)
class Number:
    """A number with how it is shown; None or NaN is undefined."""

    value: float | int | None
    kind: Kind = "value"


@dataclass(frozen=True)
class Sentence:
    """Words of ours with slots, {like_this}, for numbers and for texts that may be anybody's."""

    template: str
    filled: Mapping[str, Number | str] = field(default_factory=dict)
    tone: Literal["plain", "note", "warn"] = "plain"


@dataclass(frozen=True)
class Column:
    """A column of a table; `low` and `high` name the fields of its limits, `formula` what the number is.

    `kind_of` names the field of a row that says how its number is shown, where rows are of different measures.
    """

    key: str
    label: str
    kind: Kind = "text"
    low: str = ""
    high: str = ""
    formula: str = ""
    kind_of: str = ""

    def kind_in(self, row: Mapping[str, Any]) -> Kind:
        """How the number of this row is shown."""
        kind: Kind = row[self.kind_of] if self.kind_of else self.kind
        return kind


@dataclass(frozen=True)
class Table:
    """Rows of named fields; columns say which are shown, and how."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing: the name of the function in eds.reports.figures, and the numbers it draws."""

    key: str
    title: str
    drawing: str
    data: Mapping[str, Any]
    caption: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Picture:
    """One image of a pair: its thumbnail as JPEG, or why there is none."""

    image_id: str
    jpeg: bytes | None = None
    reason: str = ""


@dataclass(frozen=True)
class Pair:
    """A pair of a gallery, with what is told of it."""

    query: Picture
    candidate: Picture
    similar: bool
    told: tuple[Sentence, ...]


@dataclass(frozen=True)
class Gallery:
    """Real pairs that show something."""

    key: str
    title: str
    pairs: tuple[Pair, ...]
    caption: str = ""


@dataclass(frozen=True)
class Tile:
    """A number that matters, large."""

    key: str
    number: Number
    label: str
    told: Sentence


@dataclass(frozen=True)
class Tiles:
    """The few numbers that matter."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Gap:
    """What is missing, and the command that makes it."""

    what: str
    do: str = ""


Block = Sentence | Table | Figure | Gallery | Tiles | Gap


@dataclass(frozen=True)
class Section:
    """A part of the report; `about` says in a line what question it answers."""

    key: str
    title: str
    about: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """The whole."""

    title: str
    made: Mapping[str, Any]  # when, by which program and options, from which data
    sections: tuple[Section, ...]


class Missing(Exception):  # noqa: N818 - it says that something is absent, not that something went wrong
    """What a section, or a part of it, needs is not there."""

    def __init__(self, gap: Gap) -> None:
        self.gap = gap
        super().__init__(gap.what)


def say(template: str, /, tone: Literal["plain", "note", "warn"] = "plain", **filled: Number | str) -> Sentence:
    """A sentence; every slot must be filled, and nothing else."""
    slots = set(SLOT.findall(template))
    if slots != set(filled):
        raise TypeError(f"slots {sorted(slots)} of a sentence are filled with {sorted(filled)}")
    return Sentence(template, filled, tone)


def filled_with(template: str, filled: Mapping[str, Number | str]) -> Sentence:
    """A sentence whose slots come as a mapping."""
    return say(template, **dict(filled))  # type: ignore[arg-type]  # no slot is called tone


def count(value: float | int | None) -> Number:
    """A count."""
    return Number(value, "count")


def share(value: float | None) -> Number:
    """A share, shown as a percentage."""
    return Number(value, "share")
