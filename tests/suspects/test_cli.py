"""`eds suspects` and `eds analysis` on a project on disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import analysis, suspects
from eds.errors import EdsError
from eds.project import Project
from eds.project.pool import refresh
from eds.tables import Provenance
from tests.reference import suspects as slow
from tests.suspects.lists import catalogue, drawn_lists, frame_of

ROWS = drawn_lists(10, 3, 12, 40)
Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Ten wild queries, forty candidates, three models mined to depth 12."""
    made = Project.create(tmp_path / "p")
    images = catalogue([f"q{n:04}" for n in range(10)], [f"c{n:04}" for n in range(40)])
    made.write(images, "images", Provenance("test"))
    for model in ("m0", "m1"):
        mine(made, model)
    return made


def mine(project: Project, model: str) -> None:
    rows = [row for row in ROWS if row[0] == model]
    project.write(frame_of(rows), "neighbors", Provenance("test", {"neighbors.k": 100}), model)


@pytest.fixture
def call(project: Project) -> Call:
    """Run a command and give its JSON answer."""

    def run(*words: str) -> Any:
        group = {"suspects": suspects.suspects, "analysis": analysis.analysis}[words[0]]
        options = ["--json", "-q", "-p", str(project.root)]
        done = CliRunner().invoke(group, [*words[1:], *options], catch_exceptions=False)
        return json.loads(done.stdout)

    return run


def pool_of(frame: pd.DataFrame) -> set[tuple[str, str]]:
    mine = frame[frame["origin"] == "pool"]
    return set(zip(mine["query_id"], mine["candidate_id"], strict=True))


def test_pool_then_everything_else_and_nothing_is_lost(project: Project, call: Call, tmp_path: Path) -> None:
    told = call("suspects", "pool", "-k", "4", "--batch", "10")
    two = [row for row in ROWS if row[0] != "m2"]
    assert told["size"] == told["overlap"]["unique"] == len(slow.pooled(two, 4))
    assert [row["size"] for row in told["growth"]] == slow.grown(two, 8)
    assert [plan["pairs"] for plan in told["cost"]] == [400, 80, told["size"]]
    assert call("suspects", "random", "-n", "20", "--stratum", "near", "--max-rank", "12")["drawn"] == 20
    assert call("suspects", "random", "-n", "15", "--stratum", "rest", "--max-rank", "12")["drawn"] == 15
    assert call("suspects", "negatives", "--min-rank", "6", "--max-rank", "12", "-n", "2")["queries"] == 10
    own, known = tmp_path / "own.csv", tmp_path / "known.csv"
    own.write_text("query_id,candidate_id\nq0000,q0001\n")
    known.write_text("query_id,candidate_id,value\nq0001,q0002,1\nq0001,q0003,0\n")
    assert call("suspects", "add", str(own))["drawn"] == 1
    assert call("suspects", "gold", str(known), "-n", "2")["drawn"] == 2
    assert call("suspects", "repeats", "-n", "5")["drawn"] == 5
    before = project.read("suspects")
    assert project.state("suspects").condition == "fresh", "k and batch were options: eds.toml does not change them"

    mine(project, "m2")
    assert call("suspects", "pool", "-k", "4", "--batch", "10")["new"] == 0, "a later model is only compared"
    project.add_model("m2", role="generator")
    grown = call("suspects", "pool", "-k", "4", "--batch", "10")
    after = project.read("suspects")
    assert pool_of(after) == {*slow.pooled(ROWS, 4), ("q0000", "q0001")}
    kept = ["query_id", "candidate_id", "origin", "batch", "position", "stratum", "probability"]
    pd.testing.assert_frame_equal(after[kept].head(len(before)), before[kept])
    assert grown["new"] == len(after) - len(before) > 0
    listed = call("suspects", "list")
    assert listed["pairs"] == len(after)
    assert {row["origin"] for row in listed["by_origin"]} == {"pool", "random", "negative", "gold", "repeat"}

    project.path("neighbors", "m2").unlink()
    fewer = call("suspects", "pool", "-k", "4", "--batch", "10")
    assert fewer["dropped_models"] == ["m2"]
    assert fewer["new"] == 0
    assert len(project.read("suspects")) == len(after)


