"""What a notebook shows of a result: every value that has a short form, every table, and nothing empty."""

from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from eds.analysis.totals import Estimate
from eds.project.results import Result


@dataclass(frozen=True)
class Part(Result):
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Whole(Result):
    made: list[str]
    share: Estimate | None
    counts: dict[str, int]
    part: Part
    file: Path
    hidden: str = field(default="secret", repr=False)


def test_nested_values_estimates_names_and_tables_are_shown() -> None:
    part = Part([{"measure": "AUC", "full": {"a": 0.9, "b": 0.8}, "mean": {"a": 0.7, "b": 0.6}}])
    shown = Whole(["truth", "scores"], Estimate(0.5, 0.4, 0.6), {"ties": 3}, part, Path("p.csv"))._repr_html_()
    for text in ("truth, scores", "0.5 [0.4, 0.6]", "counts: ties", "p.csv", "part: rows"):
        assert text in shown
    assert "secret" not in shown
    [table] = [table for table in pd.read_html(StringIO(shown)) if "full" in table]
    assert table["full"].tolist() == [0.9, 0.8]
    assert table["mean"].tolist() == [0.7, 0.6]


def test_a_result_without_values_says_so() -> None:
    assert "Nothing to show." in Part([])._repr_html_()
