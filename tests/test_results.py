"""What verbs return shows itself in a notebook: values, charts and frames, with every text escaped."""

from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from eds.analysis.totals import Estimate
from eds.project.agreement import AgreementResult
from eds.project.pool import PoolResult
from eds.project.results import Result

EVIL = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Example(Result):
    name: str
    size: int
    frame: pd.DataFrame


def test_a_notebook_shows_values_and_frames_as_text() -> None:
    shown = Example(EVIL, 3, pd.DataFrame({"id": [EVIL] * 30}))._repr_html_()
    assert EVIL not in shown
    assert "(20 of 30 rows)" in shown
    assert shown.count("&lt;script&gt;") == 21


def test_results_with_a_chart_show_it() -> None:
    empty = pd.DataFrame()
    coefficients = pd.DataFrame(
        {"coefficient": ["alpha", "kappa"], "value": [0.8, None], "low": [0.7, None], "high": [0.9, None]}
    )
    agreement = AgreementResult(9, 9, 9, 0, False, coefficients, empty, empty, empty)._repr_html_()
    assert agreement.count("<svg") == 1
    assert "alpha: 0.800 [0.700, 0.900]" in agreement
    values: dict[str, Any] = dict.fromkeys(PoolResult.__dataclass_fields__, 0)
    values |= {
        "overlap": {"models": ["a", EVIL], "overlap": [[1.0, 0.25], [0.25, 1.0]]},
        "growth": pd.DataFrame({"k": [1, 2], "size": [5, 8], "new": [5, 3]}),
    }
    pool = PoolResult(**values)._repr_html_()
    assert pool.count("<svg") == 2
    assert EVIL not in pool
    assert "k 2: 3" in pool


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
