"""Sentences that compare models, in simulated worlds whose truth is known: generators and a model that came later.

The long form, 60 worlds of each kind with its table, is tests/speed/comparison.py.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.analysis import AnalysisInputs, Comparison, compare
from eds.analysis.comparison import ComparedModel, ComparedPair, MeasureComparison
from eds.analysis.paired import paired_p, sign_flip_test
from eds.analysis.reduced_pools import micro_pseudo_values
from eds.metrics import Measure, Result
from eds.metrics.auc import micro_order, weighted_aucs
from eds.metrics.definition import Values
from eds.metrics.measures.incomplete import depth_of, persistence_for
from tests.analysis.worlds import AUC, HR, NEW, NEWCOMERS, World, draw_world

WORLDS = 12


def compared(world: World, *measures: Measure) -> Comparison:
    """The world's models compared, without intervals of more than 200 resamples."""
    return compare(world.results(list(measures)), world.inputs, resamples=200)


@pytest.fixture(scope="module")
def by_kind() -> dict[str, list[Comparison]]:
    return {kind: [compared(draw_world(number, kind), AUC, HR) for number in range(WORLDS)] for kind in NEWCOMERS}


def test_an_equal_newcomer_is_called_different_from_few_generators(by_kind: dict[str, list[Comparison]]) -> None:
    pairs = [pair for world in by_kind["equal"] for pair in world[AUC].pairs if NEW in (pair.first, pair.second)]
    assert len(pairs) == 6 * WORLDS
    assert {pair.basis for pair in pairs} == {"reduced pools"}
    assert np.mean([pair.beyond_sampling for pair in pairs]) <= 0.05


def test_an_equal_newcomer_is_as_good_as_the_generators_where_nobody_chose_the_pairs(
    by_kind: dict[str, list[Comparison]],
) -> None:
    gaps = []
    for world in by_kind["equal"]:
        makers = [item.self_removed for item in world[AUC].models if item.filled]
        gaps.append(world[AUC][NEW].self_removed - np.mean(makers))
        plain = [item.value for item in world[AUC].models if item.filled]
        assert world[AUC][NEW].value > max(plain)  # on all labels it would look like the best, in every world
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / WORLDS**0.5


def test_a_much_worse_newcomer_is_never_best_and_a_better_one_is_not_hidden(
    by_kind: dict[str, list[Comparison]],
) -> None:
    for world in by_kind["much worse"]:
        best = world[AUC].best
        assert best is not None
        assert NEW in best.among
        assert NEW not in best.models
    for world in by_kind["better"]:
        best = world[AUC].best
        assert best is not None
        assert best.models == (NEW,)


def test_measures_that_count_unjudged_places_do_not_rank_a_newcomer(by_kind: dict[str, list[Comparison]]) -> None:
    for world in (world for worlds in by_kind.values() for world in worlds):
        by_hits = world[HR]
        best = by_hits.best
        assert best is not None
        assert best.not_ranked == (NEW,)
        assert NEW not in best.among
        assert all(NEW not in group for group in by_hits.groups)
        (undecided,) = by_hits.undecided
        assert undecided.model == NEW
        new = by_hits[NEW]
        assert new.lower_bound
        assert undecided.to_judge == round((1 - new.judged) * 5 * 150)
        assert new.value < new.ceiling <= 1
        assert np.isnan(new.low)
        assert all(pair.verdict == "the labels cannot say" for pair in by_hits.pairs if pair.second == NEW)


def test_lists_that_are_judged_to_the_end_are_compared_across_sides() -> None:
    world = draw_world(0, "equal")
    lists = world.inputs.require("rankings")
    mine = lists[lists["model"] == NEW]
    query, candidate = (mine[name].str[1:].astype(int).to_numpy() for name in ("query_id", "candidate_id"))
    truth = mine[["query_id", "candidate_id"]].assign(value=world.truth[query, candidate].astype(np.int64))
    labels = world.inputs.require("labels")
    labels = pd.concat([truth, labels]).drop_duplicates(["query_id", "candidate_id"], ignore_index=True)
    judged = replace(world, inputs=replace(world.inputs, labels=labels))
    by_hits = compared(judged, HR)[HR]
    assert by_hits[NEW].ranked
    assert not by_hits[NEW].lower_bound
    assert {pair.basis for pair in by_hits.pairs if NEW in (pair.first, pair.second)} == {"judged lists"}
    assert by_hits.best is not None
    assert by_hits.best.not_ranked == ()
    assert not by_hits.undecided


def test_where_it_is_not_known_who_built_the_pool_every_model_is_a_newcomer() -> None:
    world = draw_world(1, "equal")
    inputs = replace(world.inputs, pool_lists=None)
    comparison = compare(world.results([AUC, HR]), inputs, resamples=0)
    assert not comparison.makers_known
    assert comparison.generators == ()
    assert {pair.basis for pair in comparison[AUC].pairs} == {"all labels"}
    assert {pair.verdict for pair in comparison[HR].pairs if NEW in (pair.first, pair.second)} == {
        "the labels cannot say"
    }
    assert {item.model for item in comparison[HR].models if item.ranked} == set(world.names) - {NEW}  # judged to k
    deeper = compare(world.results([Measure("P", 9)]), inputs, resamples=0)[Measure("P", 9)]
    assert not any(item.ranked for item in deeper.models)
    assert deeper.best is None


