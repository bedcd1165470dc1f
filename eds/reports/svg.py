"""An Altair chart as SVG inside the report: no script, tooltips as titles, colours that follow the page's theme."""

import re
from typing import Any
from xml.etree import ElementTree

import altair as alt
import vl_convert
from markupsafe import Markup

from eds.html import clean
from eds.reports.charts import CARD, HEAT, ON_HEAT, SERIES, WIDTH

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"  # of one width, so that the layout measured here fits there
INK, FAINT, LINE = "#1f2429", "#5b626b", "#dedbd4"
VARIABLES = {
    INK: "--ink",
    FAINT: "--faint",
    LINE: "--line",
    CARD: "--card",
    HEAT: "--heat",
    ON_HEAT: "--on-heat",
    "gray": "--faint",
} | {colour: f"--s{index}" for index, colour in enumerate(SERIES)}
LETTERS = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "titleColor": FAINT}
CONFIG = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        **LETTERS,
        "labelColor": FAINT,
        "gridColor": LINE,
        "domain": False,
        "labelFlush": False,
        "ticks": False,
        "labelPadding": 6,
        "titlePadding": 10,
    },
    "axisDiscrete": {"labelColor": INK},
    "legend": {
        **LETTERS,
        "labelColor": INK,
        "rowPadding": 5,
        "columnPadding": 24,
        "symbolStrokeWidth": 1.8,
        "symbolOpacity": 1,
    },
    "text": {"color": INK, "fontSize": 11},
    "tick": {"color": INK},
}
SVG = "http://www.w3.org/2000/svg"
TEXT = f"{{{SVG}}}text"
GUIDES = ("axis", "legend")  # which Vega describes in words of its own
ROUNDED = re.compile(r"-?\d+\.\d{3,}(e-\d+)?")
PRIVATE = 0xE000  # first of the 6,400 characters that have no meaning of their own
PAIRED = re.compile("[\U00010000-\U0010ffff\ue000-\uf8ff]")
ElementTree.register_namespace("", SVG)


def chart_svg(chart: alt.TopLevelMixin, label: str) -> Markup:
    """The chart as an `svg` element; `label` is what a screen reader says."""
    stand_ins: dict[str, str] = {}
    spec = _safe(chart.to_dict(validate=False), stand_ins)
    text = vl_convert.vegalite_to_svg(spec, config=CONFIG)
    text = text.translate({ord(stand_in): character for character, stand_in in stand_ins.items()})
    root = ElementTree.fromstring(text)  # noqa: S314 - made by the converter from our own chart
    _simplify(root)
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    root.attrib.clear()
    root.attrib |= {
        "viewBox": f"0 0 {max(width, WIDTH):g} {height:g}",
        "class": "chart",
        "role": "img",
        "aria-label": clean(label),
        "font-family": FONT,
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - serialised, hence escaped


def _safe(spec: Any, stand_ins: dict[str, str]) -> Any:
    """The chart's specification with texts that the converter can take.

    It aborts the process at a character that XML forbids, and cannot shorten a text within a surrogate pair: so
    characters beyond 16 bits get stand-ins, which `chart_svg` replaces again.
    """
    if isinstance(spec, dict):
        return {_safe(key, stand_ins): _safe(value, stand_ins) for key, value in spec.items()}
    if isinstance(spec, (list, tuple)):
        return [_safe(value, stand_ins) for value in spec]
    if not isinstance(spec, str):
        return spec
    return PAIRED.sub(lambda found: stand_ins.setdefault(found[0], chr(PRIVATE + len(stand_ins) % 6400)), clean(spec))


def _simplify(node: ElementTree.Element) -> None:
    """Keep what is drawn, give marks their tooltips as titles, and make known colours variables of the page."""
    for child in list(node):
        if child.attrib.get("class") in ("background", "foreground") or (child.tag == TEXT and _is_hidden(child)):
            node.remove(child)
        else:
            _simplify(child)
    tip = node.attrib.get("aria-label") if node.attrib.get("aria-roledescription") not in GUIDES else None
    kept = {key: _themed(ROUNDED.sub(_round, value)) for key, value in node.attrib.items() if _is_drawn(key, value)}
    if tip:
        if _is_hidden(node):
            kept |= {"class": "hit"}
            del kept["opacity"]
        title = ElementTree.Element(f"{{{SVG}}}title")
        title.text = tip
        node.insert(0, title)
    node.attrib.clear()
    node.attrib |= kept


def _is_hidden(node: ElementTree.Element) -> bool:
    return node.attrib.get("opacity") == "0"


def _is_drawn(attribute: str, value: str) -> bool:
    described = attribute in ("class", "role", "font-family") or attribute.startswith("aria-")
    return not described and (attribute, value) != ("opacity", "1")


def _round(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _themed(value: str) -> str:
    """A colour as the page's variable, with the colour itself where there is no such page."""
    return f"var({VARIABLES[value]}, {value})" if value in VARIABLES else value
