"""Each kind of block as HTML: sentences, tables, figures, galleries, what is missing."""

import base64
import json
from typing import Any

from eds.reports.document import (
    SLOT,
    Block,
    Column,
    Figure,
    Gallery,
    Gap,
    Number,
    Pair,
    Picture,
    Sentence,
    Table,
    Tile,
    Tiles,
)
from eds.reports.figures import draw
from eds.reports.markup import Markup, join, tag, text
from eds.reports.numbers import shown, text_of, undefined

NUMERIC = {"count", "share", "points", "value", "signed", "p", "hours", "seconds", "times", "few"}
NARROW = 66
SIDES = {"part", "generator"}  # columns that a phone has no room for: the name of the row tells it there
CHIPS = {"generator": "", "outsider": "out", "fair to new models": "good", "not fair to new models": "bad",
         "fair": "good", "fair without own finds": "", "not fair": "bad", "not known": "out"}  # fmt: skip
ROOMS = {8: None, 12: "names", 99: "long names"}  # letters of a row's name that stay on one line, and its class


def block_of(block: Block, section: str) -> Markup:
    """The block as HTML; `section` makes its names unique."""
    if isinstance(block, Sentence):
        return tag("p", sentence(block), class_={"plain": None, "note": "note", "warn": "warn"}[block.tone])
    if isinstance(block, Table):
        return _table(block, section)
    if isinstance(block, Figure):
        return _figure(block, section)
    if isinstance(block, Gallery):
        return _gallery(block)
    if isinstance(block, Tiles):
        return tag("ul", *map(_tile, block.tiles), class_="tiles")
    return _gap(block)


def sentence(told: Sentence) -> Markup:
    """Words of ours with what fills them; numbers carry their value."""
    parts: list[Any] = []
    at = 0
    for slot in SLOT.finditer(told.template):
        parts += [told.template[at : slot.start()], _filled(told.filled[slot[1]])]
        at = slot.end()
    return join([*parts, told.template[at:]])


def _filled(what: Number | str) -> Markup:
    if isinstance(what, Number):
        return tag("data", text_of(what), value=raw(what.value))
    return tag("b", what)


def raw(value: Any) -> str:
    """A value exactly as JSON has it."""
    if undefined(value):
        return "null"
    value = value.item() if hasattr(value, "item") else value
    return json.dumps(value, ensure_ascii=False)


def _tile(tile: Tile) -> Markup:
    return tag("li", tag("p", _filled(tile.number), class_="large"), tag("p", tile.label, class_="label"),
               tag("p", sentence(tile.told), class_="told"))  # fmt: skip


def _table(table: Table, section: str) -> Markup:
    head = tag("tr", *(_heading(column, at == 0) for at, column in enumerate(table.columns)))
    body = [tag("tr", *(_cell(column, row, at == 0) for at, column in enumerate(table.columns))) for row in table.rows]
    folded = table.caption == "details"
    name = f"{section}-{table.key}"
    inner = tag("table", tag("thead", head), tag("tbody", *body), class_=_room(table), aria_labelledby=f"{name}-title")
    box = tag("div", inner, class_="scroll", tabindex="0", role="region", aria_labelledby=f"{name}-title")
    note = tag("p", table.caption, class_="caption") if table.caption and not folded else None
    words = tag("h3", table.title, id=f"{name}-title")
    if folded:
        rows = f" ({len(table.rows):,} rows)"
        summary = tag("summary", tag("span", table.title, id=f"{name}-title"), tag("span", rows, class_="rows"))
        return tag("details", summary, box, id=name, class_="table")
    return tag("div", words, box, note, id=name, class_="table narrow" if _letters(table) <= NARROW else "table")


def _room(table: Table) -> str | None:
    """The class that keeps the names of the rows from being broken, as far as that is sensible."""
    first = table.columns[0]
    words = [word for row in table.rows for word in shown(row.get(first.key), first.kind_in(row)).split()]
    longest = max(map(len, words), default=0)
    return next((room for letters, room in ROOMS.items() if longest <= letters), "long names")


