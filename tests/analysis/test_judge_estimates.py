"""Estimates with a second judge against worlds whose rate is known: they cover whatever the judge says."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, logit

from eds.analysis.judge_estimates import JudgeEstimate, estimate_rate
from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals

EACH, PREVALENCE, SPREAD, NOISE = 20, 0.4, 0.7, 1.3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
RATE = float(expit(logit(PREVALENCE) + np.hypot(SPREAD, NOISE) * NODES) @ WEIGHTS / WEIGHTS.sum())
CATALOGUES = 500
JUDGES = ("good", "binary", "scores", "yes", "useless", "inverted", "fitted")


def one(judge: str, seed: int, queries: int, whole: bool) -> JudgeEstimate:
    """A catalogue in which a quarter of the pairs is judged, drawn as pairs or as whole queries."""
    rng = np.random.default_rng([seed, queries])
    query = np.repeat(np.arange(queries), EACH)
    seen = rng.normal(0, NOISE, len(query))
    own = rng.normal(0, SPREAD, queries)[query]
    truth = (rng.random(len(query)) < expit(logit(PREVALENCE) + own + seen)).astype(float)
    known = (rng.random(queries) < 0.35)[query] if whole else rng.random(len(query)) < 0.25
    judges: dict[str, Callable[[], Reals]] = {
        "good": lambda: np.clip(0.8 * truth + 0.1 + rng.normal(0, 0.1, len(query)), 0, 1),
        "binary": lambda: np.where(rng.random(len(query)) < 0.88, truth, 1 - truth),
        "scores": lambda: expit(seen),
        "yes": lambda: np.ones(len(query)),
        "useless": lambda: np.asarray(rng.random(len(query))),
        "inverted": lambda: 0.9 - 0.8 * truth,
        "fitted": lambda: _by_other_queries(query, seen, truth, known),
    }
    answer = judges[judge]()
    value = np.where(known, truth, np.nan)
    return estimate_rate(query, value, np.ones(len(query)), answer, np.ones(len(query)), seed=seed)


def by_fitted(leaf: int, seed: int, queries: int = 100) -> JudgeEstimate:
    """A catalogue whose judge is a tree fitted on the very labels, with so many of them in a leaf."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng([seed, queries])
    query = np.repeat(np.arange(queries), EACH)
    features = rng.normal(size=(len(query), 9))
    own = rng.normal(0, SPREAD, queries)[query]
    truth = (rng.random(len(query)) < expit(logit(PREVALENCE) + own + NOISE * features[:, 0])).astype(float)
    known = rng.random(len(query)) < 0.25
    tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(features[known], truth[known])
    answer = np.asarray(tree.predict_proba(features)[:, 1], np.float64)
    value = np.where(known, truth, np.nan)
    return estimate_rate(query, value, np.ones(len(query)), answer, np.ones(len(query)), seed=seed)


def _by_other_queries(query: Integers, seen: Reals, truth: Reals, known: Flags) -> Reals:
    """The share of similar pairs among the labelled ones of the other fold with like scores."""
    result, cell = np.zeros(len(query)), np.digitize(seen, np.linspace(-2, 2, 9))
    for fold in range(2):
        mine = query % 2 == fold
        for number in range(10):
            near = ~mine & known & (cell == number)
            result[mine & (cell == number)] = truth[near].mean() if near.any() else 0.5
    return result


@pytest.mark.parametrize("whole", [False, True], ids=["pairs", "queries"])
@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_cover_and_are_never_wider_than_without_the_judge(judge: str, whole: bool) -> None:
    found = [one(judge, seed, 100, whole) for seed in range(CATALOGUES)]
    covered = np.mean([item.interval.low <= RATE <= item.interval.high for item in found])
    plain = np.mean([item.plain_interval.low <= RATE <= item.plain_interval.high for item in found])
    width = [
        (item.interval.high - item.interval.low) / (item.plain_interval.high - item.plain_interval.low)
        for item in found
    ]
    assert 0.93 <= covered <= 0.98
    assert 0.93 <= plain <= 0.98
    assert max(width) <= 1.05
    assert not any(item.saw_labels for item in found)
    worth = np.median([item.worth for item in found])
    if judge in ("yes", "useless"):
        assert np.mean([item.useful for item in found]) < 0.15
    if judge in ("good", "inverted"):
        assert worth > 1.8


