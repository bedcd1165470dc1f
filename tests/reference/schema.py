"""What makes a row wrong, cell by cell in plain Python: the slow twin of eds.schema."""

import math
from typing import Any

import pandas as pd

from eds.schema import Column, Table


def wrong_columns(frame: pd.DataFrame, table: Table) -> set[str]:
    """Names of the columns with at least one value that the table does not allow; "key" for repeated keys."""
    wrong = {
        column.name
        for column in table.columns
        for value in frame[column.name].tolist()
        if not allowed(value, column, in_key=column.name in table.key)
    }
    keys = [
        tuple(None if pd.isna(part) else part for part in row) for row in frame[list(table.key)].to_numpy().tolist()
    ]
    return wrong | ({"key"} if len(set(keys)) < len(keys) else set())


def allowed(value: Any, column: Column, *, in_key: bool) -> bool:
    """Whether one cell may hold this value."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return column.nullable
    if column.kind == "text" and ("\0" in value or (in_key and not column.nullable and not value)):
        return False
    if column.kind == "real" and math.isinf(value):
        return False
    if column.allowed and value not in column.allowed:
        return False
    return not ((column.low is not None and value < column.low) or (column.high is not None and value > column.high))
