"""Measures on lists against loops, their invariants, and what is counted or refused."""

import itertools
import math

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from eds.errors import InputError
from eds.metrics import Measure, ScoringInputs, absolute_rank_metrics, identity_metrics, incomplete_metrics, xinf_ap
from eds.metrics.measures._lists import harmonic
from eds.metrics.score import evaluate
from eds.suspects import labels_frame, lists_frame
from tests.metrics.benchmarks import IDS, QUERIES, Bench, benches, shuffled
from tests.reference import metrics as reference

judgements = st.dictionaries(st.sampled_from(IDS), st.integers(0, 1))
orders = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n]))


@settings(max_examples=60)
@given(benches(), st.integers(1, 10), st.integers(0, 99))
def test_official_and_standard_numbers_are_those_of_the_loops(bench: Bench, k: int, seed: int) -> None:
    lists = bench.lists["A"]
    found = absolute_rank_metrics(lists_frame({"A": lists}), bench.labels_frame, [k])
    hr, mrr = reference.official_loops(lists, bench.labels, k)
    assert found[f"hr_official@{k}"] == pytest.approx(hr, abs=1e-12, nan_ok=True)
    assert found[f"mrr_official@{k}"] == pytest.approx(mrr, abs=1e-12, nan_ok=True)
    by_query = [
        reference.standard(lists[query], positives, k)
        for query in QUERIES
        if (positives := {candidate for candidate, value in bench.judged(query).items() if value})
    ]
    for ours, theirs in (("hit_rate", "Success"), ("mrr", "RR"), ("recall", "Recall"), ("hr_official", "P")):
        expected = reference.mean([told[theirs] for told in by_query])
        assert found[f"{ours}@{k}"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    again = absolute_rank_metrics(shuffled(lists_frame({"A": lists}), seed), shuffled(bench.labels_frame, seed), [k])
    assert repr(again) == repr(found)


@given(benches())
def test_nothing_that_should_grow_with_k_falls(bench: Bench) -> None:
    depths = range(1, 10)
    found = absolute_rank_metrics(lists_frame({"A": bench.lists["A"]}), bench.labels_frame, list(depths))
    assume(found["n_queries_with_positive"])
    for name in ("hit_rate", "recall", "pair_recall", "pair_mrr", "mrr", "hr_official", "mrr_official"):
        scales = {"hr_official": [float(k) for k in depths], "mrr_official": [harmonic(k) for k in depths]}
        scale = scales.get(name, [1.0] * len(depths))
        values = [found[f"{name}@{k}"] * times for k, times in zip(depths, scale, strict=True)]
        assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values)), name
    assert found["hr_official@1"] == found["mrr_official@1"] == found["hit_rate@1"]


def test_missing_lists_and_positives_are_counted() -> None:
    labels = labels_frame([("q", "a", 1), ("r", "a", 1), ("r", "zz", 1), ("s", "a", 0)])
    found = absolute_rank_metrics(lists_frame({"m": {"r": ["a", "b"]}}), labels, [2])
    assert found["hr_official@2"] == 1 / 4
    told = {name: value for name, value in found.items() if name.startswith("n_")}
    assert told == {
        "n_queries_with_positive": 2,
        "n_queries_without_positive": 1,
        "n_queries_without_list": 2,
        "n_positives_in_no_list": 2,
    }


@pytest.mark.parametrize(
    ("lists", "what"),
    [
        ({"m": {"q": ["a", "a"]}}, "unique"),
        ({"m": {"q": ["q", "a"]}}, "own list"),
        ({"m": {"q": ["a"]}, "n": {"q": ["a"]}}, "2 models"),
    ],
)
def test_lists_that_are_none_are_refused(lists: dict[str, dict[str, list[str]]], what: str) -> None:
    with pytest.raises(InputError, match=what):
        absolute_rank_metrics(lists_frame(lists), labels_frame([("q", "a", 1)]), [1])


def test_gaps_in_ranks_and_bad_cut_offs_are_refused() -> None:
    lists = lists_frame({"m": {"q": ["a", "b"]}})
    with pytest.raises(InputError, match="without gap"):
        absolute_rank_metrics(lists.assign(rank=[0, 2]), labels_frame([("q", "a", 1)]), [1])
    for k in (0, True, 1.5):
        with pytest.raises(InputError, match="cut-off"):
            absolute_rank_metrics(lists, labels_frame([("q", "a", 1)]), [k])  # type: ignore[list-item]


@given(orders, judgements.filter(lambda told: 1 in told.values()))
def test_bpref_and_condensed_lists_are_those_of_the_definitions(ranking: list[str], judged: dict[str, int]) -> None:
    found = incomplete_metrics(ranking, judged, 3)
    assert found["bpref"] == pytest.approx(reference.bpref(ranking, judged), abs=1e-12)
    condensed = [candidate for candidate in ranking if candidate in judged]
    positives = {candidate for candidate, value in judged.items() if value}
    expected = reference.standard(condensed, positives, len(IDS))
    assert found["condensed_ap"] == pytest.approx(expected["relevant"], abs=1e-12)
    assert found["condensed_ndcg"] == pytest.approx(expected["nDCG"], abs=1e-12)


