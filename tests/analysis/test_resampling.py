"""Bootstrap, leave-one-out and reusability against loops that know nothing of arrays."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eds.analysis import (
    AnalysisInputs,
    leave_one_out,
    reusability,
    reusability_table,
    score_limits,
)
from eds.analysis.bootstrap import resampled_aucs
from eds.errors import InputError
from eds.intervals import CENSUS, FEW, NOT_REQUESTED, draw_queries, percentile_interval
from eds.metrics import Measure, ScoringInputs, evaluate, scores_frame
from eds.metrics.auc_report import AUCS
from eds.metrics.pair_scores import align_scores
from eds.pairs import LabelledPairs
from eds.suspects import labels_frame, lists_frame
from tests.metrics.benchmarks import MODELS, Bench, benches, shuffled
from tests.reference import analysis as reference
from tests.reference import metrics as slow
from tests.reference.intervals import rate_interval as slow_limits
from tests.spec_metrics import AREAS


@settings(max_examples=25)
@given(benches())
def test_resamples_are_those_of_the_drawn_queries(bench: Bench) -> None:
    assume(bench.scores["A"])
    labelled = LabelledPairs.from_frame(bench.labels_frame)
    queries = labelled.queries.to_pylist()
    times = draw_queries(len(queries), 5, seed=3)
    found = resampled_aucs(labelled, align_scores(labelled, scores_frame({"A": bench.scores["A"]}))["A"], times)
    for row, counts in enumerate(times.tolist()):
        drawn = [query for query, count in zip(queries, counts, strict=True) for _ in range(count)]
        expected = reference.micro_resample(bench.scores["A"], bench.labels, drawn)
        ours = {name: float(values[row]) for name, values in zip(AUCS, found, strict=True)}
        assert ours == pytest.approx(expected, abs=1e-12, nan_ok=True)


def bench_of(n: int) -> Bench:
    rng = np.random.default_rng(n)
    queries, ids = [f"q{number:02d}" for number in range(n)], [f"c{number}" for number in range(8)]
    lists = {model: {query: rng.permutation(ids)[:4].tolist() for query in queries} for model in MODELS}
    labels = [(query, name, int(rng.random() < 0.6)) for query in queries for name in ids]
    scores = {
        model: [(query, name, float(rng.normal() + 0.5 * value)) for query, name, value in labels] for model in MODELS
    }
    return Bench(lists, labels, scores)


def test_micro_aucs_are_resampled_and_means_have_limits_over_queries() -> None:
    bench, measures = bench_of(60), [Measure("ROC-AUC", average=average) for average in ("micro", "macro")]
    results = evaluate(ScoringInputs(bench.labels_frame, scores=bench.scores_frame), measures)
    table = score_limits(results, resamples=60)
    labelled = LabelledPairs.from_frame(bench.labels_frame)
    drawn = resampled_aucs(labelled, align_scores(labelled, bench.scores_frame)["A"], draw_queries(60, 60))[0]
    assert (table["low"][0], table["high"][0]) == pytest.approx(percentile_interval(drawn), abs=1e-12)
    assert results[1].values is not None
    expected = slow_limits([(value, 1) for value in results[1].values.by_query.tolist() if value == value], 0.95)
    assert (table["low"][1], table["high"][1]) == pytest.approx(expected, abs=1e-9)
    again = ScoringInputs(shuffled(bench.labels_frame, 2), scores=shuffled(bench.scores_frame, 1))
    assert score_limits(evaluate(again, measures), resamples=60).equals(table)
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()


def test_every_row_has_limits_or_the_reason_why_not() -> None:
    measures = [Measure("ROC-AUC", average="micro"), Measure("RR", 3), Measure("Judged", 3), Measure("Recall", 3)]
    reasons = {}
    for n in (6, 20):
        bench = bench_of(n)
        inputs = ScoringInputs(bench.labels_frame, rankings=bench.rankings_frame, scores=bench.scores_frame)
        for resamples in (0, 40):
            table = score_limits(evaluate(inputs, measures), resamples=resamples)
            assert (table["low"].isna() == table["no_interval"].notna()).all()
            assert (table["low"].isna() == table["high"].isna()).all()
            mine = table[table["model"] == "A"]
            reasons[n, resamples] = [None if pd.isna(reason) else reason for reason in mine["no_interval"]]
    assert reasons[20, 40][:3] == [None, None, CENSUS]  # all of the lists are judged
    assert reasons[6, 40][:3] == [FEW, FEW, CENSUS]
    assert reasons[20, 0][:3] == [NOT_REQUESTED, NOT_REQUESTED, CENSUS]


@settings(max_examples=25)
@given(benches(), st.sampled_from(AUCS), st.sampled_from(["unique", "all"]))
def test_leave_one_out_is_that_of_the_loops(bench: Bench, metric: str, mode: str) -> None:
    found = leave_one_out(
        AnalysisInputs(pool_lists=bench.rankings_frame, labels=bench.labels_frame, scores=bench.scores_frame),
        AREAS[metric],
        mode,
    )
    told = {model: scores for model, scores in bench.scores.items() if scores}
    expected = reference.leave_one_out(bench.lists, bench.labels, told, metric, mode)
    for removed, row in expected.items():
        assert found.loo[removed] == pytest.approx(row, abs=1e-12, nan_ok=True)
    for model, scores in told.items():
        column = [row[model] for row in expected.values() if not math.isnan(row[model])]
        mean = slow.mean(column)
        assert found.mean[model] == pytest.approx(mean, abs=1e-12, nan_ok=True)
        spread = float(np.std(column)) if column else math.nan
        assert found.std[model] == pytest.approx(spread, abs=1e-12, nan_ok=True)
        full = slow.four_aucs(scores, bench.labels)[metric]
        assert found.full[model] == pytest.approx(full, abs=1e-12, nan_ok=True)
        positive = slow.prevalence(scores, bench.labels, metric)
        assert found.prevalence[model] == pytest.approx(positive, abs=1e-12, nan_ok=True)
    inputs = AnalysisInputs(pool_lists=bench.rankings_frame, labels=bench.labels_frame, scores=bench.scores_frame)
    kept = {way: leave_one_out(inputs, AREAS[metric], way) for way in ("unique", "all")}
    for model in MODELS:
        assert kept["all"].n_labels_kept[model] <= kept["unique"].n_labels_kept[model]
        assert kept["unique"].n_labels_kept[model] <= found.n_labels


def test_a_generator_that_found_nothing_alone_does_not_shift() -> None:
    bench = bench_of(6)
    lists, labels = lists_frame({"A": bench.lists["A"], "copy": bench.lists["A"]}), bench.labels_frame
    found = leave_one_out(
        AnalysisInputs(pool_lists=lists, labels=labels, scores=bench.scores_frame), Measure("ROC-AUC", average="macro")
    )
    assert found.n_labels_nobody_proposed > 0
    assert found.self_removal_shift["A"] == 0
    with pytest.raises(InputError, match="Measures: ROC-AUC, PR-AUC"):
        leave_one_out(AnalysisInputs(pool_lists=lists, labels=labels, scores=bench.scores_frame), Measure("P", 3))


@settings(max_examples=25)
@given(benches(), st.integers(1, 6))
def test_reusability_is_that_of_the_loops(bench: Bench, k: int) -> None:
    found = reusability(
        AnalysisInputs(pool_lists=bench.rankings_frame, labels=bench.labels_frame, rankings=bench.rankings_frame),
        Measure("VSD-HR", k),
    )
    for model, (full, unpooled) in reference.reusability(bench.lists, bench.labels, bench.lists, k).items():
        assert found[model]["full"] == pytest.approx(full, abs=1e-12, nan_ok=True)
        assert found[model]["unpooled"] == pytest.approx(unpooled, abs=1e-12, nan_ok=True)


def test_an_undefined_value_leaves_its_order_undefined() -> None:
    """Without its only generator no label is left; a model whose scored labels are all similar has no AUC."""
    bench = bench_of(6)
    alone = lists_frame(
        {
            "A": {
                query: [name for q, name, _ in bench.labels if q == query]
                for query in {label[0] for label in bench.labels}
            }
        }
    )
    found = leave_one_out(AnalysisInputs(pool_lists=alone, labels=bench.labels_frame, scores=bench.scores_frame))
    assert {name for name, value in found.loo["A"].items() if math.isnan(value)} == set(MODELS)
    assert all(map(math.isnan, found.spearman["A"].values()))
    assert all(map(math.isnan, found.mean.values()))
    similar = {(query, name) for query, name, value in bench.labels if value}
    half = bench.scores_frame
    pairs = zip(half["query_id"], half["candidate_id"], strict=True)
    half = half[[model != "C" or pair in similar for model, pair in zip(half["model"], pairs, strict=True)]]
    found = leave_one_out(AnalysisInputs(pool_lists=bench.rankings_frame, labels=bench.labels_frame, scores=half))
    assert math.isnan(found.full["C"])
    assert not math.isnan(found.mean["A"])
    assert all(math.isnan(value) for row in found.spearman.values() for value in row.values())


def test_reusability_of_several_metrics_stands_side_by_side() -> None:
    bench = bench_of(10)
    table = reusability_table(
        AnalysisInputs(
            pool_lists=bench.rankings_frame,
            labels=bench.labels_frame,
            rankings=bench.rankings_frame,
            scores=bench.scores_frame,
        ),
        [Measure("VSD-HR", 3), Measure("bpref"), Measure("ROC-AUC", average="macro")],
    )
    assert len(table) == 9
    assert (table["full"] - table["unpooled"] == table["drop"]).all()
    with pytest.raises(InputError, match="scores missing"):
        reusability(
            AnalysisInputs(
                pool_lists=bench.rankings_frame, labels=labels_frame(bench.labels), rankings=bench.rankings_frame
            ),
            Measure("PR-AUC", average="micro"),
        )
