"""Notebook 02 runs from top to bottom, is stored with its outputs, and its claims hold."""

import pytest

from tests.notebooks import executed, holds_outputs

NAME = "02_labels_to_truth.ipynb"


def test_it_is_stored_with_its_outputs() -> None:
    assert holds_outputs(NAME)


def test_it_runs_and_its_claims_hold(capsys: pytest.CaptureFixture[str]) -> None:
    told = executed(NAME)
    assert "votes a pair are enough" in capsys.readouterr().out
    profiles = told["profiles"].set_index("expert_id")
    for column in ("with_others", "gold_score", "repeat_consistency", "median_seconds"):
        assert profiles[column].idxmin() == "hasty"
    alpha = {name: table.loc["krippendorff_alpha", "value"] for name, table in told["agreement"].items()}
    assert alpha["careful three"] > alpha["all four"] + 0.1
    wrong, sure = told["wrong"], told["sure"]
    assert wrong[~sure].mean() > 10 * wrong[sure].mean()
    assert len(told["differing"]) < 10
    share = list(told["share"].values())
    assert share[0] > share[2] > share[4]
    assert share[3] >= share[2]
    assert told["observed"] < told["exact"] < told["corrected"]
    assert 2 < 3 - told["alike"].mean() < 2.3
