from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import TableError
from eds.schema import Table, to_arrow, to_frame
from eds.tables import IMAGES, LABELS, NEIGHBORS, TABLES, TRUTH, check
from tests import strategies
from tests.reference.schema import wrong_columns


def neighbors(**changes: Any) -> pd.DataFrame:
    columns = {
        "model": ["a", "a", "b"],
        "query_id": ["q", "q", "q"],
        "candidate_id": ["x", "y", "x"],
        "rank": [0, 1, 0],
        "score": [0.9, 0.5, 0.7],
    }
    return pd.DataFrame(columns | changes)


def refusal(frame: pd.DataFrame, table: Table = NEIGHBORS) -> str:
    with pytest.raises(TableError) as caught:
        check(frame, table)
    return str(caught.value)


@given(st.data())
def test_valid_frames_survive_arrow(data: st.DataObject) -> None:
    table = data.draw(strategies.tables)
    frame = data.draw(strategies.frames(table))
    again = to_frame(to_arrow(frame, table))
    pd.testing.assert_frame_equal(again, frame)


@given(st.data())
def test_the_columns_found_wrong_are_those_the_slow_reference_finds(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([NEIGHBORS, TRUTH, IMAGES, LABELS]))
    frame = data.draw(strategies.frames(table))
    poison: dict[str, list[Any]] = {
        "text": ["", "\0", None, "other"],
        "integer": [-1, 5, None],
        "real": [np.inf, -2.0, np.nan, 3.0],
    }
    for column in data.draw(st.lists(st.sampled_from(table.columns), max_size=3)):
        if len(frame) and column.kind in poison:
            value = data.draw(st.sampled_from(poison[column.kind]))
            row = data.draw(st.integers(0, len(frame) - 1))
            series = frame[column.name].astype(object)
            series.iloc[row] = value
            frame[column.name] = series if column.kind == "text" else pd.to_numeric(series).astype("Float64")
    expected = wrong_columns(frame, table)
    try:
        check(frame, table)
        told = set()
    except TableError as error:
        lines = error.faults or (error.what,)
        told = {line.split()[1] if line.startswith("column") else "key" for line in lines}
    assert told == expected


def test_all_faults_are_told_at_once_with_row_and_value() -> None:
    frame = neighbors(query_id=["", "q", "q"], rank=[0, -1, 0], score=[0.9, np.inf, np.nan], extra=1)
    message = refusal(frame)
    for part in (
        "5 faults",
        "column extra is unknown",
        "column query_id may not be empty text: row 0 has ''",
        "column rank must be at least 0: row 1 has -1",
        "column score must be finite: row 1 has inf",
        "column score may not be empty: row 2 has no value",
    ):
        assert part in message


def test_repeated_keys_are_told() -> None:
    assert "key model, query_id, candidate_id must be unique: row 2 has 'a q x'" in refusal(
        neighbors(model=["a", "a", "a"])
    )


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("rank", ["0", 1, 2], "column rank needs integer: row 0 has '0'"),
        ("rank", [0.5, 1.0, 2.0], "column rank needs integer"),
        ("rank", [True, False, True], "column rank needs integer: row 0 has True"),
        ("score", ["high", 0.1, 0.2], "column score needs real: row 0 has 'high'"),
        ("query_id", [1, 2, 3], "column query_id needs text: row 0 has 1"),
        ("query_id", ["q", 2, "q"], "column query_id needs text: row 1 has 2"),
        ("query_id", ["q\0", "q", "q"], "may not contain the character NUL: row 0"),
    ],
)
def test_wrong_kinds_are_refused_not_converted(column: str, values: list[Any], told: str) -> None:
    assert told in refusal(neighbors(**{column: values}))


def test_a_long_value_is_shortened_in_the_message() -> None:
    message = refusal(neighbors(query_id=["é" * 10_000 + "\0", "q", "q"]))
    assert "characters)" in message
    assert len(message) < 400


@given(st.data())
def test_a_missing_column_holds_its_default_or_nothing(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([IMAGES, LABELS, TRUTH]))
    frame = data.draw(strategies.frames(table))
    column = data.draw(st.sampled_from([column for column in table.columns if not table.is_required(column)]))
    filled = to_arrow(frame.drop(columns=column.name), table)
    assert filled.schema == to_arrow(frame, table).schema
    assert filled[column.name].to_pylist() == [column.default] * len(frame)


def test_a_missing_key_or_column_without_default_is_refused() -> None:
    assert "column rank is missing" in refusal(neighbors().drop(columns="rank"))


def test_times_without_zone_are_refused() -> None:
    frame = LABELS.empty()
    frame["created_at"] = pd.Series([], dtype="datetime64[us]")
    assert "use times with a time zone" in refusal(frame, LABELS)


def test_categories_and_whole_floats_are_taken() -> None:
    frame = neighbors(rank=[0.0, 1.0, 0.0])
    frame["model"] = frame["model"].astype("category")
    assert to_frame(to_arrow(frame, NEIGHBORS))["model"].tolist() == ["a", "a", "b"]


def test_further_columns_pass_where_declared_and_keep_their_values() -> None:
    frame = IMAGES.empty()
    frame["colour"] = pd.Series([], dtype="float64")
    assert to_frame(to_arrow(frame, IMAGES)).columns.tolist() == [*IMAGES.names, "colour"]
    assert "column colour is unknown" in refusal(neighbors(colour=1.0))


@given(st.data())
def test_row_order_does_not_change_the_verdict(data: st.DataObject) -> None:
    frame, seed = data.draw(strategies.frames(NEIGHBORS)), data.draw(st.integers(0, 99))
    check(frame.sample(frac=1, random_state=seed), NEIGHBORS)
    if len(frame):  # a key that stands twice is refused wherever its rows stand
        twice = pd.concat([frame, frame.tail(1)], ignore_index=True)
        with pytest.raises(TableError):
            check(twice.sample(frac=1, random_state=seed), NEIGHBORS)


def test_every_column_has_a_sentence() -> None:
    for table in TABLES.values():
        assert table.row
        assert set(table.key) <= set(table.names)
        for column in table.columns:
            assert len(column.meaning) > 8, (table.name, column.name)
