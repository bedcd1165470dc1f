"""Numbers at the edge: huge and tiny scores, ties everywhere, one of everything, a million pairs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from eds.metrics import (
    Measure,
    ScoringInputs,
    absolute_rank_metrics,
    auc_report,
    incomplete_metrics,
    pr_auc,
    roc_auc,
    score,
    scores_frame,
)
from eds.metrics import auc as areas
from eds.metrics.auc_report import AUCS, summary
from eds.pairs import LabelledPairs, Reals
from eds.suspects import labels_frame, lists_frame
from tests.reference import metrics as reference

EDGES = [-1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 2.2e-308, 1e-16, 1.0, 1.0 + 2.3e-16, 1.7e308]
edges = st.lists(st.sampled_from(EDGES), min_size=1, max_size=9)


@given(edges, edges)
def test_huge_and_tiny_scores(pos: list[float], neg: list[float]) -> None:
    """They are only compared: nothing is added to a score or taken from it."""
    assert roc_auc(pos, neg) == pytest.approx(reference.roc_auc(pos, neg), abs=1e-12)
    assert pr_auc(pos, neg) == pytest.approx(reference.pr_auc(pos, neg), abs=1e-12)
    told = [("q", f"p{place}", value) for place, value in enumerate(pos)]
    told += [("q", f"n{place}", value) for place, value in enumerate(neg)]
    labels = [("q", name, int(name.startswith("p"))) for _, name, _ in told]
    report = auc_report(scores_frame({"m": told}), labels_frame(labels))
    assert {name: report[name] for name in AUCS} == pytest.approx(reference.four_aucs(told, labels), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.sampled_from(EDGES)), min_size=1, max_size=40))
def test_blocks_of_queries_give_what_one_sort_gives(rows: list[tuple[int, int, float]]) -> None:
    """However the queries fall into blocks, to the last bit."""
    rows = sorted(rows, key=lambda row: row[0])
    query, value = (np.array([row[side] for row in rows]) for side in (0, 1))
    told = np.array([row[2] for row in rows])
    expected = areas.segment_aucs(areas.Ordered.of(query, value, told), 7)
    whole, areas.BLOCK = areas.BLOCK, 3
    try:
        found = areas.query_aucs(query, value, told, 7)
    finally:
        areas.BLOCK = whole
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], np.where(np.isnan(expected[0]), np.nan, expected[1]))


def test_ties_everywhere_are_worth_a_coin_and_the_prevalence() -> None:
    labels = [(f"q{query}", f"c{number}", int(number < 3)) for query in range(5) for number in range(10)]
    told = [(query, candidate, 0.25) for query, candidate, _ in labels]
    report = auc_report(scores_frame({"m": told}), labels_frame(labels))
    assert [report[name] for name in AUCS] == pytest.approx([0.5, 0.3, 0.5, 0.3], abs=1e-15)


def test_one_query_one_pair_one_place() -> None:
    one = labels_frame([("q", "a", 1)])
    lists = lists_frame({"m": {"q": ["a"]}})
    asked = [Measure.parse(text) for text in ("RR@1", "P@1", "AP@1", "nDCG@1", "Recall@1", "Success@1", "Judged@1")]
    assert score(ScoringInputs(one, rankings=lists), asked)["value"].tolist() == [1.0] * 7
    report = auc_report(scores_frame({"m": [("q", "a", 1.0)]}), one)
    assert all(np.isnan(report[name]) for name in AUCS)
    assert (report["n_pairs_used"], report["n_queries_used"], report["n_queries_skipped"]) == (1, 0, 1)
    found = absolute_rank_metrics(lists, one, [1])
    assert found["hr_official@1"] == found["mrr_official@1"] == found["hit_rate@1"] == 1
    alone = incomplete_metrics(["a"], {"a": 1}, 1)
    assert [alone[name] for name in ("judged_at_k", "condensed_ap", "condensed_ndcg", "bpref", "inf_ap")] == [1] * 5
    assert alone["rbp_upper"] == pytest.approx(1)


def test_a_cut_far_beyond_every_list_and_a_list_far_beyond_the_labels() -> None:
    labels = [("q", "c00000", 1), ("q", "c09999", 1)]
    ids = [f"c{number:05d}" for number in range(10_000)]
    found = absolute_rank_metrics(lists_frame({"m": {"q": ids}}), labels_frame(labels), [1, 10_000, 1_000_000])
    assert found["recall@10000"] == 1
    assert found["hr_official@1000000"] == 2e-6
    expected = reference.standard(ids, {"c00000", "c09999"}, 10_000)
    asked = [Measure("AP", 10_000, divide_by=way) for way in ("relevant", "hits", "capped")] + [Measure("nDCG", 10_000)]
    values = score(ScoringInputs(labels_frame(labels), rankings=lists_frame({"m": {"q": ids}})), asked)[
        "value"
    ].tolist()
    assert values == pytest.approx([expected[name] for name in ("relevant", "hits", "capped", "nDCG")], abs=1e-12)


@pytest.fixture(scope="module")
def million() -> tuple[LabelledPairs, Reals]:
    """A million pairs of 3,000 queries, one of them with a third of all; scores of few values, so that they tie."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    query = np.where(rng.random(n) < 1 / 3, 1234, rng.integers(0, 3000, n))
    frame = pd.DataFrame(
        {
            "query_id": pd.Series([f"q{number:04d}" for number in range(3000)]).take(query).to_numpy(),
            "candidate_id": pd.Series([f"c{number:07d}" for number in range(n)]).to_numpy(),
            "value": (rng.random(n) < 0.3).astype(np.int64),
        }
    )
    labelled = LabelledPairs.from_frame(frame)
    told = np.round(rng.normal(size=n) + 0.4 * labelled.value, 2).astype(np.float64)
    return labelled, told


def test_a_million_pairs_have_the_areas_of_scikit_learn(
    million: tuple[LabelledPairs, Reals],
) -> None:
    labelled, told = million
    found = summary(labelled, told)
    assert found["micro_roc_auc"] == pytest.approx(roc_auc_score(labelled.value, told), abs=1e-12)
    assert found["micro_pr_auc"] == pytest.approx(average_precision_score(labelled.value, told), abs=1e-12)
    roc, precision = areas.query_aucs(labelled.query, labelled.value, told, len(labelled.queries))
    for query in (0, 1234, 2999):
        mine = labelled.query == query
        assert roc[query] == pytest.approx(roc_auc_score(labelled.value[mine], told[mine]), abs=1e-12)
        expected = average_precision_score(labelled.value[mine], told[mine])
        assert precision[query] == pytest.approx(expected, abs=1e-12)
    assert found["macro_roc_auc"] == pytest.approx(roc.mean(), abs=1e-12)


def test_scores_that_cannot_be_told_apart_in_32_bits_are_told_apart() -> None:
    assert roc_auc([0.5 + 1e-9], [0.5]) == 1
    assert roc_auc([0.5], [0.5]) == 0.5