def _letters(table: Table) -> int:
    """How wide the table is, roughly, in letters: small ones stand beside a figure."""
    widths = []
    for column in table.columns:
        cells = [len(shown(row.get(column.key), column.kind_in(row))) for row in table.rows if column.kind != "names"]
        cells += [sum(len(str(name)) + 3 for name in row[column.key]) for row in table.rows if column.kind == "names"]
        cells += [len(_limits(column, row)) for row in table.rows]
        widths.append(3 + max([len(column.label), *cells]))
    return sum(widths)


def _heading(column: Column, first: bool) -> Markup:
    numeric = column.kind in NUMERIC
    button = tag("button", column.label, type="button", title=column.formula or None)
    look = "n" if numeric and not first else "side" if column.key in SIDES and not first else None
    return tag("th", button, scope="col", class_=look)


def _cell(column: Column, row: Any, first: bool) -> Markup:
    value = row.get(column.key)
    if column.kind == "names":
        return tag("td", join((tag("span", name, class_="chip") for name in value), " "), data_value=raw(list(value)))
    what: Any = shown(value, column.kind_in(row))
    between = _limits(column, row)
    limits = tag("small", between) if between else None
    told = {"data_low": raw(row[column.low]), "data_high": raw(row[column.high])} if between else {}
    look = "n" if column.kind in NUMERIC and not first else "side" if column.key in SIDES and not first else None
    if undefined(value):
        look = f"{look or ''} none".strip()
    if column.kind == "text" and value in CHIPS:
        what = tag("span", value, class_=f"chip {CHIPS[value]}".strip())
    if first and ("part" in row or "generator" in row):
        told["data_side"] = _side(row)
    name = "th" if first else "td"
    return tag(name, text(what), limits, class_=look, data_value=raw(value), scope="row" if first else None, **told)


def _side(row: Any) -> str:
    """Whether a model made the pool, in a word."""
    return str(row["part"]) if "part" in row else "generator" if row["generator"] else "outsider"


def _limits(column: Column, row: Any) -> str:
    """The limits of a cell in words, empty where there are none."""
    low, high = (row.get(end) if end else None for end in (column.low, column.high))
    if undefined(low) or undefined(high):
        return ""
    kind = column.kind_in(row)
    return f"{shown(low, kind)} – {shown(high, kind)}".replace(" %", "").replace(" pp", "")


def _figure(figure: Figure, section: str) -> Markup:
    svg = draw(figure.drawing, figure.data, figure.title)
    caption = tag("figcaption", tag("b", figure.title), " ", tag("span", figure.caption))
    return tag("figure", caption, svg, id=f"{section}-{figure.key}-figure", class_="drawn")


def _gallery(gallery: Gallery) -> Markup:
    cards = tag("ul", *map(_pair, gallery.pairs), class_="pairs")
    return tag("div", tag("h3", gallery.title), tag("p", gallery.caption, class_="caption"), cards, class_="gallery")


def _pair(pair: Pair) -> Markup:
    verdict = tag(
        "span", "similar" if pair.similar else "different", class_=f"chip {'good' if pair.similar else 'bad'}"
    )
    both = tag("div", _picture(pair.query, "query"), _picture(pair.candidate, "candidate"), class_="both")
    told = tag("p", verdict, " ", join((sentence(one) for one in pair.told), " "))
    return tag("li", both, told)


def _picture(picture: Picture, part: str) -> Markup:
    if picture.jpeg is None:
        inside = tag("div", f"cannot be shown: {picture.reason}", class_="reason")
    else:
        source = "data:image/jpeg;base64," + base64.b64encode(picture.jpeg).decode()
        inside = tag("img", src=source, alt=f"{part} {picture.image_id}", loading="lazy")
    return tag(
        "figure",
        tag("div", inside, class_="field"),
        tag("figcaption", picture.image_id, title=f"{part}: {picture.image_id}"),
    )


def _gap(gap: Gap) -> Markup:
    do = tag("p", "To fill it: ", tag("code", gap.do)) if gap.do else None
    return tag("div", tag("p", gap.what), do, class_="gap")
