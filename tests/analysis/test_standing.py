"""Confidence sequences and plans, held against simulations and against their definitions by brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from eds.analysis.analyses.prevalence import UniformDraws
from eds.analysis.anytime import beta_binomial_sequence, mixture_factor
from eds.analysis.standing import Difference, anytime_of_draws, differences, macro_auc, widths
from eds.analysis.totals import Estimate, Sampled, whole_pool
from eds.errors import InputError
from eds.intervals import clopper_pearson_interval, wilson_interval
from eds.metrics.auc import roc_auc
from eds.pairs import Integers
from eds.suspects.partial_estimates import PoolTotal


def test_the_limits_are_those_of_the_mixture_by_its_definition() -> None:
    """The mixture of likelihood ratios over Jeffreys' prior, integrated numerically, is 20 at both limits."""
    for a, n in ((3, 200), (40, 100), (0, 50)):
        for p in beta_binomial_sequence(a, n):
            if p in (0.0, 1.0):
                continue

            def ratio(angle: float, p: float = p, a: int = a, n: int = n) -> float:
                q = math.sin(angle) ** 2  # Jeffreys' prior: the angle is uniform
                return math.exp((a * math.log(q / p) if a else 0.0) + (n - a) * (math.log1p(-q) - math.log1p(-p))) / (
                    math.pi / 2
                )

            assert quad(ratio, 1e-9, math.pi / 2 - 1e-9, limit=500)[0] == pytest.approx(20, rel=1e-4)


def test_looking_every_50_pairs_excludes_the_truth_in_at_most_5_percent() -> None:
    rng = np.random.default_rng(0)
    excluded = fooled = 0
    for _ in range(200):
        count = np.cumsum(rng.random(2000) < 0.05)
        looks = [(int(count[n - 1]), n) for n in range(50, 2001, 50)]
        excluded += any(not low <= 0.05 <= high for low, high in (beta_binomial_sequence(*look) for look in looks))
        fooled += any(not low <= 0.05 <= high for low, high in (wilson_interval(*look) for look in looks))
    assert excluded / 200 <= 0.05
    assert fooled / 200 > 0.15, "Wilson's limits are for one look"


def test_p_by_uniform_draws_alone_has_limits_for_every_look_around_those_for_one() -> None:
    """12 of 1,500 draws, beside a pool that is judged throughout: the pool says nothing of these limits."""
    one = (12 / 1500, *clopper_pearson_interval(12, 1500))
    draws = UniformDraws(1e5, 1500, 0, 1500, 12, 1500.0, one[0], True, one[0], None, one[1], one[2], None)
    found = anytime_of_draws(draws, one[0], 0.0, 0.95)
    assert (found.low, found.high) == pytest.approx(beta_binomial_sequence(12, 1500))
    assert found.low < one[1] < one[2] < found.high
    assert anytime_of_draws(draws, one[0], 0.006, 0.95).low == 0.006, "so many are known"
    torn = anytime_of_draws(replace(draws, labelled=1000, enough=False), one[0], 0.0, 0.95)
    assert torn.high > found.high


def watched_pool(seed: int) -> tuple[bool, bool]:
    """Whether the truth is outside the limits at some of 29 looks: those for every look, and those for one."""
    value, looks = np.random.default_rng([seed, 8]).permutation(np.arange(3000) < 900), []
    for n in range(100, 3000, 100):
        seen = value[:n]
        variance = 3000**2 * (1 - n / 3000) * float(seen.var(ddof=1)) / n
        total, known = PoolTotal(3000 * float(seen.mean()), variance, 0, 0), (int(seen.sum()), int((~seen).sum()))
        limits = [whole_pool(total, 3000, known, n, 0.95, every_look=every) for every in (True, False)]
        looks.append([not one.low <= 900 <= one.high for one in limits])
    return any(every for every, _ in looks), any(one for _, one in looks)


def test_a_pool_that_is_watched_while_it_is_judged_holds_its_positives_at_every_look() -> None:
    found = [watched_pool(seed) for seed in range(200)]
    assert np.mean([every for every, _ in found]) <= 0.05
    assert np.mean([one for _, one in found]) > 0.15, "Wilson's limits are for one look"


