"""HTML and SVG that cannot be broken by what stands in it: every text is escaped unless it is Markup already.

>>> str(tag("td", "<script>", class_="n"))
'<td class="n">&lt;script&gt;</td>'
"""

import re
from html import escape
from typing import Any

VOID = {"meta", "img", "br", "link", "input"}
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # no document may hold these
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")  # would turn the text around them


class Markup(str):
    """Text that is markup already; only this module and templates of ours make it."""

    __slots__ = ()


def clean(value: Any) -> str:
    r"""A text without signs that no document may hold; each is shown as a replacement character.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return BIDI.sub("\ufffd", CONTROLS.sub("\ufffd", str(value)))


def text(value: Any) -> Markup:
    """A value as text, escaped; Markup stays what it is."""
    return value if isinstance(value, Markup) else Markup(escape(clean(value)))


def join(parts: Any, between: str = "") -> Markup:
    """Parts behind each other; what is not Markup is escaped, None is left out."""
    return Markup(text(between).join(text(part) for part in parts if part is not None))


def tag(name: str, /, *inside: Any, **attributes: Any) -> Markup:
    """An element. `class_` loses its mark, other underscores become hyphens; None and False are left out."""
    told = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        label = label if label != "viewbox" else "viewBox"
        told.append(f" {label}" if value is True else f' {label}="{escape(clean(value))}"')
    head = f"<{name}{''.join(told)}>"
    return Markup(head if name in VOID else f"{head}{join(inside)}</{name}>")