def test_a_judge_fitted_on_the_labels_of_the_same_queries_is_not_found_out() -> None:
    """Why answers that come after labels must be said to be blind: here a fifth of the intervals miss, or more."""
    found = [by_fitted(3, seed) for seed in range(60)]
    assert not any(one.saw_labels for one in found)
    assert np.mean([one.interval.low <= RATE <= one.interval.high for one in found]) < 0.88


def test_a_judge_that_copies_the_labels_is_found_out_and_left_out() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        query = np.repeat(np.arange(80), EACH)
        truth = np.asarray(rng.random(len(query)) < 0.4, np.float64)
        known = rng.random(len(query)) < 0.25
        answer = np.where(known, truth, rng.random(len(query)))
        value = np.where(known, truth, np.nan)
        found = estimate_rate(query, value, np.ones(len(query)), answer, np.ones(len(query)))
        assert found.saw_labels
        assert (found.rate, found.useful) == (found.plain, False)


def test_half_an_answer_is_used_and_nothing_else_is_assumed() -> None:
    half = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        query = np.repeat(np.arange(100), EACH)
        truth = np.asarray(rng.random(len(query)) < PREVALENCE, np.float64)
        value = np.asarray(np.where(rng.random(len(query)) < 0.2, truth, np.nan), np.float64)
        answer = np.asarray(np.where(rng.random(len(query)) < 0.5, truth, np.nan), np.float64)
        found = estimate_rate(query, value, np.ones(len(query)), answer, np.ones(len(query)), seed=seed)
        assert found.answered < found.pairs
        half.append((found.worth, found.interval.low <= PREVALENCE <= found.interval.high))
    assert 1.2 < np.median([worth for worth, _ in half]) < 2.2
    assert np.mean([covered for _, covered in half]) > 0.88


@pytest.mark.parametrize(("further", "used"), [(0.0, False), (0.5, True)])
def test_answers_to_the_first_pairs_in_the_order_of_judging_are_a_random_part_too(further: float, used: bool) -> None:
    """Asked in the order of judging, a judge has answered the labelled pairs and some more: it copies nothing."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        query, turn = np.repeat(np.arange(100), EACH), rng.random(100 * EACH)
        truth = np.asarray(rng.random(len(query)) < PREVALENCE, np.float64)
        value = np.where(turn < 0.25, truth, np.nan)
        answer = np.where(turn < 0.25 + 0.75 * further, 0.1 + 0.8 * truth, np.nan)
        found.append(estimate_rate(query, value, np.ones(len(query)), answer, np.ones(len(query)), seed=seed))
    assert not any(one.saw_labels for one in found)
    assert np.mean([one.useful for one in found]) == used
    assert np.mean([one.interval.low <= PREVALENCE <= one.interval.high for one in found]) >= 0.85


def test_edges_and_nonsense() -> None:
    query, ones = np.arange(40), np.ones(40)
    nothing = estimate_rate(query, np.full(40, np.nan), ones, ones, ones)
    assert np.isnan(nothing.rate)
    assert not nothing.useful
    every_other = np.asarray(query % 2, np.float64)
    silent = estimate_rate(query, every_other, ones, np.full(40, np.nan), ones)
    assert (silent.rate, silent.worth, silent.answered) == (0.5, 1.0, 0)
    with pytest.raises(InputError, match="from 0 to 1"):
        estimate_rate(query, ones, ones, 2 * ones, ones)
    with pytest.raises(InputError, match="several lengths"):
        estimate_rate(query, ones, ones, ones[:3], ones)
