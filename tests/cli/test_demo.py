"""The demo, small: the whole flow through the real command, twice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eds.cli.demo import demo as command
from eds.project import Project
from eds.project.demo import CATALOGUE
from eds.synthetic.experts import draw_experts
from eds.synthetic.panel import true_value

PAIR = ["query_id", "candidate_id"]
SMALL = [
    "--products",
    "10",
    "--views",
    "2",
    "--wild",
    "3",
    "--size",
    "256",
    "--model",
    "descriptor:hsv",
    "--model",
    "descriptor:hog",
]


def demo(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "eds.cli", "demo", str(folder), *SMALL, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo") / "shop"
    return folder, demo(folder)


def test_the_command_draws_the_same_catalogue_as_the_verb() -> None:
    defaults = {option.name: option.default for option in command.params}
    assert {name: defaults[name] for name in CATALOGUE} == CATALOGUE


def test_every_table_is_made_and_fresh(made: tuple[Path, dict[str, Any]]) -> None:
    states = {state.path: state.condition for state in Project.open(made[0]).states()}
    assert set(states.values()) == {"fresh"}
    assert len(states) == 1 + 2 + 2 + 1 + 1 + 1 + 1
    assert (made[0] / "sheet.png").stat().st_size > 10_000


def test_what_it_tells_is_what_the_tables_hold(made: tuple[Path, dict[str, Any]]) -> None:
    folder, told = made
    project = Project.open(folder)
    images, suspects, truth = (project.read(name) for name in ("images", "suspects", "truth"))
    assert len(images) == 10 * 2 + 3
    pool, drawn = (suspects[suspects["origin"] == origin] for origin in ("pool", "random"))
    products = pool.assign(product=pool["candidate_id"].map(images.set_index("image_id")["product_id"]))
    units = products.assign(value=true_value(pool, images, draw_experts(3, 0))).groupby(["query_id", "product"])[
        "value"
    ]
    assert told["truth"]["pool_units"] == units.ngroups
    assert told["truth"]["pool_positives"] == int(units.max().sum())
    asked = pd.concat([pool, drawn]).drop_duplicates(PAIR)
    assert told["pairs"] == len(truth) == len(asked) == len(asked.merge(truth, on=PAIR))


def test_command_report_and_page_say_the_same_of_estimates_and_truth(made: tuple[Path, dict[str, Any]]) -> None:
    folder, told = made
    checks = {check["name"]: check for check in told["checks"]}
    assert list(checks) == ["p_k", "p", "pool recall"]
    assert checks["p"]["truth"] == told["truth"]["prevalence"]
    assert checks["p_k"]["truth"] == told["truth"]["pool_rate"]
    project = Project.open(folder)
    assert [check.to_dict() for check in project.campaigns.pool_yield("simulated").checks] == told["checks"]
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    section = next(part for part in report["sections"] if part["key"] == "known-truth")
    rows = next(block for block in section["blocks"] if block["kind"] == "table")["rows"]
    shown = [{key: row[key] for key in ("name", "value", "low", "high", "truth")} for row in rows]
    assert shown == [{key: check[key] for key in ("name", "value", "low", "high", "truth")} for check in told["checks"]]


def test_negatives_are_drawn_after_the_truth_and_nobody_judges_them(made: tuple[Path, dict[str, Any]]) -> None:
    project = Project.open(made[0])
    suspects, truth = (project.read(name) for name in ("suspects", "truth"))
    negatives = suspects[suspects["origin"] == "negative"]
    assert len(negatives)
    assert not len(negatives.merge(truth, on=PAIR))


def test_its_report_lacks_nothing(made: tuple[Path, dict[str, Any]]) -> None:
    """Of three kinds of garments that ten can be, one query of each may be left: what is small is told, not missing."""
    report = json.loads((made[0] / "report.json").read_text(encoding="utf-8"))
    gaps = [block for part in report["sections"] for block in part["blocks"] if block["kind"] == "gap"]
    assert gaps == []


def test_a_second_call_makes_nothing_anew(made: tuple[Path, dict[str, Any]]) -> None:
    folder, told = made
    tables = [*folder.glob("*.parquet"), *folder.glob("*/*.parquet"), *folder.glob("embeddings/*/*")]
    before = {path: path.read_bytes() for path in tables}
    assert demo(folder) == told
    assert {path: path.read_bytes() for path in before} == before
