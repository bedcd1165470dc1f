"""Numbers, shares, dates and durations as the reader's language writes them.

In texts by format fields: {n:,} {share:.1%} {seconds:.1f} {at:day} {at:date} {at:time}; elsewhere by these functions.
"""

import math
import re
import string
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from babel import dates, lists, numbers

from annotator_ui import language

MISSING = "–"
_SPEC = re.compile(r"(?P<group>,?)(?:\.(?P<digits>\d+))?(?P<kind>[dfg%]?)")


def number(value: "float | np.number[Any] | None", digits: int = 0) -> str:
    """Return a number with thousands apart and this many decimals; a missing one as a dash.

    >>> number(1234567), number(2.345, 1), number(None)
    ('1,234,567', '2.3', '–')
    >>> with language.speaking("de"):
    ...     number(1234.5, 1)
    '1.234,5'
    """
    if value is None or math.isnan(float(value)):
        return MISSING
    pattern = "#,##0" + ("." + "0" * digits if digits else "")
    rounded = Decimal(f"{value:.{digits}f}")  # as Python rounds, so that a page and an export agree
    return numbers.format_decimal(rounded, pattern, _locale())


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as text, a missing one as a dash; with a space before the sign, as the report has it.

    >>> percent(0.0921), percent(float("nan"))
    ('9.2 %', '–')
    """
    return MISSING if share is None or math.isnan(share) else f"{number(100 * share, digits)} %"


def day(moment: datetime) -> str:
    """Return day and month: 19 Nov."""
    return dates.format_skeleton("MMMd", moment, locale=_locale())


def date(moment: datetime) -> str:
    """Return day, month and year: 19 Nov 2026."""
    return dates.format_date(moment, "medium", _locale())


def time(moment: datetime) -> str:
    """Return hours and minutes: 21:04."""
    return dates.format_time(moment, "short", locale=_locale())


def duration(hours: float) -> str:
    """Return a duration as text.

    >>> duration(0.2), duration(1.6), duration(226)
    ('12 min', '1 h 36 min', '226 h')
    """
    from annotator_ui.texts import FORMATS

    minutes = round(hours * 60)
    if minutes < 60:
        return FORMATS.minutes.format(n=max(minutes, 1))
    if minutes < 600 and minutes % 60:
        return FORMATS.hours_minutes.format(hours=minutes // 60, minutes=minutes % 60)
    return FORMATS.hours.format(n=round(hours))


def seconds(value: float | None, digits: int = 1) -> str:
    """Return seconds as text: 3.2 s; missing ones as a dash."""
    from annotator_ui.texts import FORMATS

    return MISSING if value is None or math.isnan(value) else FORMATS.seconds.format(n=number(value, digits))


def interval(low: float, high: float, digits: int = 1) -> str:
    """Return the limits of a share: 8.6 to 9.8 %."""
    from annotator_ui.texts import FORMATS

    return FORMATS.limits.format(low=number(100 * low, digits), high=number(100 * high, digits))


def between(low: float, high: float, digits: int = 2) -> str:
    """Return the limits of a number: 0.62 to 0.71; without them a dash."""
    from annotator_ui.texts import FORMATS

    if math.isnan(low) or math.isnan(high):
        return MISSING
    return FORMATS.between.format(low=number(low, digits), high=number(high, digits))


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words: anna, ben and chris."""
    return lists.format_list(list(names), locale=_locale())


def fill(text: str, values: Sequence[object], named: dict[str, Any]) -> str:
    """Return the text with values filled in, each as its field asks and the language writes it.

    >>> fill("{n:,} of {share:.1%}", (), {"n": 12345, "share": 0.5})
    '12,345 of 50.0 %'
    """
    return _FORMATTER.vformat(text, values, named)


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, datetime) and format_spec in _MOMENTS:
            return _MOMENTS[format_spec](value)
        if isinstance(value, timedelta):
            return duration(value.total_seconds() / 3600)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return format(value, format_spec)
        found = _SPEC.fullmatch(format_spec)
        if found is None:
            return format(value, format_spec)
        digits, kind = int(found["digits"] or 0), found["kind"]
        if kind == "%":
            return percent(float(value), digits)
        if kind == "g" or (not kind and isinstance(value, float | np.floating) and found["digits"] is None):
            return _significant(float(value), int(found["digits"] or 6))
        return number(value, digits)


_FORMATTER = _Formatter()
_MOMENTS = {"day": day, "date": date, "time": time}


def _significant(value: float, digits: int) -> str:
    """A number with at most so many significant digits, without zeros at its end."""
    return numbers.format_decimal(Decimal(f"{value:.{digits}g}"), "#,##0.######", _locale())


def _locale() -> Any:
    return language.locale_of(language.current())
