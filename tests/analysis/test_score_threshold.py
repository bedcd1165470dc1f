"""Thresholds against worlds whose P(similar | score) is known: stated precisions hold, bands cover, weights add up."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from eds.analysis.analyses.threshold import Options, analyse
from eds.analysis.inputs import AnalysisInputs
from eds.analysis.labelled_sample import labelled_samples
from eds.analysis.score_threshold import CELLS, ScoredPairs, find_threshold, fit_curve
from eds.errors import InputError
from eds.project import Project
from eds.universe import PairRules, Universe
from tests.metrics.projects import MODELS, project_in

SLOPE, LEVEL, SPREAD = (
    1.5,
    0.8,
    0.6,
)  # logit of P(similar | score, query): LEVEL + SLOPE score + SPREAD noise of the query
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def chance(score: Any) -> Any:
    """P(similar | score), over all queries."""
    logits = LEVEL + SLOPE * np.asarray(score)[..., None] + SPREAD * NODES
    return expit(logits) @ WEIGHTS / WEIGHTS.sum()


GRID = np.linspace(-5, 6, 4001)
DENSITY = np.exp(-(GRID**2) / 2)
ABOVE = np.cumsum((chance(GRID) * DENSITY)[::-1])[::-1] / np.cumsum(DENSITY[::-1])[::-1]


def precision_from(score: float) -> float:
    """Share of similar pairs at or above a score, when scores are standard normal."""
    return float(np.interp(score, GRID, ABOVE))


def judged_pool(rng: np.random.Generator, queries: int, each: int = 27) -> ScoredPairs:
    query = np.repeat(np.arange(queries), each)
    score = rng.normal(size=len(query))
    logit = LEVEL + SLOPE * score + SPREAD * rng.normal(size=queries)[query]
    value = (rng.random(len(query)) < expit(logit)).astype(np.int64)
    return ScoredPairs(query, score, value, np.ones(len(query)), np.zeros(len(query), np.bool_))


@pytest.mark.parametrize("queries", [40, 200])
def test_the_stated_precision_holds_and_the_band_covers(queries: int) -> None:
    rng = np.random.default_rng(queries)
    held, wide, true, band = [], [], [], []
    for seed in range(200):
        world = judged_pool(rng, queries)
        result = find_threshold(world, 0.9, seed=seed)
        true.append(precision_from(result.score))
        held.append(result.low <= true[-1] <= result.high)
        wide.append(result.high - result.low)
        if seed < 40:
            curve = fit_curve(world, resamples=200, seed=seed)
            inner = slice(2, -2)  # at the ends a cell is wide, and its mean is not the curve at its mean score
            known = chance(curve.score)
            band.append(np.mean((curve.low <= known) & (known <= curve.high), where=_inner(known, inner)))
    assert 0.91 <= np.mean(held) <= 0.99
    assert abs(np.mean(true) - 0.9) < 0.01
    assert np.mean(wide) < 0.8 / queries**0.5
    assert np.mean(band) > 0.9


def _inner(values: np.ndarray, part: slice) -> np.ndarray:
    chosen = np.zeros(len(values), np.bool_)
    chosen[part] = True
    return chosen


def test_the_universe_s_precision_counts_what_the_pool_left_out() -> None:
    """1 of 30 pairs outside the pool is drawn: a pool of the best pairs alone would promise too much."""
    rng = np.random.default_rng(7)
    held, naive = [], []
    for seed in range(200):
        whole = judged_pool(rng, 80, 120)
        place = np.lexsort((-(whole.score + rng.normal(0, 0.7, len(whole.score))), whole.query))
        rank = np.empty(len(place), np.int64)
        rank[place] = np.arange(len(place)) % 120
        pool = (rank < 12) & ((whole.value == 1) | (rng.random(len(rank)) < 0.6))  # other models saw more than scores
        drawn = ~pool & (rng.random(len(pool)) < 1 / 8)
        weight = np.where(pool, 1.0, (~pool).sum() / drawn.sum())
        sample = dataclasses.replace(whole, weight=weight, outside=drawn).only(pool | drawn)
        result = find_threshold(sample, 0.85, seed=seed)
        above = whole.score >= result.score
        true = whole.value[above].mean()
        held.append(result.low <= true <= result.high)
        alone = find_threshold(whole.only(pool), 0.85, seed=seed)
        naive.append(alone.low <= whole.value[whole.score >= alone.score].mean() <= alone.high)
    assert 0.91 <= np.mean(held) <= 1
    assert np.mean(naive) < 0.5


def test_a_threshold_without_draws_above_allows_for_what_was_not_drawn() -> None:
    rng = np.random.default_rng(3)
    pool = judged_pool(rng, 60)
    below = ScoredPairs(
        np.arange(60), np.full(60, pool.score.min() - 1), np.zeros(60, np.int64), np.full(60, 4.0), np.ones(60, bool)
    )
    both = ScoredPairs(*(np.concatenate([getattr(pool, f.name), getattr(below, f.name)]) for f in FIELDS))
    plain, wider = find_threshold(pool), find_threshold(both)
    assert wider.draws_above == 0
    assert wider.low < plain.low
    assert wider.high > plain.high


FIELDS = dataclasses.fields(ScoredPairs)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda world: dataclasses.replace(world, value=np.zeros_like(world.value)), "no labelled pair is similar"),
        (lambda world: world.only(np.arange(len(world.value)) < 20), "fewer than 30 labelled pairs"),
        (lambda world: dataclasses.replace(world, score=-world.score), "no score reaches 0.9"),
    ],
)
def test_where_there_is_no_threshold_the_reason_is_told(
    change: Callable[[ScoredPairs], ScoredPairs], reason: str
) -> None:
    result = find_threshold(change(judged_pool(np.random.default_rng(1), 60)))
    assert np.isnan(result.score)
    assert reason in str(result.reason)


def test_equal_scores_stay_together_and_the_curve_rises() -> None:
    world = judged_pool(np.random.default_rng(2), 60)
    rounded = world.score.round() + 0.0
    curve = fit_curve(dataclasses.replace(world, score=rounded), resamples=50)
    assert 3 <= len(curve.score) <= len(np.unique(rounded)) < CELLS
    assert (np.diff(curve.probability) >= 0).all()
    assert (np.diff(curve.low) >= -1e-12).all()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return project_in(tmp_path_factory.mktemp("threshold") / "p", seed=2)


def test_the_weights_stand_for_every_pair_once(project: Project) -> None:
    images, suspects, truth = (project.read(name) for name in ("images", "suspects", "truth"))
    universe = Universe(images, PairRules())
    pool, whole = labelled_samples(universe, suspects, truth)
    assert (pool.population, whole.population) == ("pool", "universe")
    assert pool.weight.sum() == pytest.approx(len(suspects[suspects["origin"] == "pool"]))
    assert whole.weight.sum() == pytest.approx(universe.of_images.size)
    assert whole.covers
    outside = whole.pairs[whole.outside]
    assert not len(outside.merge(suspects.loc[suspects["origin"] == "pool", ["query_id", "candidate_id"]]))


def test_half_a_judged_pool_still_stands_for_all_of_it(project: Project) -> None:
    images, suspects, truth = (project.read(name) for name in ("images", "suspects", "truth"))
    half = suspects[suspects["origin"] == "pool"].sort_values("position").head(40)[["query_id", "candidate_id"]]
    part = labelled_samples(Universe(images, PairRules()), suspects, truth.merge(half))
    assert [sample.population for sample in part] == ["pool"]
    assert part[0].weight.sum() == pytest.approx((suspects["origin"] == "pool").sum())


def test_the_verb_gives_a_row_for_each_model_population_and_category(project: Project) -> None:
    images = project.read("images").assign(category=lambda rows: ["a", "b"] * (len(rows) // 2))
    suspects, truth = project.read("suspects"), project.read("truth")
    result = project.analyse("threshold", precision=0.45)
    assert {(row.model, row.population) for row in result.result.rows} == {
        (model, name) for model in MODELS for name in ("pool", "universe")
    }
    assert set(result.tables) >= {"thresholds", "curves"}
    scores = truth[["query_id", "candidate_id"]].assign(model="m0", score=np.linspace(0, 1, len(truth)))
    inputs = AnalysisInputs(
        images=images, universe=Universe(images, PairRules()), suspects=suspects, truth=truth, label_scores=scores
    )
    rows = analyse(inputs, Options(0.3)).rows
    assert {row.category for row in rows if row.population == "universe"} == {"", "a", "b"}
    by = {row.category: row.labelled for row in rows if row.population == "universe"}
    assert by["a"] + by["b"] == by[""]


def test_bad_questions_are_refused(project: Project) -> None:
    with pytest.raises(InputError, match="precision is 90"):
        project.analyse("threshold", precision=90.0)
    with pytest.raises(InputError, match="colour"):
        project.analyse("threshold", by="colour")
    images, suspects, truth = (project.read(name) for name in ("images", "suspects", "truth"))
    universe = Universe(images, PairRules())
    nothing = pd.DataFrame({"model": ["m"], "query_id": ["x"], "candidate_id": ["y"], "score": [0.1]})
    inputs = AnalysisInputs(
        images=images, universe=universe, suspects=suspects, truth=truth.head(0), label_scores=nothing
    )
    with pytest.raises(InputError, match="no pair of the pool is labelled"):
        analyse(inputs, Options())


def test_report_and_command_show_the_same_numbers(project: Project) -> None:
    from eds.project.report_inputs import ReportOptions, collect
    from eds.reports.sections.threshold import found

    shown = found(collect(project, ReportOptions(resamples=0)))
    assert shown.to_dict() == project.analyse("threshold").result.to_dict()
