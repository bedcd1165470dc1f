"""Notebook 01 runs from top to bottom, is stored with its outputs, and its claims hold."""

import altair
import pytest

from tests.notebooks import executed, holds_outputs
from tests.privileges import needed

NAME = "01_images_to_suspects.ipynb"


def test_it_is_stored_with_its_outputs() -> None:
    assert holds_outputs(NAME)


def test_it_runs_and_its_claims_hold(capsys: pytest.CaptureFixture[str]) -> None:
    needed("skimage")
    told = executed(NAME)
    assert "times as dense" in capsys.readouterr().out
    assert told["value"].mean() > 3 * told["p"]
    assert told["growth"]["new"].iloc[0] > told["growth"]["new"].iloc[-1] > 0
    assert min(told["alone"].values()) > 150
    assert sum(isinstance(shown, altair.LayerChart) for shown in told["last"]) == 5
    plans = {plan.name: plan.hours for plan in told["plans"]}
    assert plans["all pairs"] == 240
    assert 8 < plans["pool, as it is"] < 9.5
    assert round(told["paper"][-1].times_fewer) == 1946
