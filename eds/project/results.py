"""What verbs return: frozen values that turn into JSON, and show themselves in a notebook."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from typing import Any

ROWS = 20  # of a table, in a notebook


@dataclass(frozen=True)
class Result:
    """What a verb returns. A subclass declares the values; both forms below follow from its fields."""

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON has them; `--json` prints this."""
        return {part.name: to_jsonable(getattr(self, part.name)) for part in fields(self) if part.repr}

    def _repr_html_(self) -> str:
        """What a notebook shows: single values in one table, then every frame."""
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        frames = {name: value for name, value in values.items() if hasattr(value, "to_html")}
        single = {name: value for name, value in values.items() if isinstance(value, (str, int, float))}
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(_short(value))}</td></tr>" for name, value in single.items()
        )
        parts = [f"<table>{rows}</table>"] if rows else []
        for name, frame in frames.items():
            more = f" ({ROWS} of {len(frame):,} rows)" if len(frame) > ROWS else ""
            parts.append(f"<h4>{escape(name)}{more}</h4>{frame.head(ROWS).to_html(index=False)}")
        return "".join(parts)


def to_jsonable(value: Any) -> Any:
    """The value as JSON has it: NumPy and pandas types become Python's, NaN and missing values become null."""
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_jsonable(item) for item in value]
    if isinstance(value, Result):
        return value.to_dict()
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


def _short(value: str | float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
