"""Charts: every one draws whatever numbers it gets, keeps hostile names as text, and asks for nothing."""

import math
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.reports import charts
from eds.reports.hash_charts import DOT, LINE, place_labels
from eds.reports.svg import chart_svg

EVIL = "<script>alert('x')</script>]]>&\"\x00'"
NAMES = ["a", "b", EVIL]
VALUES = [0.25, None, math.nan]
LOW, HIGH = [0.2, None, math.nan], [0.3, None, math.nan]
GROWTH = pd.DataFrame({"labelled": [1, 2, 3], "rate": VALUES, "low": LOW, "high": HIGH})
EXAMPLES: dict[str, Callable[[], alt.LayerChart]] = {
    "bar": lambda: charts.bar_chart(NAMES, VALUES),
    "logarithmic": lambda: charts.log_chart(NAMES, [1.0, 0.0, 1e6], "hours"),
    "bound": lambda: charts.bound_chart(NAMES, VALUES, HIGH, [False, True]),
    "forest": lambda: charts.forest_chart(NAMES, VALUES, LOW, HIGH, [True], [["a", EVIL], ["a", "b"]]),
    "interval": lambda: charts.interval_chart(NAMES, VALUES, LOW, HIGH, "share", marks=[True]),
    "dot": lambda: charts.dot_chart(NAMES, VALUES, [VALUES] * 3, NAMES),
    "dot with legend": lambda: charts.dot_chart(NAMES, VALUES, [VALUES] * 3, NAMES, legend=True),
    "curve": lambda: charts.curve_chart(NAMES, [[0, 1]] * 3, [[0, 1]] * 3, "x", "y", 0.4, [False, True]),
    "line": lambda: charts.line_chart([1, 2, 3], VALUES, LOW, HIGH, "rank"),
    "growth": lambda: charts.growth_chart(GROWTH, "pairs"),
    "band": lambda: charts.band_chart([0.1, 0.2, 0.3], VALUES, LOW, HIGH, EVIL, 0.2),
    "scatter": lambda: charts.scatter_chart(NAMES, VALUES, VALUES, LOW, HIGH, "x", "y"),
    "heat map": lambda: charts.heat_map(NAMES, NAMES, [VALUES] * 3, "share", diagonal=False),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_chart_is_a_drawing_without_script_links_or_markup_of_others(name: str) -> None:
    svg = chart_svg(EXAMPLES[name](), EVIL)
    root = ElementTree.fromstring(svg)
    kinds = {str(node.tag).rpartition("}")[2] for node in root.iter()}
    assert kinds <= {"svg", "g", "path", "line", "text", "title", "defs", "clipPath", "rect"}
    assert root.attrib["aria-label"] == EVIL.replace("\x00", "\ufffd")
    assert re.findall(r"\bhref|\burl\(http|<style|\bon\w+=", svg) == []
    assert any(EVIL[:8] in (node.text or "") for node in root.iter()) or name in ("line", "growth")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_chart_is_valid_vega_lite_with_a_tooltip(name: str) -> None:
    spec = EXAMPLES[name]().to_dict(validate=True)
    assert any("tooltip" in layer["encoding"] for layer in spec["layer"])


def texts(svg: str, tag: str = "text") -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter() if str(node.tag).endswith(tag)]


def test_a_tooltip_tells_the_number_and_its_limits() -> None:
    svg = chart_svg(charts.interval_chart(["a", "b"], [0.25, None], [0.2, None], [0.3, None], "share"), "")
    assert texts(svg, "title") == ["a: 25.0 % [20.0 %, 30.0 %]", "b: n/a"]


@pytest.mark.parametrize("value", [0.0, 0.1, 0.7, 1.0, -3.5, 1e-300, 1e12])
def test_values_one_ulp_apart_are_drawn(value: float) -> None:
    """They once ended in a division by zero while the ticks of the axis were chosen."""
    both = [value, math.nextafter(value, math.inf)]
    for chart in (
        charts.interval_chart(["a", "b"], both, both, both),
        charts.dot_chart(["a", "b"], both, [both, both]),
        charts.line_chart([1, 2], both, both, both),
        charts.scatter_chart(["a", "b"], both, both),
        charts.heat_map(["a"], ["b", "c"], [both]),
    ):
        svg = chart_svg(chart, "")
        assert "NaN" not in svg
        assert "Infinity" not in svg


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5))
def test_every_point_is_drawn_inside_the_chart(values: list[float]) -> None:
    names = [f"m{number}" for number in range(len(values))]
    svg = chart_svg(charts.interval_chart(names, values, values, values), "")
    assert "NaN" not in svg
    points = re.findall(r'<path transform="translate\(([-\d.e]+),', svg)
    assert len(points) == len(values)
    assert all(-1 <= float(x) <= charts.WIDTH for x in points)


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=8))
def test_any_text_is_drawn_as_a_name_a_heading_and_a_title(text: str) -> None:
    for chart in (charts.curve_chart([text], [[0, 1]], [[0, 1]], text, text),):
        ElementTree.fromstring(chart_svg(chart, text))


def test_colours_of_the_page_replace_those_of_the_chart() -> None:
    svg = chart_svg(EXAMPLES["interval"](), "")
    assert f"var(--s0, {charts.MAIN})" in svg
    assert f'"{charts.MAIN}"' not in svg


def test_charts_without_rows_are_drawn() -> None:
    empty: list[Any] = []
    for chart in (
        charts.bar_chart(empty, empty),
        charts.interval_chart(empty, empty, empty, empty),
        charts.curve_chart(empty, empty, empty),
        charts.line_chart(empty, empty),
        charts.heat_map(empty, empty, empty),
    ):
        assert chart_svg(chart, "empty").startswith("<svg")


def test_labels_beside_points_cover_neither_each_other_nor_a_point() -> None:
    rng, letter = np.random.default_rng(0), 5.0
    x, y = rng.uniform(0, 120, 12).tolist(), rng.uniform(90, 120, 12).tolist()  # crowded
    names = [f"method-{number}" for number in range(12)]
    boxes = [(at - DOT, at + DOT, high) for at, high in zip(x, y, strict=True)]
    for at, high, name in zip(x, place_labels(x, y, names, letter), names, strict=True):
        left, right = at + DOT, at + DOT + letter * len(name)
        assert high >= 0
        assert not [box for box in boxes if abs(box[2] - high) < LINE and left < box[1] and box[0] < right]
        boxes.append((left, right, high))


def test_labels_of_an_axis_that_would_touch_are_left_out() -> None:
    chart = charts.interval_chart(NAMES, [0.69, 0.6, 0.64], [0.67, 0.58, 0.62], [0.7, 0.62, 0.65])
    assert re.findall(r">([01]\.\d+)</text>", chart_svg(chart.properties(width=280), "x"))[:2] == ["0.58", "0.62"]
