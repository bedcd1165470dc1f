"""How a number is formatted, by its kind; the same everywhere."""

import math
from typing import Any

from eds.reports.document import Kind, Number

UNDEFINED = "n/a"
NUMERIC = ("count", "share", "points", "value", "signed", "p", "hours", "seconds", "times", "few")


def undefined(value: Any) -> bool:
    """Whether the value is missing: None, NaN or pandas' NA.

    >>> undefined(None), undefined(float("nan")), undefined(0)
    (True, True, False)
    """
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) == "<NA>"


def shown(value: Any, kind: Kind) -> str:
    """The value as text, by its kind.

    >>> [shown(54170, "count"), shown(0.848, "share"), shown(0.0004356, "share"), shown(-0.0312, "signed")]
    ['54,170', '84.8 %', '0.044 %', '−0.031']
    >>> [shown(0.70412, "value"), shown(0.0001, "p"), shown(1946.13, "times"), shown(None, "count")]
    ['0.704', '< 0.001', '1,946 ×', 'n/a']
    >>> shown(-0.0312, "points"), shown(0.00004, "points")  # a difference of two shares
    ('−3.1 pp', '0.0 pp')
    """
    if kind == "names":
        return ", ".join(map(str, value))
    if undefined(value):
        return UNDEFINED
    if kind == "text":
        return str(value)
    if kind == "flag":
        return "yes" if value else "no"
    return _number(float(value), kind)


def text_of(number: Number) -> str:
    """The number as text."""
    return shown(number.value, number.kind)


def _number(value: float, kind: Kind) -> str:
    if kind == "count":
        return _minus(f"{value:,.0f}")
    if kind == "share":
        return f"{_digits(100 * value)} %"
    if kind == "points":
        return "0.0 pp" if round(value, 3) == 0 else _minus(f"{100 * value:+.1f} pp")
    if kind == "few":
        return _minus(f"{value:,.1f}")
    if kind == "signed":
        return "0.000" if round(value, 3) == 0 else _minus(f"{value:+.3f}")
    if kind == "p":
        return "< 0.001" if value < 0.0005 else f"{value:.3f}"
    if kind == "hours":
        return f"{value:,.0f} h" if value >= 100 else f"{value:,.1f} h"
    if kind == "seconds":
        return f"{value:,.1f} s"
    if kind == "times":
        return f"{value:,.0f} ×" if value >= 100 else f"{value:,.1f} ×"
    return _minus(f"{value:.3f}")


def _digits(percent: float) -> str:
    """One decimal; below one percent two significant digits."""
    if percent == 0 or abs(percent) >= 0.95:
        return _minus(f"{percent:,.1f}")
    places = min(8, 1 - math.floor(math.log10(abs(percent))))
    return _minus(f"{percent:.{places}f}")


def _minus(text: str) -> str:
    return text.replace("-", "−")
