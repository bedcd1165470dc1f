"""Notebook 02 runs from top to bottom, is stored with its outputs, and its claims hold."""

import pytest

from eds import truth
from tests.notebooks import executed, holds_outputs
from tests.privileges import needed

NAME = "02_labels_to_truth.ipynb"


def test_it_is_stored_with_its_outputs() -> None:
    assert holds_outputs(NAME)


def test_it_runs_and_its_claims_hold(capsys: pytest.CaptureFixture[str]) -> None:
    needed("timm")  # embeds pictures
    values = executed(NAME)
    assert "votes a pair are enough" in capsys.readouterr().out
    experts = values["experts"].set_index("expert_id")
    for column in ("with_others", "gold_score", "repeat_consistency", "median_seconds"):
        assert experts[column].idxmin() == "hasty"
    four, three = (values[name].coefficients.set_index("coefficient")["value"] for name in ("everybody", "three"))
    assert three["krippendorff_alpha"] > four["krippendorff_alpha"] + 0.05
    wrong, sure = values["wrong"], values["sure"]
    assert wrong[~sure].mean() > 10 * wrong[sure].mean()
    assert values["second"].differing < 10
    assert not values["second"].stored
    alone, _, of_three, of_four, of_five = values["share"].values()
    assert alone > 4 * of_three
    assert of_four >= of_three > of_five
    assert abs(values["observed"] - values["exact"]) < 0.01
    corrected = truth.corrected_auc(values["observed"], values["eps_pos"], values["eps_neg"])
    assert abs(corrected - values["exact"]) > abs(values["observed"] - values["exact"])
    assert 2 < 3 - values["pairs"]["agreement"] < 2.3