def test_run_pools_once_and_again_only_for_a_new_model(project: Project) -> None:
    refresh(project)
    first = project.path("suspects").read_bytes()
    assert project.state("suspects").condition == "fresh"
    refresh(project)
    assert project.path("suspects").read_bytes() == first
    mine(project, "m2")
    refresh(project)
    assert project.path("suspects").read_bytes() == first
    project.add_model("m2", role="generator")
    refresh(project)
    assert pool_of(project.read("suspects")) == set(slow.pooled(ROWS, 6))
    assert project.state("suspects").condition == "fresh"


def test_run_keeps_to_the_models_and_the_rule_that_were_asked_for(project: Project, call: Call) -> None:
    call("suspects", "pool", "--models", "m0", "--symmetric", "merge")
    call("suspects", "random", "-n", "3")
    mine(project, "m1")
    refresh(project)
    assert not project.read("suspects")["sources"].fillna("").str.contains("m1").any()


def test_labels_feed_growth_and_reorder(project: Project, call: Call) -> None:
    call("suspects", "pool", "-k", "4", "--batch", "10")
    before = project.read("suspects")
    with pytest.raises(EdsError, match="no decided labels yet"):
        call("suspects", "reorder", "--order", "bandit")
    judged = before.head(10)[["query_id", "candidate_id"]].assign(
        value=1, votes_for=1, votes_against=0, unsure=0, tie=False, rule="majority"
    )
    project.write(judged, "truth", Provenance("test"))
    assert call("suspects", "reorder", "--order", "bandit", "--batch", "10")["drawn"] == len(before) - 10
    by_rank = call("suspects", "growth", "--k-max", "4")["positive_rate_by_rank"]
    project.write(before[["query_id", "candidate_id"]].assign(**judged.iloc[0, 2:]), "truth", Provenance("test"))
    stored = project.path("suspects").read_bytes()
    assert call("suspects", "reorder", "--order", "bandit", "--batch", "10")["drawn"] == 0
    assert project.path("suspects").read_bytes() == stored, "nothing was open: tables made from the pairs stay fresh"
    proposals = sum(text.count(";") + 1 for text in before.head(10)["sources"])
    assert sum(rate["positive"] for ranks in by_rank.values() for rate in ranks) == proposals


def test_overlap_and_budget_are_told(project: Project, call: Call) -> None:
    found = call("analysis", "overlap", "-k", "5")["result"]
    expected = slow.overlapped(row for row in ROWS if row[0] != "m2" and row[3] < 5)
    assert found["overlap"] == expected["overlap"]
    plans = call("analysis", "budget", "--queries", "2000", "--images", "52712", "--models", "6", "--pool", "54170")
    assert [plan["pairs"] for plan in plans["plans"]] == [105_422_000, 72_000, 54_170]
    assert [plan["pairs"] for plan in call("analysis", "budget")["plans"]] == [400, 120]


@pytest.mark.parametrize(
    "words",
    [
        ["suspects", "pool"],
        ["suspects", "list"],
        ["suspects", "growth"],
        ["analysis", "budget", "--hourly", "20"],
        ["analysis", "overlap"],
    ],
)
def test_answers_for_reading_hold_the_figures(project: Project, call: Call, words: list[str]) -> None:
    call("suspects", "pool")
    group = suspects.suspects if words[0] == "suspects" else analysis.analysis
    done = CliRunner().invoke(group, [*words[1:], "-p", str(project.root)], catch_exceptions=False)
    assert done.exit_code == 0
    size = len(slow.pooled([row for row in ROWS if row[0] != "m2"], 6))
    assert str(size) in done.stdout


