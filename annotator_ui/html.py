"""Tables, figures and small charts as HTML for `st.html`: calm, dense, in both themes. All text is escaped here.

Streamlit lets no SVG through `st.html`, so a chart is a picture: an SVG in a data address. Colours of HTML are mixed
from the colour of the text around it, which Streamlit sets for the theme in use.
"""

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import pandas as pd

from annotator_ui.theme import DARK, LIGHT

ACCENT = "#2a7aae"
STYLE = Path(__file__).with_name("html.css").read_text(encoding="utf-8")


def style() -> str:
    """The style of our pieces."""
    return f"<style>{STYLE}</style>"


class Html(str):
    """Finished HTML: shown as it is."""

    __slots__ = ()


def text(value: object) -> Html:
    """Anything as HTML: escaped, apart from the writing direction of what surrounds it; nothing as a dash."""
    if isinstance(value, Html):
        return value
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return Html("–")
    if isinstance(value, str):
        return Html(f"<bdi>{escape(value)}</bdi>")
    if isinstance(value, int):
        return Html(f"{value:,}")
    return Html(escape(f"{value:,.2f}" if isinstance(value, float) else str(value)))


def table(
    name: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    narrow: bool = False,
) -> Html:
    """A table that scrolls by itself where the window is narrow; `numbers` are the columns to be set to the right.

    A narrow one is as wide as what it holds.
    """
    kinds = [' class="n"' if place in numbers else "" for place in range(len(heads))]
    kind = "eds-table eds-narrow" if narrow else "eds-table"
    head = "".join(f'<th scope="col"{kind}>{_head(one)}</th>' for one, kind in zip(heads, kinds, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{text(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>"
        for row in rows
    )
    return Html(
        f'<div class="eds-wrap" tabindex="0" role="region" aria-label="{escape(name)}"><table class="{kind}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _head(words: str) -> str:
    """A column's head; one that begins with a dot is for screen readers only: what stands below says it to the eye."""
    return f'<span class="eds-unseen">{escape(words[1:])}</span>' if words.startswith(".") else escape(words)


def figures(*items: tuple[str, object, str]) -> Html:
    """Large figures in a row: what it is, the figure, a word about it."""
    parts = "".join(
        f'<div><span class="eds-quiet">{escape(name)}</span><strong>{text(value)}</strong>'
        f'<span class="eds-quiet">{escape(about)}</span></div>'
        for name, value, about in items
    )
    return Html(f'<div class="eds-figures">{parts}</div>')


def empty(title: str, body: str) -> Html:
    """What stands where there is nothing yet, and how something comes there."""
    return Html(f'<div class="eds-empty"><b>{escape(title)}</b><span class="eds-quiet">{escape(body)}</span></div>')


def note(words: str) -> Html:
    """A quiet line."""
    return Html(f'<p class="eds-note">{escape(words)}</p>')


def tag(words: str) -> Html:
    """A word in a frame."""
    return Html(f'<span class="eds-tag">{escape(words)}</span>')


def bar(share: float, words: str) -> Html:
    """A share as a bar with its figure beside it."""
    wide = 100 * min(max(share, 0.0), 1.0) if not math.isnan(share) else 0.0
    return Html(
        '<span class="eds-line"><span class="eds-bar" aria-hidden="true">'
        f'<span style="width:{wide:.1f}%"></span></span> {escape(words)}</span>'
    )


def whisker(value: float, low: float, high: float, ends: tuple[float, float] = (0.0, 1.0)) -> Html:
    """A value with its limits on a line from one end to the other; a mark at 0 if that lies between."""
    if any(math.isnan(one) for one in (value, low, high)):
        return Html("")

    def place(one: float) -> float:
        return 100 * min(max((one - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)

    zero = f'<i style="left:{place(0):.1f}%"></i>' if ends[0] < 0 < ends[1] else ""
    return Html(
        f'<span class="eds-span" aria-hidden="true">{zero}<span style="left:{place(low):.1f}%;'
        f'width:{place(high) - place(low):.1f}%"></span><b style="left:{place(value):.1f}%"></b></span>'
    )


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a person reads it."""
    if share is None or math.isnan(share):
        return "–"
    return f"{100 * share:.{digits}f} %"


def limits(low: float, high: float, digits: int = 1) -> str:
    """Limits of a share."""
    return "–" if math.isnan(low) or math.isnan(high) else f"{100 * low:.{digits}f} to {100 * high:.{digits}f} %"


def pair(query: str, candidate: str, words: tuple[str, str], *, large: bool = False) -> Html:
    """Two pictures beside each other, by their addresses; large ones fill what the window has."""
    shown = "".join(
        f'<figure><img src="{escape(address)}" alt="{escape(word)}" loading="lazy"><figcaption>{escape(word)}'
        "</figcaption></figure>"
        for address, word in zip((query, candidate), words, strict=True)
    )
    return Html(f'<div class="eds-pair{" eds-large" if large else ""}">{shown}</div>')


def button(target: str, words: str) -> Html:
    """A link to a file, like a button."""
    return Html(f'<a class="eds-button" href="{escape(target)}" download>{escape(words)}</a>')


def growth(frame: pd.DataFrame, words: str, axis: tuple[str, str], *, dark: bool) -> Html:
    """A rate as it grew, with its limits: columns labelled, rate, low, high; `axis` names both axes."""
    colours = DARK if dark else LIGHT
    width, height, left, right, top, bottom = 760, 250, 52, 12, 14, 40
    most = max(int(frame["labelled"].max()), 1)
    ceiling = min(1.0, max(0.05, math.ceil(float(frame["high"].iloc[len(frame) // 10 :].max()) * 20) / 20))

    def at(labelled: float, rate: float) -> str:
        x = left + (width - left - right) * labelled / most
        return f"{x:.1f},{top + (height - top - bottom) * (1 - min(rate, ceiling) / ceiling):.1f}"

    rows = frame[["labelled", "rate", "low", "high"]].to_numpy().tolist()
    line = " ".join(at(row[0], row[1]) for row in rows)
    band = " ".join([*(at(row[0], row[3]) for row in rows), *(at(row[0], row[2]) for row in reversed(rows))])
    marks = []
    for step in range(5):
        rate, count = ceiling * step / 4, most * step / 4
        x, y = at(count, rate).split(",")
        digits = 0 if ceiling >= 0.2 else 1
        marks.append(f'<line x1="{left}" x2="{width - right}" y1="{y}" y2="{y}" stroke="{colours["border"]}"/>')
        marks.append(f'<text x="{left - 8}" y="{float(y) + 4}" text-anchor="end">{100 * rate:.{digits}f} %</text>')
        anchor = "end" if step == 4 else "start" if step == 0 else "middle"
        marks.append(f'<text x="{x}" y="{height - bottom + 17}" text-anchor="{anchor}">{count:,.0f}</text>')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="{colours["quiet"]}">{"".join(marks)}'
        f'<polygon points="{band}" fill="{ACCENT}" fill-opacity=".2"/>'
        f'<polyline points="{line}" fill="none" stroke="{ACCENT}" stroke-width="2"/>'
        f'<text x="{(left + width - right) / 2}" y="{height - 4}" text-anchor="middle">{escape(axis[0])}</text></svg>'
    )
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    picture = (
        f'<img src="{address}" alt="{escape(words)}" style="width:100%;min-width:32rem;max-width:60rem;display:block">'
    )
    return Html(f'<div class="eds-wrap" tabindex="0" role="region" aria-label="{escape(axis[1])}">{picture}</div>')