@given(orders, judgements, st.sampled_from([0.5, 0.8, 0.95]), st.integers(0, 1))
def test_a_new_label_keeps_rbp_inside_its_interval(
    ranking: list[str], judged: dict[str, int], p: float, value: int
) -> None:
    before = incomplete_metrics(ranking, judged, 1, p)
    low, high = reference.rbp_interval(ranking, judged, p)
    assert (before["rbp"], before["rbp_upper"]) == pytest.approx((low, high), abs=1e-12)
    assert before["rbp_upper"] <= 1 + 1e-12
    for candidate in [name for name in ranking if name not in judged]:
        after = incomplete_metrics(ranking, {**judged, candidate: value}, 1, p)
        assert low - 1e-12 <= after["rbp"] <= high + 1e-12
        assert after["rbp_residual"] < before["rbp_residual"]


@given(orders.filter(bool), st.dictionaries(st.sampled_from(IDS), st.integers(0, 1), min_size=8, max_size=8))
def test_inferred_ap_of_full_judgements_is_ap(ranking: list[str], judged: dict[str, int]) -> None:
    assume(1 in judged.values())
    positives = {candidate for candidate, value in judged.items() if value}
    expected = reference.standard(ranking, positives, len(IDS))["relevant"]
    assert incomplete_metrics(ranking, judged, 1)["inf_ap"] == pytest.approx(expected, abs=1e-4)
    found = xinf_ap(ranking, dict.fromkeys(judged, "all"), judged)
    assert found["xinf_ap"] == pytest.approx(expected, abs=1e-4)
    assert found["estimated_relevant"] == len(positives)


@given(st.permutations(IDS), st.sets(st.sampled_from(IDS), min_size=1), st.integers(1, 8))
def test_ndcg_is_that_of_scikit_learn(ranking: list[str], positives: set[str], k: int) -> None:
    relevance = [[float(candidate in positives) for candidate in ranking]]
    ours = reference.standard(ranking, positives, k)["nDCG"]  # the reference itself; the measure is held against it
    assert ours == pytest.approx(ndcg_score(relevance, [[-float(n) for n in range(len(ranking))]], k=k), abs=1e-12)


def test_identity_counts_other_images_only() -> None:
    item_of = {"a": "A", "b": "A", "wild": "A", "c": "C"}
    lists = lists_frame({"m": {"a": ["b", "c"], "wild": ["c", "a"], "c": ["a", "b"]}})
    found = identity_metrics(lists, item_of, ["a", "b", "c"], [2])
    assert (found["n_queries"], found["n_skipped"]) == (2, 1)
    assert found["hr_capped@2"] == 2 / 3  # a: b of {b}; wild, outside the gallery: a of {a, b}
    assert found["hr_capped_macro@2"] == 3 / 4
    assert found["mrr@2"] == 3 / 4


def test_a_query_whose_list_is_empty_counts_as_not_found() -> None:
    """In the frame of lists it has no row: it must be named."""
    item_of, asked = {"a": "A", "b": "A", "c": "C"}, ["a", "b", "c"]
    found = identity_metrics(lists_frame({"m": {"a": ["b", "c"], "b": []}}), item_of, asked, [1], queries=asked)
    assert (found["n_queries"], found["n_skipped"]) == (2, 1)
    assert (found["hr_capped@1"], found["hit_rate@1"]) == (0.5, 0.5)
    none = identity_metrics(lists_frame({"m": {"a": [], "b": []}}), item_of, asked, [1], queries=asked)
    assert (none["n_queries"], none["hr_capped@1"], none["mrr@1"]) == (2, 0, 0)
    rows = lists_frame({"m": {"a": ["b", "c"]}})
    assert identity_metrics(rows, item_of, asked, [1], queries=[]) == {"n_queries": 0, "n_skipped": 0}
    bare = identity_metrics(rows, item_of, [], [1], queries=asked)
    assert (bare["n_queries"], bare["n_skipped"]) == (0, 3)
    assert math.isnan(bare["hit_rate@1"])
    catalogue = pd.DataFrame({"image_id": asked, "product_id": ["A", "A", "C"], "role": "both"})
    lists = lists_frame({"m": {"a": ["b", "c"]}})
    (result,) = evaluate(
        ScoringInputs(labels_frame([("a", "c", 0)]), rankings=lists, images=catalogue), [Measure("Product-HR", 1)]
    )
    assert result.values is not None
    assert (result.values.value, result.values.n) == (0.5, 2)


def test_lists_of_judgements_are_checked() -> None:
    with pytest.raises(InputError, match="neither 1 nor 0"):
        incomplete_metrics(["a"], {"a": 2}, 1)
    with pytest.raises(InputError, match="duplicate id"):
        incomplete_metrics(["a", "a"], {"a": 1}, 1)
    with pytest.raises(InputError, match="persistence"):
        incomplete_metrics(["a"], {"a": 1}, 1, 1.0)
    with pytest.raises(InputError, match="not both"):
        xinf_ap(["a"], {"a": "s"}, {})
    assert math.isnan(xinf_ap(["a"], {"a": "s"}, {"a": 0})["xinf_ap"])
