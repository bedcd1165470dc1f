"""The leaderboard: the scores' own values, what chance and the experts reach, and checks for continuous integration."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import roc_auc_score

import eds
from eds.analysis.reference_rows import chance_level, human_ceiling
from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.metrics import Measure
from eds.pairs import LabelledPairs

PAIR = ["query_id", "candidate_id"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> eds.Project:
    project = eds.Project.create(tmp_path_factory.mktemp("board") / "shop")
    project.draw_catalogue(products=24, views=2, wild=4, size=48)
    project.embed(["hsv=descriptor:hsv", "hog=descriptor:hog"])
    project.mine(k=20)
    project.pool(k=4)
    project.simulate_experts()
    project.decide()
    return project


def test_rows_are_the_scores_then_the_experts_then_chance(shop: eds.Project, tmp_path: Path) -> None:
    board = shop.leaderboard(tmp_path / "b.html", resamples=200)
    assert [row.kind for row in board.rows] == ["model", "model", "human", "chance"]
    scores = shop.score(["ROC-AUC", "VSD-HR@5", "VSD-MRR@5", "Judged@5"], resamples=200)
    whole = scores.table[scores.table["query_id"].isna()].set_index(["model", "measure"])["value"]
    for row in board.rows[:2]:
        assert {name: cell["value"] for name, cell in row.cells.items()} == whole[row.name].to_dict()
    written = json.loads((tmp_path / "b.json").read_text())
    assert written["rows"] == board.to_dict()["rows"]
    page, text = (tmp_path / "b.html").read_text(), (tmp_path / "b.md").read_text()
    for row in board.table():
        assert all(cell in page for cell in row)
    assert text.count("\n| ") == 2 + len(board.rows)


def test_groups_hold_exactly_the_models_that_do_not_differ(shop: eds.Project, tmp_path: Path) -> None:
    board = shop.leaderboard(tmp_path / "b.html", measures=["ROC-AUC", "VSD-HR@5"], resamples=200)
    compared = shop.score(["ROC-AUC", "VSD-HR@5"], resamples=200).comparison
    for measure in board.measures:
        letters = {row.name: set(row.cells[measure]["groups"]) for row in board.rows if row.kind == "model"}
        for first, second in itertools.combinations(letters, 2):
            alike = compared[measure].pair(first, second).verdict == "not distinguishable"
            assert bool(letters[first] & letters[second]) == alike


def test_the_experts_row_is_each_of_them_against_the_others() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (f"q{q}", f"c{c}", expert, int(rng.random() < (0.8 if c < 4 else 0.2)))
        for q in range(8)
        for c in range(10)
        for expert in "abcd"
        if rng.random() < 0.9
    ]
    votes = pd.DataFrame(rows, columns=[*PAIR, "expert_id", "value"])
    by_hand = []
    for expert in "abcd":
        own, others = votes[votes["expert_id"] == expert], votes[votes["expert_id"] != expert]
        share = others.groupby(PAIR)["value"].mean().rename("share").reset_index()
        joined = own.merge(share, on=PAIR)
        joined = joined[joined["share"] != 0.5]
        parts = [part for _, part in joined.groupby("query_id") if (part["share"] > 0.5).nunique() == 2]
        by_hand.append(np.mean([roc_auc_score(part["share"] > 0.5, part["value"]) for part in parts]))
    found = human_ceiling(Measure("ROC-AUC"), votes)
    assert found is not None
    assert found.value == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert (found.low, found.high, found.experts) == pytest.approx((min(by_hand), max(by_hand), 4))
    assert human_ceiling(Measure("VSD-HR", 5), votes) is None


def test_chance_is_what_a_random_order_gives() -> None:
    pairs = pd.DataFrame(
        [(f"q{q}", f"c{c}", int(c < 2)) for q in range(200) for c in range(6)], columns=[*PAIR, "value"]
    )
    labelled = LabelledPairs.from_frame(pairs)
    lengths = np.full(200, 40)
    assert chance_level(Measure("P", 5), labelled, lengths) == pytest.approx(2 / 40, abs=0.004)
    assert chance_level(Measure("Judged", 5), labelled, lengths) == pytest.approx(6 / 40, abs=0.006)
    assert chance_level(Measure("Reranked-P", 3), labelled, lengths) == pytest.approx(2 / 6, abs=0.01)
    assert chance_level(Measure("PR-AUC", average="micro"), labelled, lengths) == pytest.approx(2 / 6)
    assert chance_level(Measure("ROC-AUC"), labelled, lengths) == 0.5


def test_too_low_values_fail_and_the_files_are_there(shop: eds.Project, tmp_path: Path) -> None:
    board = shop.leaderboard(tmp_path / "b.html", resamples=0, fail_below=["hog:ROC-AUC=2", "VSD-HR@5=0"])
    assert len(board.failures) == 1
    assert (tmp_path / "b.html").exists()
    with pytest.raises(EdsError, match="hog: ROC-AUC"):
        board.raise_failures()
    words = ["benchmarks", "leaderboard", "--out", tmp_path / "c.html", "-p", shop.root, "--resamples", 0]
    failed = CliRunner().invoke(cli, [*map(str, words), "--fail-below", "ROC-AUC=2"])
    assert isinstance(failed.exception, EdsError)  # exit code 2: see tests/cli
    assert CliRunner().invoke(cli, [*map(str, words), "--fail-below", "ROC-AUC=0"]).exit_code == 0


def test_a_baseline_refuses_what_fell_below_its_interval(shop: eds.Project, tmp_path: Path) -> None:
    shop.leaderboard(tmp_path / "base.html", resamples=200)
    same = shop.leaderboard(tmp_path / "now.html", resamples=200, compare=tmp_path / "base.json")
    assert (same.failures, len(same.changes)) == ((), 8)
    raised = json.loads((tmp_path / "base.json").read_text())
    cell = raised["rows"][0]["cells"]["VSD-HR@5"]
    cell["value"], cell["low"] = cell["value"] + 0.3, cell["value"] + 0.2
    raised["rows"][1]["name"] = "gone"
    (tmp_path / "base.json").write_text(json.dumps(raised))
    now = shop.leaderboard(tmp_path / "now.html", resamples=200, compare=tmp_path / "base.json")
    assert [change["measure"] for change in now.changes if change["below"]] == ["VSD-HR@5"]
    assert sum("gone" in text for text in now.failures) == 4


def test_where_a_newcomer_is_the_values_that_are_shown_are_those_that_are_checked(
    shop: eds.Project, tmp_path: Path
) -> None:
    project = eds.Project.open(shutil.copytree(shop.root, tmp_path / "shop"))
    before = project.leaderboard(tmp_path / "before.html", measures="ROC-AUC", resamples=200)
    assert before.headings == ("ROC-AUC",)
    project.embed("lbp=descriptor:lbp")
    project.mine(k=20)
    board = project.leaderboard(tmp_path / "b.html", measures="ROC-AUC", resamples=200, fail_below=["ROC-AUC=2"])
    assert board.headings == ("ROC-AUC, self-removed",)
    (measure,) = board.measures
    for row, failure in zip(board.rows[:3], board.failures, strict=True):
        cell = row.cells[measure]
        assert str(cell["text"]).startswith(f"{cell['self_removed']['value']:.3f}")
        assert failure == f"{row.name}: {measure}, self-removed, is {cell['self_removed']['value']:.4g}, below 2"
    again = project.leaderboard(
        tmp_path / "c.html", measures="ROC-AUC", resamples=200, compare=tmp_path / "before.json"
    )
    assert [change["before"] == change["value"] for change in again.changes] == [True, True]  # plain with plain
    raised = json.loads((tmp_path / "b.json").read_text())
    raised["rows"][0]["cells"][measure]["self_removed"]["low"] = 2
    (tmp_path / "b.json").write_text(json.dumps(raised))
    now = project.leaderboard(tmp_path / "d.html", measures="ROC-AUC", resamples=200, compare=tmp_path / "b.json")
    assert len(now.failures) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fail_below": ["ROC-AUC"]}, "invalid limit 'ROC-AUC'"),
        ({"fail_below": ["nobody:ROC-AUC=0.5"]}, "no model 'nobody'"),
        ({"to": "board.txt"}, "is not a page"),
        ({"compare": __file__}, "is not a leaderboard"),
    ],
)
def test_bad_input(shop: eds.Project, options: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        shop.leaderboard(**{"to": tmp_path / "b.html", **options}, resamples=0)
