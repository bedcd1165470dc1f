"""The bias table by hand and by loops; intervals that labels leave open."""

import math

import pytest
from hypothesis import assume, given, settings

from eds.analysis import AnalysisInputs, bias, undecided_by_labels
from eds.errors import InputError
from eds.metrics import scores_frame
from eds.metrics.measures.incomplete import persistence_for
from eds.suspects import labels_frame, lists_frame
from tests.metrics.benchmarks import QUERIES, Bench, benches
from tests.reference import analysis as reference
from tests.reference import metrics as slow


def test_a_small_case_by_hand() -> None:
    """Two generators and an outsider; q has two positives of four labels."""
    made = {"a": {"q": ["p1", "n1"]}, "b": {"q": ["p2", "n2"]}}
    labels = labels_frame([("q", "p1", 1), ("q", "n1", 0), ("q", "p2", 1), ("q", "n2", 0)])
    lists = lists_frame({**made, "out": {"q": ["x", "p1"]}})
    told = {
        name: [("q", "p1", one), ("q", "n1", two), ("q", "p2", three), ("q", "n2", four)]
        for name, (one, two, three, four) in {
            "a": (9.0, 8.0, 7.0, 1.0),
            "b": (1.0, 7.0, 9.0, 8.0),
            "out": (5.0, 1.0, 2.0, 3.0),
        }.items()
    }
    found = bias(
        AnalysisInputs(pool_lists=lists_frame(made), labels=labels, rankings=lists, scores=scores_frame(dict(told))), 2
    )
    by_model = found.models.set_index("model")
    assert by_model["hr"].tolist() == [0.5, 0.5, 0.5]
    assert by_model["judged"].tolist() == [1, 1, 0.5]
    assert by_model["hr_at_most"].tolist() == [0.5, 0.5, 1]
    deeper = bias(
        AnalysisInputs(pool_lists=lists_frame(made), labels=labels, rankings=lists, scores=scores_frame(dict(told))), 8
    ).models.set_index("model")
    assert deeper["hr_at_most"].tolist() == [
        0.125,
        0.125,
        0.25,
    ]  # lists of two places: six of the eight can hold nobody
    assert by_model["auc"].tolist() == [0.75, 0.5, 0.75]
    # without a's own pairs p2 and n2 are left: a 7 > 1, out 2 < 3; without b's p1 and n1: b 1 < 7, out 5 > 1
    assert by_model["self_removed"].tolist() == [1, 0, 0.5]
    assert by_model["generator"].tolist() == [True, True, False]
    groups = {row[0]: list(row[1:]) for row in found.groups.to_numpy().tolist()}
    assert groups["auc"] == [0.625, 0.75, -0.125]
    assert groups["self_removed"] == [0.5, 0.5, 0]
    assert math.isnan(found.orders["tau_b_hr_auc"])  # of three models
    assert found.orders["n"] == 3


@settings(max_examples=25)
@given(benches())
def test_every_column_is_that_of_the_loops(bench: Bench) -> None:
    makers = {name: bench.lists[name] for name in ("A", "B")}
    assume(all(bench.scores.values()))
    found = bias(
        AnalysisInputs(
            pool_lists=lists_frame(makers),
            labels=bench.labels_frame,
            rankings=bench.rankings_frame,
            scores=bench.scores_frame,
        ),
        3,
    )
    removed = reference.leave_one_out(makers, bench.labels, bench.scores, "macro_roc_auc", "unique")
    for row in found.models.to_dict("records"):
        name, lists = row["model"], bench.lists[row["model"]]
        assert row["hr"] == pytest.approx(slow.official_loops(lists, bench.labels, 3)[0], nan_ok=True)
        labelled = [query for query in QUERIES if bench.judged(query)]
        judged = [sum(c in bench.judged(query) for c in lists[query][:3]) / 3 for query in labelled]
        assert row["judged"] == pytest.approx(slow.mean(judged), nan_ok=True)
        assert not row["hr"] > row["hr_at_most"] + 1e-12
        rows = [removed[name]] if name in makers else list(removed.values())
        assert row["self_removed"] == pytest.approx(slow.mean([told[name] for told in rows]), nan_ok=True)
        bounds = [
            slow.rbp_interval(lists[query], bench.judged(query), persistence_for(3))
            for query in QUERIES
            if bench.judged(query)
        ]
        assert row["rbp"] == pytest.approx(slow.mean([low for low, _ in bounds]))
        assert row["rbp_at_most"] == pytest.approx(slow.mean([high for _, high in bounds]))


def test_models_without_scores_or_lists_have_gaps_not_zeros() -> None:
    labels = labels_frame([("q", "p", 1), ("q", "n", 0)])
    scores = scores_frame({"a": [("q", "p", 1.0), ("q", "n", 0.0)]})
    found = bias(
        AnalysisInputs(
            pool_lists=lists_frame({"a": {"q": ["p", "n"]}}),
            labels=labels,
            rankings=lists_frame({"b": {"q": ["p"]}}),
            scores=scores,
        ),
        1,
    ).models
    assert found["hr"].isna().tolist() == [True, False]
    assert found["auc"].isna().tolist() == [False, True]
    assert (found["rank_hr"].tolist(), found["rank_auc"].tolist()) == ([0, 1], [1, 0])
    with pytest.raises(InputError, match="cut-off"):
        bias(
            AnalysisInputs(
                pool_lists=lists_frame({"a": {"q": ["p"]}}),
                labels=labels,
                rankings=lists_frame({"b": {"q": ["p"]}}),
                scores=scores,
            ),
            0,
        )


def test_intervals_that_touch_are_undecided() -> None:
    low, high = {"b": 0.4, "a": 0.1, "c": math.nan}, {"b": 0.5, "a": 0.4, "c": math.nan}
    assert undecided_by_labels(low, high) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert undecided_by_labels({"a": 0.1, "b": 0.5}, {"a": 0.4, "b": 0.9}) == []
    low, high = {"a": 0.1, "b": 0.1 + 0.2}, {"a": 0.3, "b": 0.9}  # 0.1 + 0.2 lies above 0.3 by noise of the last bit
    assert undecided_by_labels(low, high) == [("a", "b")]
