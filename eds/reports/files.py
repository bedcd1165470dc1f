"""The report's three files: the page, and the same numbers as JSON and as CSV beside it."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eds.files import write_text
from eds.reports.document import (
    SLOT,
    Block,
    Figure,
    Gallery,
    Number,
    Pair,
    Report,
    Section,
    Sentence,
    Table,
    Tiles,
)
from eds.reports.markup import clean
from eds.reports.numbers import text_of, undefined
from eds.reports.page import page

FORMAT = 1
COLUMNS = ("section", "block", "row", "field", "value")


def write_report(report: Report, path: Path) -> tuple[Path, Path, Path]:
    """Write PATH, and beside it the same name with .json and .csv; each whole or not at all."""
    told = document(report)
    data, rows = path.with_suffix(".json"), path.with_suffix(".csv")
    write_text(path, page(report))
    write_text(data, json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(rows, table(told))
    return path, data, rows


def document(report: Report) -> dict[str, Any]:
    """The report as JSON has it: every number that the page shows, and those behind its figures."""
    sections = [_section(section) for section in report.sections]
    return {"format": FORMAT, "title": clean(report.title), "made": _plain(report.made), "sections": sections}


def table(told: dict[str, Any]) -> str:
    """Every field of the JSON document's sections as a row: section, block, row, field, value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in told["sections"]:
        for block, row, name, value in _fields(section):
            writer.writerow([section["key"], block, row, name, _in_csv(value)])
    return stream.getvalue()


def _section(section: Section) -> dict[str, Any]:
    return {"key": section.key, "title": section.title, "blocks": [_block(block) for block in section.blocks]}


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Sentence):
        return {"kind": "sentence", **_sentence(block)}
    if isinstance(block, Table):
        columns = {one.key: {"label": clean(one.label), "kind": one.kind, "kind_of": one.kind_of or None,
                   "low": one.low or None, "high": one.high or None, "formula": one.formula or None}
                   for one in block.columns}  # fmt: skip
        return {"kind": "table", "key": block.key, "title": block.title, "caption": block.caption, "columns": columns,
                "rows": _plain(block.rows)}  # fmt: skip
    if isinstance(block, Figure):
        return {"kind": "figure", "key": block.key, "title": block.title, "drawing": block.drawing,
                "caption": block.caption, "data": _plain(block.data)}  # fmt: skip
    if isinstance(block, Gallery):
        pairs = [_pair(pair) for pair in block.pairs]
        return {"kind": "gallery", "key": block.key, "title": block.title, "caption": block.caption, "pairs": pairs}
    if isinstance(block, Tiles):
        tiles = [{"key": one.key, "value": _plain(one.number.value), "label": one.label, "told": _sentence(one.told)}
                 for one in block.tiles]  # fmt: skip
        return {"kind": "tiles", "tiles": tiles}
    return {"kind": "gap", "what": clean(block.what), "do": clean(block.do)}


def _sentence(told: Sentence) -> dict[str, Any]:
    def filled(name: str) -> str:
        what = told.filled[name]
        return text_of(what) if isinstance(what, Number) else clean(what)

    words = SLOT.sub(lambda slot: filled(slot[1]), told.template)
    numbers = {name: _plain(what.value) for name, what in told.filled.items() if isinstance(what, Number)}
    return {"text": words, "numbers": numbers}


def _pair(pair: Pair) -> dict[str, Any]:
    return {"query_id": clean(pair.query.image_id), "candidate_id": clean(pair.candidate.image_id),
            "similar": pair.similar, "told": [_sentence(one) for one in pair.told]}  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if undefined(value):
        return None
    if hasattr(value, "item"):
        return value.item()
    return clean(value) if isinstance(value, str) else value if isinstance(value, (bool, int, float)) else clean(value)


def _fields(section: dict[str, Any]) -> Iterator[tuple[str, int, str, Any]]:
    for number, block in enumerate(section["blocks"]):
        name = block.get("key", f"{block['kind']} {number}")
        if block["kind"] == "table":
            for at, row in enumerate(block["rows"]):
                yield from ((name, at, key, value) for key, value in row.items())
        elif block["kind"] == "sentence":
            yield name, 0, "text", block["text"]
            yield from ((name, 0, key, value) for key, value in block["numbers"].items())
        elif block["kind"] == "tiles":
            for at, one in enumerate(block["tiles"]):
                yield name, at, one["key"], one["value"]
        elif block["kind"] == "gallery":
            for at, pair in enumerate(block["pairs"]):
                yield from ((name, at, key, pair[key]) for key in ("query_id", "candidate_id", "similar"))
        elif block["kind"] == "gap":
            yield name, 0, "missing", block["what"]
        else:
            yield f"{name} (figure)", 0, "data", json.dumps(block["data"], ensure_ascii=False)


def _in_csv(value: Any) -> Any:
    """Lists as JSON; a text that a spreadsheet would compute gets a mark before it."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t", "\r"):
        return f"'{value}"
    return value
