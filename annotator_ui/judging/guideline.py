"""A guideline as the judging page shows it: plain blocks of text, so that nothing in it can become markup."""

import re
from collections.abc import Callable
from typing import Any

from eds.labels.guidelines import Guideline

_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_MARKS = re.compile(r"(\*\*|__|`)(.+?)\1")
_SLANTED = re.compile(r"(?<!\w)[*_](?=\S)([^*_]+?)(?<=\S)[*_](?!\w)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def shown(guideline: Guideline | None, version: str, picture: Callable[[str], str]) -> dict[str, Any]:
    """Version, blocks and examples; `picture` gives an image's opaque name."""
    if guideline is None:
        return {"version": version, "blocks": [], "examples": []}
    examples = [
        {"kind": one.kind, "query": picture(one.query_id), "candidate": picture(one.candidate_id), "note": one.note}
        for one in guideline.examples
    ]
    return {"version": guideline.version, "blocks": blocks(guideline.content), "examples": examples}


def blocks(content: str) -> list[dict[str, str]]:
    r"""The headings, items and paragraphs of a Markdown text, without its marks.

    >>> blocks("# Colour\nAsk for the **cut**,\nnot the *colour*.\n\n- sleeves\n2. collar")
    [{'kind': 'heading', 'text': 'Colour'}, {'kind': 'text', 'text': 'Ask for the cut, not the colour.'},
     {'kind': 'item', 'text': 'sleeves'}, {'kind': 'item', 'text': 'collar'}]
    """
    found: list[dict[str, str]] = []
    goes_on = False
    for line in map(str.strip, content.splitlines()):
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        if heading or item:
            kind, text = ("heading", heading[1]) if heading else ("item", item[1] if item else "")
            found.append({"kind": kind, "text": _plain(text)})
        elif line and goes_on and found[-1]["kind"] != "heading":
            found[-1]["text"] += f" {_plain(line)}"
        elif line:
            found.append({"kind": "text", "text": _plain(line)})
        goes_on = bool(line)
    return found


def _plain(text: str) -> str:
    return _SLANTED.sub(r"\1", _MARKS.sub(r"\2", _LINK.sub(r"\1", text)))
