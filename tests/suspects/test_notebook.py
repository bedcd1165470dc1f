"""Notebook 01 runs from top to bottom, holds no results of somebody's machine, and its claims hold."""

import altair
import pytest

from tests.notebooks import executed, holds_outputs
from tests.privileges import needed

NAME = "01_images_to_suspects.ipynb"


def test_it_holds_no_outputs() -> None:
    assert not holds_outputs(NAME)


def test_it_runs_and_its_claims_hold(capsys: pytest.CaptureFixture[str]) -> None:
    needed("skimage")
    told = executed(NAME)
    assert "times as dense" in capsys.readouterr().out
    assert told["value"].mean() > 3 * told["p"]
    assert told["growth"]["marginal"][0] > told["growth"]["marginal"][-1] > 0
    assert min(told["alone"].values()) > 150
    assert sum(isinstance(shown, altair.LayerChart) for shown in told["last"]) == 5
    plans = {plan.name: plan.hours for plan in told["plans"]}
    assert plans["all pairs"] == 60
    assert 7 < plans["pool, as it is"] < 9
    assert round(told["paper"][-1].times_fewer) == 1946
