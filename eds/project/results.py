"""What verbs return: frozen values that turn into JSON, and show themselves in a notebook."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
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
        from eds.html import render
        from eds.reports.svg import chart_svg

        values = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        return render(
            "eds.project/result.html.j2",
            values={name: _short(value) for name, value in values.items() if isinstance(value, (str, int, float))},
            charts={title: chart_svg(chart, title) for title, chart in self.charts().items()},
            frames={name: frame for name, value in values.items() if (frame := _to_frame(value)) is not None},
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
        return pd.DataFrame(to_jsonable(value))
    return None


def _short(value: str | float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