def test_a_pair_reads_the_same_from_both_sides() -> None:
    by_auc = compared(draw_world(2, "better"), AUC)[AUC]
    for pair in by_auc.pairs:
        other = by_auc.pair(pair.second, pair.first)
        assert other.difference == -pair.difference
        assert other.better == pair.better
        assert (other.low, other.high) == (-pair.high, -pair.low)
        assert other.turned() == pair


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0, 0.5))
def test_groups_are_the_longest_runs_of_which_no_two_differ(values: list[float], least: float) -> None:
    values = sorted(values, reverse=True)
    names = [f"m{number}" for number in range(len(values))]
    nan = float("nan")
    models = tuple(
        ComparedModel(name, "generator", value, nan, nan, nan, nan, nan, nan, nan, ranked=True, best=False)
        for name, value in zip(names, values, strict=True)
    )
    pairs = tuple(
        ComparedPair(a, b, "all labels", x - y, nan, nan, nan, nan, 9, True, x - y > least, None)
        for i, (a, x) in enumerate(zip(names, values, strict=True))
        for b, y in list(zip(names, values, strict=True))[i + 1 :]
    )
    groups = MeasureComparison(AUC, models, pairs, 0.95).groups
    runs = [
        tuple(names[start:end])
        for start in range(len(names))
        for end in range(start + 1, len(names) + 1)
        if values[start] - values[end - 1] <= least
    ]
    assert list(groups) == [run for run in runs if not any(set(run) < set(other) for other in runs)]


@settings(max_examples=20)
@given(st.integers(0, 1000), st.booleans())
def test_pseudo_values_are_the_area_and_its_derivatives(seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(0, 8, 60))
    value = rng.integers(0, 2, 60)
    value[:2] = 0, 1
    score = np.round(rng.normal(size=60) + value, 0 if tied else 9)
    pseudo = micro_pseudo_values(query, value, score, 8)
    whole = np.full((1, 8), 1000)
    for part, area in zip(pseudo, weighted_aucs(micro_order(query, value, score), whole), strict=True):
        assert part.mean() == pytest.approx(area[0], abs=1e-12)
    for number in range(8):
        up, down = whole + np.eye(8, dtype=int)[number], whole - np.eye(8, dtype=int)[number]
        sides = (weighted_aucs(micro_order(query, value, score), times) for times in (up, down))
        slopes = [1000 * (above[0] - below[0]) / 2 for above, below in zip(*sides, strict=True)]
        assert slopes == pytest.approx([(part[number] - part.mean()) / 8 for part in pseudo], abs=1e-5)


def test_tails_reach_as_far_as_many_comparisons_need() -> None:
    rng = np.random.default_rng(0)
    few = rng.normal(0.1, 0.3, 12)
    assert paired_p(few) == sign_flip_test(few.tolist())
    several = rng.normal(0.08, 0.3, 40)
    assert paired_p(several) == pytest.approx(sign_flip_test(several.tolist(), 50_000), rel=0.15)
    assert paired_p(rng.normal(0.1, 0.3, 400)) < 0.05 / 1770
    assert paired_p(np.zeros(40)) == 1
    weight = rng.integers(1, 4, 40)
    repeated = paired_p(several, weight.astype(np.float64))
    assert 0 < repeated < 1


def test_the_persistence_leaves_little_weight_behind_the_depth() -> None:
    for depth in (1, 5, 6, 10, 100):
        p = persistence_for(depth)
        assert p**depth <= 0.05 or p == 0.01
        assert (p + 0.01) ** depth > 0.05 or p == 0.99
        if depth > 1:
            assert depth_of(Measure("RBP", p=p)) in (depth, depth - 1)


def test_no_labels_are_needed_to_be_given_for_nothing() -> None:
    assert compare([], AnalysisInputs()).measures == ()


def test_with_sixty_models_a_better_one_is_still_found() -> None:
    """Holm over 1,770 pairs needs p below 0.00003, which no 10,000 drawn patterns of signs could show."""
    rng = np.random.default_rng(0)
    queries = pa.array([f"q{number:03}" for number in range(300)])
    common = rng.uniform(0.3, 0.6, 300)
    results = [
        Result(
            f"m{number:02}",
            AUC,
            Values(queries, np.clip(common + 0.05 * (number == 0) + rng.normal(0, 0.1, 300), 0, 1)),
        )
        for number in range(60)
    ]
    makers = pd.DataFrame({"model": [result.model for result in results], "query_id": "q000", "candidate_id": "c"})
    by_auc = compare(results, AnalysisInputs(pool_lists=makers), resamples=100)[AUC]
    assert len(by_auc.pairs) == 1770
    assert by_auc.best is not None
    assert by_auc.best.models == ("m00",)
    assert by_auc.groups[0] == ("m00",)
    others = [pair for pair in by_auc.pairs if "m00" not in (pair.first, pair.second)]
    assert sum(pair.beyond_sampling for pair in others) <= 1  # they are equal
    assert all(set(group) <= {f"m{number:02}" for number in range(60)} for group in by_auc.groups)
