"""Projects of a few images, walked by the verbs: every report is written, and p_k is one number with one interval."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds import Project
from eds.cli import cli

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
    judged = whole[whole["measure"] == "Judged@5"].set_index("model")["value"]
    models = project.analyse("bias").result.models.set_index("model")
    assert models["judged"].to_dict() == pytest.approx(judged.to_dict())
    for item in scores.comparison["VSD-HR@5"].models if "VSD-HR@5" in scores.comparison else ():
        assert item.judged == pytest.approx(judged[item.model])


def test_a_project_without_similar_pairs_says_nothing_of_numbers_that_are_undefined(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=9, views=2, wild=0, size=64)
    project.embed(MODELS)
    project.mine(k=6)
    project.pool(k=3)
    project.draw_random(20)
    pairs = project.read("suspects")[["query_id", "candidate_id"]].drop_duplicates()
    votes = pd.concat([pairs.assign(expert_id=name, value=0) for name in ("ann", "bob")])
    votes.to_csv(tmp_path / "votes.csv", index=False)
    project.labels.import_votes(tmp_path / "votes.csv", "shop", new_experts=True)
    project.decide()
    project.report(tmp_path / "report.html", resamples=50, pictures=False)
    report = json.loads((tmp_path / "report.json").read_text())
    blocks = [block for part in report["sections"] if part["key"] != "limits" for block in part["blocks"]]
    said = [block for block in blocks if block["kind"] == "sentence"]
    said += [section["answer"] for section in report["sections"] if section["answer"]]
    assert [block["text"] for block in said if "n/a" in block["text"] or "at least 0 " in block["text"]] == []
    (agreement,) = tables_called("coefficients", report)
    assert "all votes are alike" in agreement["caption"]
    printed = (
        CliRunner().invoke(cli, ["analysis", "prevalence", "-p", str(project.root)], catch_exceptions=False).output
    )
    assert "unknown" not in printed


def test_lists_with_all_images_of_a_product_are_scored_where_no_measure_is_named(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop", {"neighbors.one_per_product": False})
    project.draw_catalogue(products=9, views=2, wild=0, size=64)
    project.embed(MODELS)
    project.mine(k=10)
    project.pool(k=3)
    project.simulate_experts()
    project.decide()
    shown = project.score(resamples=20).summary.columns
    assert list(shown) == ["model", "ROC-AUC", "P@5", "RR@5", "Judged@5"]
