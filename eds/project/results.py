"""What verbs return: frozen values that turn into JSON, and show themselves in a notebook."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

ROWS = 20  # of a table, in a notebook


@dataclass(frozen=True)
class Result:
    """What a verb returns. A subclass declares the values; both forms below follow from its fields."""

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON has them; `--json` prints this."""
        return {part.name: to_jsonable(getattr(self, part.name)) for part in fields(self) if part.repr}

    def charts(self) -> "Mapping[str, alt.LayerChart]":
        """The charts that a notebook shows, by their titles."""
        return {}

    def _repr_html_(self) -> str:
        """What a notebook shows: single values in one table, then the charts, then every frame."""
        return html_of({part.name: getattr(self, part.name) for part in fields(self) if part.repr}, self.charts())


def html_of(values: Mapping[str, Any], charts: "Mapping[str, alt.LayerChart]") -> str:
    """The values as HTML: single ones in one table, then the charts, then every frame; nested values one level deep."""
    from eds.html import render
    from eds.reports.svg import chart_svg

    single: dict[str, str] = {}
    frames: dict[str, Any] = {}
    for name, value in values.items():
        inner = _inner(value)
        for key, item in ({"": value} if inner is None else inner).items():
            title = f"{name}: {key}" if key else name
            if (frame := _to_frame(item)) is not None:
                frames[title] = frame
            elif text := _short(item):
                single[title] = text
    return render(
        "eds.project/result.html.j2",
        values=single,
        charts={title: chart_svg(chart, title) for title, chart in charts.items()},
        frames=frames,
        rows=ROWS,
    )


def given_values(options: Any) -> dict[str, Any]:
    """The fields of a dataclass of options that differ from their defaults: what the caller gave."""
    values = {part.name: (getattr(options, part.name), part.default) for part in fields(options)}
    return {name: value for name, (value, default) in values.items() if value != default}


def to_jsonable(value: Any) -> Any:
    """The value as JSON has it: NumPy and pandas types become Python's, NaN and missing values become null."""
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_jsonable(item) for item in value]
    if is_dataclass(value) and hasattr(value, "to_dict"):
        return to_jsonable(value.to_dict())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [to_jsonable(row) for row in value.to_dict(orient="records")]
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: to_jsonable(getattr(value, part.name)) for part in fields(value)}
    if hasattr(value, "tolist"):
        return to_jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return None if str(value) in ("<NA>", "NaT") else str(value)


def _inner(value: Any) -> Mapping[str, Any] | None:
    """The parts of a value that has some and no form of its own."""
    if _short(value) is not None or _to_frame(value) is not None:
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: getattr(value, part.name) for part in fields(value) if part.repr}
    return {str(key): item for key, item in list(value.items())[:ROWS]} if isinstance(value, Mapping) else None


def _to_frame(value: Any) -> Any:
    """A frame as it is, a list of dataclasses or dicts as a frame; None for anything else."""
    import pandas as pd

    if hasattr(value, "to_html"):
        return value
    if (
        isinstance(value, (list, tuple))
        and value
        and all(is_dataclass(item) or isinstance(item, Mapping) for item in value)
    ):
        rows = [row for item in to_jsonable(value) for row in _rows(item)]
        return pd.DataFrame([{name: _cell(item) for name, item in row.items()} for row in rows])
    return None


def _rows(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row, or one for each model where several values of it are given by model.

    >>> _rows({"measure": "AUC", "full": {"a": 0.9, "b": 0.8}, "mean": {"a": 0.7, "b": 0.6}})
    [{'measure': 'AUC', '': 'a', 'full': 0.9, 'mean': 0.7}, {'measure': 'AUC', '': 'b', 'full': 0.8, 'mean': 0.6}]
    >>> _rows({"table": "images", "params": {}, "notes": {}})
    [{'table': 'images', 'params': {}, 'notes': {}}]
    """
    by_key = {name: value for name, value in item.items() if isinstance(value, Mapping) and value}
    keys = {tuple(value) for value in by_key.values()}
    if len(by_key) < 2 or len(keys) > 1:
        return [dict(item)]
    flat = {name: value for name, value in by_key.items() if not any(isinstance(v, Mapping) for v in value.values())}
    single = {name: value for name, value in item.items() if name not in by_key}
    return [{**single, "": key, **{name: value[key] for name, value in flat.items()}} for key in keys.pop()]


def _cell(value: Any) -> Any:
    """A value as a cell shows it: nothing is empty, names are one text."""
    if value is None or (isinstance(value, (list, Mapping)) and not value):
        return ""
    return _short(value) if isinstance(value, list) and _short(value) is not None else value


def _short(value: Any) -> str | None:
    """A value in a few words: a number, a text, names, an estimate with its limits; None if it has no such form.

    >>> _short(0.25), _short(["a", "b"]), _short({"low": 1})
    ('0.25', 'a, b', None)
    """
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, (str, int, Path)):
        return str(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, (str, int, float, Path)) for item in value):
        return ", ".join(map(str, value[:ROWS])) + (", ..." if len(value) > ROWS else "")
    if isinstance(text := getattr(value, "text", None), str):
        return text
    if is_dataclass(value) and all(hasattr(value, name) for name in ("value", "low", "high")):
        middle, low, high = (_short(getattr(value, name)) for name in ("value", "low", "high"))
        return f"{middle} [{low}, {high}]"
    return None