@pytest.mark.parametrize("better", [0.0, 0.1])
def test_differences_watched_while_they_grow_hold_what_the_whole_pool_says(better: float) -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(150):
        proposed = np.zeros((800, 2), bool)
        first = rng.random(800) < 0.5
        proposed[first, 0], proposed[~first, 1] = True, True
        value = (rng.random(800) < np.where(first, 0.4 + better, 0.4)).astype(np.int64)
        truth, order, seen = (value[first].sum() - value[~first].sum()) / 1000, rng.permutation(800), np.full(800, -1)
        looks = []
        for n in range(50, 800, 50):
            seen[order[:n]] = value[order[:n]]
            (one,) = differences(["a", "b"], proposed, np.arange(800) // 4, seen, np.ones(800), 1000)
            looks.append(one.low <= truth <= one.high)
        wrong += not all(looks)
    assert wrong / 150 <= 0.05


def test_the_pairs_that_are_planned_tell_models_apart_as_often_as_planned() -> None:
    """By the limits that the page shows: with the planned pairs judged, about 80 % of the draws are distinguishable."""
    rng = np.random.default_rng(5)
    proposed = np.zeros((4000, 2), bool)
    proposed[:2000, 0], proposed[2000:, 1] = True, True
    value = np.concatenate([np.arange(2000) < 900, np.arange(2000) < 700]).astype(np.int64)
    query = np.arange(4000) % 400

    def judged(pairs: Integers) -> Difference:
        known = np.full(4000, -1)
        known[pairs] = value[pairs]
        return differences(["a", "b"], proposed, query, known, np.ones(4000), 5000)[0]

    whole = judged(np.arange(4000))
    assert (whole.needed, whole.told_apart) == (0, True)
    plan = judged(np.arange(0, 4000, 20))  # 200, as similar as all are
    assert plan.needed is not None
    assert not plan.told_apart
    seen = [judged(rng.permutation(4000)[: 200 + plan.needed]).told_apart for _ in range(200)]
    assert 0.7 <= np.mean(seen) <= 0.9


def test_planned_width_is_met_within_10_percent() -> None:
    rng = np.random.default_rng(6)
    size, positives = 200_000, 4000
    plans, met = [], []
    for _ in range(60):
        now, later = (int(rng.hypergeometric(positives, size - positives, n)) for n in (1000, 3000))
        pool = Estimate(2000, 2000, 2000)
        (step,) = widths(pool, [Sampled("all", size, 1000, 1000, now)], size, 1000, 0.95, (3.0,))
        (real,) = widths(pool, [Sampled("all", size, 3000, 3000, later)], size, 3000, 0.95, (1.0,))
        assert (step.draws, step.further) == (3000, 2000)
        plans.append(step.p_width)
        met.append(real.p_width)
    assert np.mean(plans) == pytest.approx(np.mean(met), rel=0.1)


def test_auc_of_equal_weights_is_the_mean_over_queries() -> None:
    rng = np.random.default_rng(2)
    query, value, score = rng.integers(0, 9, 200), rng.integers(0, 2, 200), rng.integers(0, 12, 200) / 4
    slow = [roc_auc(score[(query == q) & (value == 1)], score[(query == q) & (value == 0)]) for q in range(9)]
    for weight in (1.0, 2.5):
        found = macro_auc(query, value, score, np.full(200, weight), 0.95)[0]
        assert found == pytest.approx(float(np.nanmean(slow)))


def test_auc_of_unequal_weights_is_that_of_all_pairs() -> None:
    """What models rank high is judged, and a seventh of the rest: the mean of the queries' ratios is off by 0.03."""
    rng, whole, half, limits = np.random.default_rng(3), [], [], []
    for _ in range(100):
        latent, error = rng.standard_normal((200, 8)), rng.standard_normal((2, 200, 8))
        score, other = 0.8 * latent + 0.6 * error
        value = (rng.random(score.shape) < 1 / (1 + np.exp(1 - 1.5 * latent))).astype(np.int64)
        chance = np.where(score + other > 0.4, 1.0, 0.15)
        judged = rng.random(score.shape) < chance
        query = np.repeat(np.arange(200), 8).reshape(200, 8)
        whole.append(macro_auc(query.ravel(), value.ravel(), score.ravel(), np.ones(1600), 0.95)[0])
        columns = (query[judged], value[judged], score[judged], 1 / chance[judged])
        area, interval = macro_auc(*columns, 0.95, np.full(int(judged.sum()), 8.0))
        half.append(area)
        limits.append((interval.low, interval.high))
    truth = float(np.mean(whole))
    assert abs(np.mean(half) - truth) < 0.015
    assert np.mean([low <= truth <= high for low, high in limits]) >= 0.88


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InputError):
        beta_binomial_sequence(3, 2)
    with pytest.raises(InputError):
        mixture_factor(0, 10)
    assert beta_binomial_sequence(0, 0) == (0.0, 1.0)
