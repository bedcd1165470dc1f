"""A chart on a page, with the numbers and dates of its axes as the reader's language writes them."""

from functools import cache
from typing import Any

import altair as alt
import streamlit as st
from babel.dates import get_day_names, get_month_names

from annotator_ui import language


def show_chart(chart: Any, text: str) -> None:
    """Show a chart in the width of its place; `text` describes it to those who cannot see it."""
    st.altair_chart(chart.configure(**_config(chart)), width="stretch", alt=text)


def _config(chart: Any) -> dict[str, Any]:
    """The chart's own configuration, the locale, and each row's name beside it: Streamlit moves the outer ones."""
    own = {} if chart.config is alt.Undefined else chart.config.to_dict()
    rows = {"labelFlush": False, **own.get("axisY", {})}
    return {**own, "axisY": rows, "locale": _locale(language.current())}


@cache
def _locale(of: str) -> dict[str, Any]:
    """The locale as Vega takes it."""
    locale = language.locale_of(of)
    symbols = locale.number_symbols["latn"]
    days, short_days = (get_day_names(width, locale=locale) for width in ("wide", "abbreviated"))
    months, short_months = (get_month_names(width, locale=locale) for width in ("wide", "abbreviated"))
    sunday_first = (6, 0, 1, 2, 3, 4, 5)
    return {
        "number": {
            "decimal": symbols["decimal"],
            "thousands": symbols["group"],
            "grouping": [3],
            "currency": ["", ""],
            "percent": " %",
        },
        "time": {
            "dateTime": "%x, %X",
            "date": "%d.%m.%Y",
            "time": "%H:%M:%S",
            "periods": ["AM", "PM"],
            "days": [days[day] for day in sunday_first],
            "shortDays": [short_days[day] for day in sunday_first],
            "months": [months[month] for month in range(1, 13)],
            "shortMonths": [short_months[month] for month in range(1, 13)],
        },
    }
