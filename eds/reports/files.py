"""The report's three files: the page, and the same numbers as JSON and as CSV beside it."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eds.html import clean
from eds.io.files import write_text
from eds.reports.document import (
    Block,
    Figure,
    Gallery,
    Number,
    Pair,
    Report,
    Section,
    Sentence,
    Steps,
    Strips,
    Table,
    Tile,
    Tiles,
)
from eds.reports.numbers import text_of, undefined
from eds.reports.page import page

FORMAT = 1
COLUMNS = ("section", "block", "row", "field", "value")


def write_report(report: Report, path: Path) -> tuple[Path, Path, Path]:
    """Write the page to `path`, and beside it the same name with .json and .csv; each file whole or not at all."""
    content = document(report)
    data, rows = path.with_suffix(".json"), path.with_suffix(".csv")
    write_text(path, page(report))
    write_text(data, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(rows, table(content))
    return path, data, rows


def document(report: Report) -> dict[str, Any]:
    """The report as JSON: every number that the page shows, and those behind its charts."""
    sections = [_section(section) for section in report.sections]
    return {"format": FORMAT, "title": clean(report.title), "made": _to_jsonable(report.made), "sections": sections}


def table(content: dict[str, Any]) -> str:
    """The same as CSV: each field of the sections is a row of section, block, row, field and value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in content["sections"]:
        for block, row, name, value in _fields(section):
            writer.writerow([section["key"], block, row, name, _in_csv(value)])
    return stream.getvalue()


def _section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "answer": None if section.answer is None else _sentence(section.answer),
        "blocks": [_block(block) for block in section.blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Sentence):
        return {"kind": "sentence", **_sentence(block)}
    if isinstance(block, Table):
        columns = {
            column.key: {
                "label": clean(column.label),
                "kind": column.kind,
                "kind_of": column.kind_of or None,
                "low": column.low or None,
                "high": column.high or None,
                "formula": column.formula or None,
            }
            for column in block.columns
        }
        return {
            "kind": "table",
            **_titled(block),
            "detail": block.detail,
            "columns": columns,
            "rows": _to_jsonable(block.rows),
        }
    if isinstance(block, Figure):
        data = _to_jsonable(block.data)
        return {"kind": "figure", **_titled(block), "chart": getattr(block.chart, "__name__", ""), "data": data}
    if isinstance(block, Gallery):
        return {"kind": "gallery", **_titled(block), "pairs": [_pair(pair) for pair in block.pairs]}
    if isinstance(block, Strips):
        return {"kind": "strips", **_titled(block), **_strips(block)}
    if isinstance(block, Tiles):
        return {"kind": "tiles", "tiles": [_tile(tile) for tile in block.tiles]}
    if isinstance(block, Steps):
        steps = [
            {"key": step.key, "action": _sentence(step.action), "command": clean(step.command)} for step in block.steps
        ]
        return {"kind": "steps", "steps": steps}
    return {"kind": "gap", "what": clean(block.what), "hint": clean(block.hint)}


def _titled(block: Table | Figure | Gallery | Strips) -> dict[str, str]:
    return {"key": block.key, "title": block.title, "caption": block.caption}


def _tile(tile: Tile) -> dict[str, Any]:
    numbers = {"value": tile.number.value, "low": tile.low, "high": tile.high, "known": tile.known}
    return {"key": tile.key, "label": tile.label, **_to_jsonable(numbers), "reason": tile.reason or None}


def _sentence(sentence: Sentence) -> dict[str, Any]:
    texts = [text_of(part) if isinstance(part, Number) else clean(part) for _, part in sentence.parts()]
    numbers = {name: _to_jsonable(value.value) for name, value in sentence.filled.items() if isinstance(value, Number)}
    names = {name: clean(value) for name, value in sentence.filled.items() if not isinstance(value, Number)}
    stated = {"key": sentence.key} if sentence.key else {}
    return {**stated, "text": "".join(texts), "numbers": numbers, "names": names}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "query_id": clean(pair.query.image_id),
        "candidate_id": clean(pair.candidate.image_id),
        "similar": pair.similar,
        "remarks": [_sentence(remark) for remark in pair.remarks],
    }


def _strips(block: Strips) -> dict[str, Any]:
    strips = [
        {
            "model": clean(strip.model),
            "remark": clean(strip.remark),
            "found": [
                {"image_id": clean(found.picture.image_id), "distance": found.distance, "similar": found.similar}
                for found in strip.found
            ],
        }
        for strip in block.strips
    ]
    return {"query_id": clean(block.query.image_id), "strips": strips}


def _to_jsonable(value: Any) -> Any:
    if hasattr(value, "items"):
        return {str(key): _to_jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_jsonable(part) for part in value]
    if undefined(value):
        return None
    if hasattr(value, "item"):
        return value.item()
    return value if isinstance(value, (bool, int, float)) else clean(value)


def _fields(section: dict[str, Any]) -> Iterator[tuple[str, int, str, Any]]:
    if answer := section["answer"]:
        yield from _stated("answer", 0, answer)
    for number, block in enumerate(section["blocks"]):
        name = block.get("key", f"{block['kind']} {number}")
        if block["kind"] == "table":
            for index, row in enumerate(block["rows"]):
                yield from ((name, index, key, value) for key, value in row.items())
        elif block["kind"] == "sentence":
            yield from _stated(name, 0, block)
        elif block["kind"] == "tiles":
            for index, tile in enumerate(block["tiles"]):
                yield from ((name, index, key, value) for key, value in tile.items())
        elif block["kind"] == "steps":
            for index, step in enumerate(block["steps"]):
                yield name, index, "command", step["command"]
                yield from _stated(name, index, step["action"])
        elif block["kind"] == "gallery":
            for index, pair in enumerate(block["pairs"]):
                yield from ((name, index, key, pair[key]) for key in ("query_id", "candidate_id", "similar"))
        elif block["kind"] == "strips":
            for index, strip in enumerate(block["strips"]):
                yield from ((name, index, key, strip[key]) for key in ("model", "remark", "found"))
        elif block["kind"] == "gap":
            yield name, 0, "missing", block["what"]
        else:
            yield f"{name} (figure)", 0, "data", json.dumps(block["data"], ensure_ascii=False)


def _stated(name: str, row: int, sentence: dict[str, Any]) -> Iterator[tuple[str, int, str, Any]]:
    yield name, row, "text", sentence["text"]
    yield from ((name, row, key, value) for key, value in (sentence["numbers"] | sentence["names"]).items())


def _in_csv(value: Any) -> Any:
    """Lists as JSON; a text that a spreadsheet would run as a formula gets a leading apostrophe."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t", "\r"):
        return f"'{value}"
    return value
