"""Tables on a terminal: nothing is cut, and no line is longer than the terminal where that is possible."""

import os
import shutil
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.cli.render import NARROWEST, format_table

WORDS = st.text("abc ", max_size=60).map(str.strip)


@given(st.lists(st.tuples(WORDS, st.integers(0, 10**6), WORDS, WORDS), min_size=1, max_size=4), st.integers(60, 200))
def test_a_table_fits_the_terminal_and_loses_no_letter(rows: list[tuple[str, int, str, str]], width: int) -> None:
    heads = ["name", "count", "note", "reason"]
    text = format_table(heads, rows, width=width)
    single = [len(cell) for row in rows for cell in row if isinstance(cell, str) and " " not in cell]
    assert max(map(len, text.splitlines())) <= max([width, NARROWEST, *(2 + size for size in single)])
    body = "".join(line for line in text.splitlines() if not line.startswith("name"))
    for letter in "abc":  # the first column comes again in a second block
        assert body.count(letter) >= sum(cell.count(letter) for row in rows for cell in row if isinstance(cell, str))


def test_columns_that_do_not_fit_follow_below_with_the_first_again() -> None:
    rows = [("m1", "x" * 30, "y" * 30), ("m2", "x", "y")]
    blocks = format_table(["model", "one", "two"], rows, width=40).split("\n\n")
    assert [block.split()[:2] for block in blocks] == [["model", "one"], ["model", "two"]]
    assert all("m1" in block and "m2" in block for block in blocks)


def test_sentences_wrap_before_columns_move() -> None:
    text = format_table(["model", "note"], [("m", "one two three four five six seven eight nine ten")], width=40)
    assert "\n\n" not in text
    words = [word for line in text.splitlines()[1:] for word in line[5:].split()]
    assert " ".join(words) == "one two three four five six seven eight nine ten"


def test_where_there_is_no_terminal_lines_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert len(format_table(["note"], [("word " * 30,)]).splitlines()) == 2


def test_on_a_terminal_its_width_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *fallback: os.terminal_size((40, 24)))
    assert len(format_table(["note"], [("word " * 30,)]).splitlines()) > 3
