"""ROC- and PR-AUC against the definitions and scikit-learn; what is refused and what is counted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from eds.errors import InputError
from eds.metrics import auc_report, pr_auc, roc_auc, scores_frame
from eds.metrics.auc_report import AUCS
from eds.suspects import labels_frame
from tests.metrics.benchmarks import Bench, benches, shuffled
from tests.reference import metrics as reference

numbers = st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.1 + 1e-16, 0.3, 2.0]) | st.floats(-5, 5), max_size=12)


@given(numbers, numbers)
def test_areas_are_those_of_the_definition(pos: list[float], neg: list[float]) -> None:
    assert roc_auc(pos, neg) == pytest.approx(reference.roc_auc(pos, neg), abs=1e-12, nan_ok=True)
    assert pr_auc(pos, neg) == pytest.approx(reference.pr_auc(pos, neg), abs=1e-12, nan_ok=True)


@given(numbers.filter(bool), numbers.filter(bool))
def test_areas_are_those_of_scikit_learn(pos: list[float], neg: list[float]) -> None:
    value, score = [1] * len(pos) + [0] * len(neg), [*pos, *neg]
    assert roc_auc(pos, neg) == pytest.approx(roc_auc_score(value, score), abs=1e-12)
    assert pr_auc(pos, neg) == pytest.approx(average_precision_score(value, score), abs=1e-12)


@given(numbers.filter(bool), numbers.filter(bool))
def test_turned_sides_add_to_one_and_ties_give_the_prevalence(pos: list[float], neg: list[float]) -> None:
    assert roc_auc(pos, neg) + roc_auc(neg, pos) == pytest.approx(1, abs=1e-12)
    assert pr_auc([1.0] * len(pos), [1.0] * len(neg)) == pytest.approx(len(pos) / (len(pos) + len(neg)), abs=1e-12)
    assert pr_auc([9.0] * len(pos), neg) == 1


def test_a_score_that_is_no_number_is_refused() -> None:
    for bad in (float("nan"), float("inf")):
        with pytest.raises(InputError, match="finite"):
            roc_auc([0.1, bad], [0.2])
    with pytest.raises(ValueError, match="scores of pairs"):
        auc_report(scores_frame({"m": [("q", "a", float("nan"))]}), labels_frame([("q", "a", 1)]))


@settings(max_examples=60)
@given(benches(), st.integers(0, 99))
def test_the_report_is_that_of_the_definition_in_any_row_order(bench: Bench, seed: int) -> None:
    scores = scores_frame({"A": bench.scores["A"]})
    assume(not scores.empty)
    report = auc_report(scores, bench.labels_frame)
    expected = reference.four_aucs(bench.scores["A"], bench.labels)
    assert {name: report[name] for name in AUCS} == pytest.approx(expected, abs=1e-12, nan_ok=True)
    again = auc_report(shuffled(scores, seed), shuffled(bench.labels_frame, seed))
    assert repr(again) == repr(report)
    missing = len({label[:2] for label in bench.labels} - {score[:2] for score in bench.scores["A"]})
    assert report["n_pairs_missing_score"] == missing
    assert report["n_pairs_used"] == len(bench.labels) - missing
    assert report["n_queries_used"] + report["n_queries_skipped"] == len({label[0] for label in bench.labels})


@given(benches(), st.dictionaries(st.sampled_from(["q0", "q1", "q2", "q3"]), st.floats(-3, 3)))
def test_shifting_queries_changes_micro_only_and_one_transform_nothing(bench: Bench, shift: dict[str, float]) -> None:
    assume(bench.scores["A"])

    def report(scores: list[tuple[str, str, float]]) -> dict[str, float]:
        told = auc_report(scores_frame({"A": scores}), bench.labels_frame)
        return {name: told[name] for name in AUCS}

    before = report(bench.scores["A"])
    same = report([(query, candidate, 2 * score + 1) for query, candidate, score in bench.scores["A"]])
    assert same == pytest.approx(before, abs=1e-12, nan_ok=True)
    moved = report([(q, candidate, score + round(shift.get(q, 0))) for q, candidate, score in bench.scores["A"]])
    for name in ("macro_roc_auc", "macro_pr_auc"):
        assert moved[name] == pytest.approx(before[name], abs=1e-12, nan_ok=True)


def test_labels_collapse_or_are_refused() -> None:
    scores = scores_frame({"m": [("q", "a", 0.9), ("q", "b", 0.1)]})
    twice = labels_frame([("q", "a", 1), ("q", "a", 1), ("q", "b", 0)])
    assert auc_report(scores, twice)["n_pairs_used"] == 2
    with pytest.raises(InputError, match="q a is both 1 and 0"):
        auc_report(scores, labels_frame([("q", "a", 1), ("q", "b", 0), ("q", "a", 0)]))
    with pytest.raises(InputError, match="value may hold 0, 1"):
        auc_report(scores, labels_frame([("q", "a", 2)]))


def test_a_pair_scored_twice_and_several_models_are_refused() -> None:
    labels = labels_frame([("q", "a", 1)])
    with pytest.raises(InputError, match="must be unique"):
        auc_report(scores_frame({"m": [("q", "a", 0.9), ("q", "a", 0.9)]}), labels)
    with pytest.raises(InputError, match="2 models"):
        auc_report(scores_frame({"m": [("q", "a", 0.9)], "n": [("q", "a", 0.9)]}), labels)


def test_many_queries_sort_as_few() -> None:
    """Beyond 65,536 queries the radix sort gives way to another; the values stay."""
    rng = np.random.default_rng(0)
    n = 70_000
    query = pd.Series([f"q{number:06d}" for number in range(n)]).repeat(2).reset_index(drop=True)
    labels = pd.DataFrame({"query_id": query, "candidate_id": ["a", "b"] * n, "value": [1, 0] * n})
    score = rng.normal(size=2 * n)
    scores = labels[["query_id", "candidate_id"]].assign(model="m", score=score)
    expected = (score[::2] > score[1::2]).mean()
    assert auc_report(scores, labels)["macro_roc_auc"] == pytest.approx(expected, abs=1e-12)


def test_an_auc_report_of_nothing_scored_has_undefined_values_beside_its_counts() -> None:
    labels = labels_frame([("q", "a", 1), ("q", "b", 0), ("r", "a", 1)])
    report = auc_report(scores_frame({}), labels)
    assert np.isnan([report[name] for name in (*AUCS, "prevalence")]).all()
    counts = {name: value for name, value in report.items() if name.startswith("n_")}
    assert counts == {"n_pairs_used": 0, "n_pairs_missing_score": 3, "n_queries_used": 0, "n_queries_skipped": 2}
