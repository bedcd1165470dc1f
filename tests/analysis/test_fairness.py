"""Graded fairness of measures, in simulated worlds and against plain loops."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eds.analysis import AnalysisInputs, compare, grade_fairness, reusability
from eds.analysis.fairness import UNDRAWN, MeasureFairness
from eds.metrics import Measure
from tests.analysis.worlds import AUC, HR, NEW, Size, World, draw_world

MEASURES = [AUC, HR, Measure("bpref"), Measure("ROC-AUC", average="micro")]
SMALL = Size(queries=60, candidates=150, generators=4)


def grades(world: World, measures: list[Measure], inputs: AnalysisInputs | None = None) -> dict[str, MeasureFairness]:
    """The grades by measure."""
    known = inputs or world.inputs
    comparison = compare(world.results(measures), known, resamples=100)
    return {item.measure: item for item in grade_fairness(comparison, known, resamples=100)}


@pytest.mark.parametrize("number", [0, 1])
def test_shifts_are_those_of_each_model_treated_as_new(number: int) -> None:
    world = draw_world(number, "equal", SMALL)
    for name, item in grades(world, MEASURES).items():
        slow = reusability(world.inputs, Measure.parse(name))
        assert [shift.model for shift in item.shifts] == sorted(slow)
        for shift in item.shifts:
            assert shift.value == pytest.approx(slow[shift.model]["full"], abs=1e-12)
            assert shift.unpooled == pytest.approx(slow[shift.model]["unpooled"], abs=1e-12)
            assert shift.shift == pytest.approx(-slow[shift.model]["drop"], abs=1e-12)
            assert shift.low <= shift.shift <= shift.high


def test_a_measure_that_would_hide_or_favour_an_equal_model_is_biased() -> None:
    found = grades(draw_world(2, "equal"), [AUC, HR])
    assert {item.grade for item in found.values()} == {"biased"}
    by_hits, by_auc = found[str(HR)], found[str(AUC)]
    assert by_hits.largest is not None
    assert by_hits.largest.shift < -0.05  # as new it would look much worse
    assert by_auc.largest is not None
    assert by_auc.largest.shift > 0.03  # and by AUC on all labels much better


def test_the_grade_follows_from_shifts_and_swaps() -> None:
    """A pool that each model shares with a twin: nobody's removal takes labels, so nothing shifts."""
    world = draw_world(3, "equal", SMALL)
    lists = world.inputs.require("pool_lists")
    twins = pd.concat([lists, lists.assign(model=lists["model"] + "-twin")], ignore_index=True)
    found = grades(world, MEASURES, replace(world.inputs, pool_lists=twins))
    assert {item.grade for item in found.values()} == {"fair"}
    assert all(shift.shift == 0 and not shift.swapped_with for item in found.values() for shift in item.shifts)


def test_swaps_of_models_that_queries_do_not_distinguish_never_count() -> None:
    """With eight queries nothing is distinguishable, before or after."""
    world = draw_world(4, "equal", replace(SMALL, queries=8))
    for item in grades(world, [AUC, HR]).values():
        assert not item.swaps
        assert item.grade in ("fair", "small bias", "not known")


def test_what_is_not_known_says_why() -> None:
    world = draw_world(5, "equal", SMALL)
    lists = world.inputs.require("pool_lists")
    alone = replace(world.inputs, pool_lists=lists[lists["model"] == "g0"])
    (item,) = grades(world, [AUC], alone).values()
    assert (item.grade, item.shifts) == ("not known", ())
    assert "fewer than two" in item.reason
    (item,) = grades(world, [AUC], replace(world.inputs, pool_lists=None)).values()
    assert item.grade == "not known"


def test_sampled_negatives_must_be_drawn_again_without_each_model() -> None:
    world = draw_world(6, "equal", SMALL)
    labels, rng = world.inputs.require("labels"), np.random.default_rng(0)
    sampled = Measure("ROC-AUC", negatives="sampled")
    pairs = labels[labels["value"] == 0][["query_id", "candidate_id"]]
    drawn = pairs.assign(candidate_id="x" + pairs["candidate_id"]).head(200)
    extra = pd.concat([drawn.assign(model=name, score=rng.normal(size=200)) for name in world.names])
    inputs = replace(
        world.inputs, negatives=drawn, scores=pd.concat([world.inputs.require("scores"), extra], ignore_index=True)
    )
    again = replace(world, inputs=inputs)
    (item,) = grades(again, [sampled]).values()
    assert item.grade == "not known"
    assert item.reason == UNDRAWN
    without = {name: drawn.head(150) for name in world.names if name != NEW}
    (item,) = grades(again, [sampled], replace(inputs, negatives_without=without)).values()
    assert {shift.model for shift in item.shifts} == set(without)
    assert item.grade != "not known"
