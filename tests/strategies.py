"""Random tables, valid by construction: the ground of the property tests."""

from datetime import UTC, datetime
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from eds.schema import Column, Table
from eds.tables import TABLES

ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def values(column: Column, *, in_key: bool) -> st.SearchStrategy[Any]:
    """Values that a column allows."""
    low = int(column.low or 0)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "text": ids
        if in_key
        else st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
        "integer": st.integers(low, low + 2**31),
        "real": st.floats(column.low, column.high, allow_nan=False, allow_infinity=False),
        "flag": st.booleans(),
        "time": times,
    }
    found = st.sampled_from(column.allowed) if column.allowed else kinds[column.kind]
    return st.one_of(st.none(), found) if column.nullable else found


@st.composite
def frames(draw: st.DrawFn, table: Table, max_rows: int = 5) -> pd.DataFrame:
    """A valid frame of a table."""
    row = st.fixed_dictionaries({c.name: values(c, in_key=c.name in table.key) for c in table.columns})
    rows = draw(st.lists(row, max_size=max_rows, unique_by=lambda r: tuple(r[name] for name in table.key)))
    frame = table.empty()
    if not rows:
        return frame
    return pd.DataFrame({name: pd.Series([r[name] for r in rows], dtype=frame[name].dtype) for name in table.names})


tables = st.sampled_from(list(TABLES.values()))