def test_what_the_budget_is_not_told_it_takes_from_the_project(call: Call) -> None:
    def pairs(*words: str) -> int:
        return int(call("analysis", "budget", "-k", "3", *words)["plans"][0]["pairs"])

    assert pairs() == 10 * 40
    assert pairs("--images", "1e9") == 10 * 10**9
    assert pairs("--queries", "3") == 3 * 40


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["suspects", "pool", "--models", "zz"], "no lists of model zz"),
        (["suspects", "pool", "-k", "101"], "needs deeper lists"),
        (["suspects", "random", "-n", "5", "--stratum", "near"], "there is no pool yet"),
        (["suspects", "random", "-n", "500"], "500 pairs of 400 cannot be drawn"),
        (["suspects", "repeats", "-n", "5"], "5 repeats of 0 pairs"),
    ],
)
def test_what_cannot_be_done_is_told(call: Call, words: list[str], told: str) -> None:
    with pytest.raises(EdsError, match=told):
        call(*words)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("query_id\nq\n", "column candidate_id is missing"),
        ("query_id,candidate_id\nq0000,q0000\n", "an image with itself"),
        ("query_id,candidate_id\nq0000,c0001\nq0000,c0001\n", "must be unique"),
        ("", "cannot be read"),
    ],
)
def test_bad_files_of_pairs_are_told(call: Call, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(text)
    with pytest.raises(EdsError, match=told):
        call("suspects", "add", str(file))


def test_pairs_of_unknown_images_are_refused(call: Call, tmp_path: Path) -> None:
    call("suspects", "pool", "-k", "4")
    file = tmp_path / "own.csv"
    file.write_text("query_id,candidate_id,value\nq0001,nobody,1\nstranger,c0001,0\n")
    for words in (["add", str(file)], ["gold", str(file), "-n", "1"]):
        with pytest.raises(EdsError, match="not in table images") as caught:
            call("suspects", *words)
        assert caught.value.faults == ("query_id: 1 unknown: stranger", "candidate_id: 1 unknown: nobody")


def test_lists_that_are_not_deep_enough_are_never_cut_short_silently(project: Project, call: Call) -> None:
    project.write(
        frame_of([row for row in ROWS if row[0] == "m0"]), "neighbors", Provenance("t", params={"k": 9}), "m0"
    )
    for words in (
        ["random", "-n", "1", "--stratum", "near", "--min-rank", "2", "--max-rank", "10"],
        ["random", "-n", "1", "--stratum", "rest", "--min-rank", "2", "--max-rank", "10"],
        ["negatives", "--min-rank", "6", "--max-rank", "10"],
        ["growth", "--k-max", "10"],
        ["pool", "-k", "10"],
    ):
        with pytest.raises(EdsError, match="needs deeper lists") as caught:
            call("suspects", *words)
        assert caught.value.faults == ("the lists of model m0 were made to depth 9",)
    call("suspects", "growth", "--k-max", "9")
    with pytest.raises(EdsError, match="overlap at k = 10 needs deeper lists") as caught:
        call("analysis", "overlap", "-k", "10")
    assert "eds neighbors mine, without -k: eds.toml says 100" in str(caught.value)
    call("analysis", "overlap", "-k", "9")


def test_queries_without_any_negative_are_counted(call: Call) -> None:
    told = call("suspects", "negatives", "--min-rank", "6", "--max-rank", "12", "-n", "40")
    assert told["queries_with_fewer"] == 10


def test_a_pool_of_stale_lists_says_so(project: Project, call: Call) -> None:
    made_by = Provenance("test", {"neighbors.k": 100}, {"embeddings/m1": "0" * 64})
    project.write(frame_of([row for row in ROWS if row[0] == "m1"]), "neighbors", made_by, "m1")
    assert call("suspects", "pool", "-k", "4")["stale_lists"] == {"m1": ["embeddings/m1 is gone"]}
    shown = CliRunner().invoke(suspects.suspects, ["pool", "-k", "4", "-p", str(project.root)]).stdout
    assert "The lists of m1 are stale (embeddings/m1 is gone): run eds neighbors mine, or leave it out" in shown
