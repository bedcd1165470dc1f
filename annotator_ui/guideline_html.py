"""A guideline's Markdown as HTML: headings, lists, bold, italic, code. Everything else stands there as it was typed.

Whoever writes a guideline is trusted with words, not with the page: no HTML, link, picture, formula or address of
theirs becomes one.
"""

import re
from collections.abc import Iterator
from html import escape

_HEAD = re.compile(r"(#{1,3})\s+(.+?)\s*#*$")
_ITEM = re.compile(r"[-*+]\s+(.+)$")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+(.+)$")
_SPANS = (
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"), "strong"),
    (re.compile(r"(?<!\w)[*_](?=\S)([^*_]+?)(?<=\S)[*_](?!\w)"), "em"),
    (re.compile(r"`([^`]+)`"), "code"),
)


def as_html(words: str) -> str:
    r"""The text as finished HTML.

    >>> as_html("# A\n<b> **is** b\n- [a](javascript:b)")
    '<div class="eds-words"><h3>A</h3><p>&lt;b&gt; <strong>is</strong> b</p><ul><li>[a](javascript:b)</li></ul></div>'
    """
    return f'<div class="eds-words">{"".join(_blocks(words.splitlines()))}</div>'


def _blocks(lines: list[str]) -> Iterator[str]:
    """Block by block; lines of one kind that follow each other belong together."""
    kind, held = "", list[str]()
    for line in [*lines, ""]:
        stripped = line.strip()
        found, content = _kind(stripped)
        if found != kind or found in ("", "head"):
            yield _closed(kind, held)
            kind, held = found, []
        if found == "head":
            level = 2 + min(len(stripped) - len(stripped.lstrip("#")), 3)
            yield f"<h{level}>{_inline(content)}</h{level}>"
            kind = ""
        elif found:
            held.append(_inline(content))


def _kind(line: str) -> tuple[str, str]:
    for kind, pattern, group in (("head", _HEAD, 2), ("ul", _ITEM, 1), ("ol", _NUMBERED, 1)):
        if match := pattern.match(line):
            return kind, match[group]
    return ("p", line) if line else ("", "")


def _closed(kind: str, held: list[str]) -> str:
    if not held:
        return ""
    if kind == "p":
        return f"<p>{'<br>'.join(held)}</p>"
    return f"<{kind}>{''.join(f'<li>{one}</li>' for one in held)}</{kind}>"


def _inline(line: str) -> str:
    shown = escape(line)
    for pattern, name in _SPANS:
        shown = pattern.sub(rf"<{name}>\1</{name}>", shown)
    return shown
