"""Projects of a few images, walked by the verbs: every report is written, and p_k is one number with one interval."""

import json
from pathlib import Path
from typing import Any

import pytest

from eds import Project

MODELS = ["descriptor:hsv", "descriptor:lbp"]


def tables_called(key: str, document: Any) -> list[dict[str, Any]]:
    """Every table of the report's document that has this key."""
    parts = list(document.values()) if isinstance(document, dict) else document if isinstance(document, list) else []
    found = [table for part in parts for table in tables_called(key, part)]
    return (
        [*found, document]
        if isinstance(document, dict) and document.get("key") == key and "rows" in document
        else found
    )


@pytest.mark.parametrize(
    ("products", "views", "wild"),
    [(16, 2, 8), (4, 2, 0)],  # the first once ended in a division by zero: values an ulp apart on a chart's axis
)
def test_a_small_project_has_its_report_and_one_p_k(products: int, views: int, wild: int, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=products, views=views, wild=wild, size=64)
    project.embed(MODELS)
    project.mine(k=6)
    project.pool(k=3)
    project.draw_random(10)
    project.simulate_experts()
    project.run()
    project.report(tmp_path / "report.html", resamples=200)
    expected = project.analyse("prevalence").result.to_dict()["pool"]
    fields = ("labelled", "positive", "rate", "low", "high", "no_interval")
    (rates,) = tables_called("rates", json.loads((tmp_path / "report.json").read_text()))
    (row,) = (row for row in rates["rows"] if row["model"] == "the pool")
    page = project.campaigns.pool_yield("simulated").growth.iloc[-1]
    for shown in (row, {name: None if page[name] != page[name] else page[name] for name in fields}):
        assert {name: shown[name] for name in fields} == pytest.approx({name: expected[name] for name in fields})
    assert (expected["low"] is None) == (expected["no_interval"] is not None)
    scores = project.score("vsd", resamples=50)
    whole = scores.table[scores.table["query_id"].isna()]
    assert (whole["low"].isna() == whole["no_interval"].notna()).all()
