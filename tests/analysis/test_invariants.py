"""What must not change, whatever the tables hold: order of rows, of models, scale of scores."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.analysis import (
    AnalysisInputs,
    benjamini_hochberg,
    bias,
    compare,
    holm,
    leave_one_out,
    reusability,
    score_limits,
    sign_flip_test,
    tau_ap,
    tau_ap_b,
    unseen_positives,
)
from eds.metrics import Measure, ScoringInputs, evaluate, scores_frame
from eds.metrics.auc_report import AUCS
from eds.suspects import labels_frame, lists_frame
from tests.metrics.benchmarks import MODELS, QUERIES, Bench, benches, shuffled
from tests.spec_metrics import AREAS

MADE = ("A", "B")  # generators; C is an outsider


def tables(bench: Bench) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    made = lists_frame({name: bench.lists[name] for name in MADE})
    return made, bench.labels_frame, bench.rankings_frame, bench.scores_frame


ANALYSES: dict[str, Callable[..., Any]] = {
    "leave_one_out": lambda made, labels, lists, scores: leave_one_out(
        AnalysisInputs(pool_lists=made, labels=labels, scores=scores), Measure("PR-AUC", average="macro")
    ),
    "reusability": lambda made, labels, lists, scores: reusability(
        AnalysisInputs(pool_lists=made, labels=labels, rankings=lists), Measure("RBP")
    ),
    "bias": lambda made, labels, lists, scores: bias(
        AnalysisInputs(pool_lists=made, labels=labels, rankings=lists, scores=scores), 3
    ).models.to_dict("records"),
    "score_limits": lambda made, labels, lists, scores: score_limits(
        evaluate(
            ScoringInputs(labels, scores=scores), [Measure("PR-AUC", average=name) for name in ("micro", "macro")]
        ),
        20,
    ).to_dict("records"),
    "compare": lambda made, labels, lists, scores: compare(
        evaluate(ScoringInputs(labels, rankings=lists, scores=scores), [Measure("P", 3), Measure("ROC-AUC")]),
        AnalysisInputs(pool_lists=made, labels=labels, rankings=lists, scores=scores),
        resamples=20,
    ).to_dict(),
}


@pytest.mark.parametrize("name", ANALYSES)
@settings(max_examples=15, deadline=None)
@given(bench=benches().filter(lambda bench: all(bench.scores.values())), seed=st.integers(0, 99))
def test_row_order_changes_nothing_to_the_last_bit(name: str, bench: Bench, seed: int) -> None:
    told = tables(bench)
    again = [shuffled(frame, seed) for frame in told]
    assert repr(ANALYSES[name](*again)) == repr(ANALYSES[name](*told))


@settings(max_examples=25, deadline=None)
@given(benches().filter(lambda bench: all(bench.scores.values())), st.sampled_from(AUCS))
def test_one_increasing_transform_changes_nothing_and_one_for_each_query_micro_only(bench: Bench, metric: str) -> None:
    made, labels, _, scores = tables(bench)
    before = leave_one_out(AnalysisInputs(pool_lists=made, labels=labels, scores=scores), AREAS[metric])
    same = leave_one_out(
        AnalysisInputs(
            pool_lists=made, labels=labels, scores=scores.assign(score=scores["score"] ** 3 + 2 * scores["score"])
        ),
        AREAS[metric],
    )
    assert repr(same) == repr(before)
    if metric.startswith("macro"):
        shift = scores["query_id"].map({query: 4.0 * place for place, query in enumerate(QUERIES)})
        moved = leave_one_out(
            AnalysisInputs(pool_lists=made, labels=labels, scores=scores.assign(score=scores["score"] + shift)),
            AREAS[metric],
        )
        for model in before.full:
            assert moved.full[model] == pytest.approx(before.full[model], abs=1e-12, nan_ok=True)


@settings(max_examples=10, deadline=None)
@given(benches())
def test_what_leave_one_out_keeps(bench: Bench) -> None:
    """all is within unique is within full, label by label, also where nobody proposed the pair."""
    made = lists_frame({name: bench.lists[name] for name in MADE})
    for label in bench.labels:
        one = labels_frame([label])
        every, unique = (
            leave_one_out(
                AnalysisInputs(pool_lists=made, labels=one, scores=bench.scores_frame), mode=mode
            ).n_labels_kept
            for mode in ("all", "unique")
        )
        makers = [name for name in MADE if label[1] in bench.lists[name].get(label[0], [])]
        for name in MADE:
            assert every[name] <= unique[name] <= 1
            assert unique[name] == (makers != [name])
            assert every[name] == (name not in makers)


@settings(max_examples=25, deadline=None)
@given(benches().filter(lambda bench: all(bench.scores.values())), st.sampled_from(AUCS))
def test_a_generator_without_pairs_of_its_own_does_not_shift(bench: Bench, metric: str) -> None:
    """Whatever else is labelled: most labels of a bench are of pairs that no generator proposed."""
    made = lists_frame({**{name: bench.lists[name] for name in MADE}, "copy of A": bench.lists["A"]})
    found = leave_one_out(
        AnalysisInputs(pool_lists=made, labels=bench.labels_frame, scores=bench.scores_frame), AREAS[metric]
    )
    undefined = math.isnan(found.full["A"])
    assert found.self_removal_shift["A"] == pytest.approx(math.nan if undefined else 0, abs=0, nan_ok=True)


@given(st.integers(1, 16).flatmap(lambda n: st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.0]), min_size=n, max_size=n)))
def test_sign_flips_never_promise_more_than_the_queries_can(differences: list[float]) -> None:
    """And which of two models comes first plays no part."""
    p = sign_flip_test(differences, resamples=200)
    assert 2.0 ** (1 - len(differences)) <= p <= 1
    assert sign_flip_test([-value for value in differences], resamples=200) == p


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.permutations(range(9)))
def test_adjusted_p_follow_their_rows(p: list[float], order: list[int]) -> None:
    order = [place for place in order if place < len(p)]
    for adjust in (holm, benjamini_hochberg):
        expected = adjust(p)
        assert adjust([p[place] for place in order]) == pytest.approx([expected[place] for place in order])


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=7), st.randoms())
def test_orders_do_not_hang_on_the_order_of_models(values: list[float], chance: Any) -> None:
    other = values[::-1]
    rows = list(zip(values, other, strict=True))
    chance.shuffle(rows)
    for correlation in (tau_ap, tau_ap_b):
        assert correlation([a for a, _ in rows], [b for _, b in rows]) == pytest.approx(
            correlation(values, other), abs=1e-12, nan_ok=True
        )
    assert tau_ap_b(values, other) == pytest.approx(tau_ap_b(other, values), abs=1e-12, nan_ok=True)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_the_number_of_positives_is_at_least_what_was_found(counts: list[int]) -> None:
    found = unseen_positives(counts, 6)
    assert found["chao2_total"] >= found["observed"] == sum(counts)


def test_more_models_than_generators_are_evaluated() -> None:
    bench = Bench(
        {name: {"q0": ["c0", "c1"]} for name in MODELS},
        [("q0", "c0", 1), ("q0", "c1", 0)],
        {name: [("q0", "c0", 1.0), ("q0", "c1", 0.0)] for name in MODELS},
    )
    made, labels, _, _ = tables(bench)
    found = leave_one_out(
        AnalysisInputs(pool_lists=made, labels=labels, scores=scores_frame(dict(bench.scores))),
        Measure("ROC-AUC", average="macro"),
    )
    assert (list(found.loo), list(found.full)) == (["A", "B"], ["A", "B", "C"])
