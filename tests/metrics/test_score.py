"""The table scores against loops; what it is refused for; what it counts."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import InputError
from eds.metrics import Measure, ScoringInputs, preset, score, scores_frame
from eds.metrics.score import evaluate
from eds.suspects import labels_frame, lists_frame
from eds.tables import SCORES, check
from tests.metrics.benchmarks import MODELS, QUERIES, Bench, benches, shuffled
from tests.reference import metrics as reference

STANDARD = [Measure.parse(text) for text in ("Success@3", "RR@3", "P@3", "Recall@3", "nDCG@3")]
PRECISIONS = [Measure("AP", 3, divide_by=name) for name in ("relevant", "hits", "capped")]
AUCS = [Measure(name, average=average) for average in ("micro", "macro") for name in ("ROC-AUC", "PR-AUC")]


def images(*names: str, **more: Any) -> pd.DataFrame:
    """Every image its own product."""
    return pd.DataFrame({"image_id": list(names), "product_id": list(names), "role": "both", **more})


def values(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    whole = table[table["query_id"].isna()]
    return dict(zip(zip(whole["model"], whole["measure"], strict=True), whole["value"], strict=True))


@settings(max_examples=40)
@given(benches(), st.integers(0, 99))
def test_every_value_is_that_of_the_loops_in_any_row_order(bench: Bench, seed: int) -> None:
    asked = [*STANDARD, *PRECISIONS, *AUCS]
    told = score(
        ScoringInputs(bench.labels_frame, rankings=bench.rankings_frame, scores=bench.scores_frame),
        asked,
        by_query=True,
    )
    check(told, SCORES)
    found = values(told)
    by_query = told.dropna(subset="query_id").set_index(["model", "measure", "query_id"])["value"]
    for model in MODELS:
        four = reference.four_aucs(bench.scores[model], bench.labels)
        if bench.scores[model]:
            ours = [found[model, str(measure)] for measure in AUCS]
            assert ours == pytest.approx(list(four.values()), abs=1e-12, nan_ok=True)
        expected = {
            query: reference.standard(bench.lists[model][query], positives, 3)
            for query in QUERIES
            if (positives := {candidate for candidate, value in bench.judged(query).items() if value})
        }
        for measure in [*STANDARD, *PRECISIONS]:
            name = str(measure.parameters.get("divide_by", measure.name))
            mean = reference.mean([numbers[name] for numbers in expected.values()])
            assert found[model, str(measure)] == pytest.approx(mean, abs=1e-12, nan_ok=True)
            for query, numbers in expected.items():
                assert by_query[model, str(measure), query] == pytest.approx(numbers[name], abs=1e-12)
    lists, labels, scores = (
        shuffled(frame, seed) for frame in (bench.rankings_frame, bench.labels_frame, bench.scores_frame)
    )
    again = score(ScoringInputs(labels, rankings=lists, scores=scores), asked, by_query=True)
    pd.testing.assert_frame_equal(again, told)


def test_notes_count_what_was_left_out() -> None:
    lists = lists_frame({"m": {"q": ["a", "b"], "stranger": ["a", "b"]}})
    labels = labels_frame([("q", "a", 1), ("q", "zz", 1), ("r", "a", 1), ("s", "a", 0)])
    scores = scores_frame({"m": [("q", "a", 0.5), ("s", "a", 0.1)], "n": [("q", "a", 0.5)]})
    asked = [Measure("P", 2), Measure("Judged", 2), Measure("ROC-AUC"), Measure("ROC-AUC", average="micro")]
    told = score(ScoringInputs(labels, rankings=lists, scores=scores), asked)
    rows = {(row["model"], row["measure"]): row for row in told.to_dict("records")}
    precision, macro, micro = rows["m", "P@2"], rows["m", str(asked[2])], rows["m", str(asked[3])]
    assert (precision["value"], precision["n"]) == (0.25, 2)
    assert precision["note"] == (
        "lists of unlabelled queries ignored: 1; queries used: 2; queries without a positive skipped: 1; "
        "queries without a list: 2; positives not found: 2; places: 2; places unlabelled: 1; pairs used: 1"
    )
    assert rows["m", "Judged@2"]["value"] == pytest.approx(1 / 6)
    assert (micro["value"], micro["n"]) == (1.0, 2)
    assert np.isnan(macro["value"])
    assert macro["n"] == 0
    assert macro["note"] == (
        "undefined: nothing to average; pairs used: 2; pairs without a score: 2; "
        "queries without positive and negative skipped: 3"
    )
    assert rows["n", "P@2"]["note"] == "undefined: the model has no lists"
    assert np.isnan(rows["n", "P@2"]["value"])


def test_labels_of_one_class_leave_the_area_undefined_and_the_pairs_counted() -> None:
    labels = labels_frame([("q", "a", 1), ("q", "b", 1)])
    scores = scores_frame({"m": [("q", "a", 0.5), ("q", "b", 0.9)]})
    row = score(ScoringInputs(labels, scores=scores), [Measure("ROC-AUC", average="micro")]).iloc[0]
    assert np.isnan(row["value"])
    assert (row["n"], row["note"]) == (2, "undefined: nothing to average; pairs used: 2; queries used: 1")


def test_a_micro_value_tells_its_queries_and_has_no_rows_by_query() -> None:
    """Queries with labels of one class add their pairs to it; what its queries have is the macro measure's."""
    labels = labels_frame([("q", "a", 1), ("q", "b", 0), ("r", "a", 1), ("s", "a", 0)])
    scores = scores_frame({"m": [("q", "a", 0.5), ("q", "b", 0.9), ("r", "a", 0.2)]})
    asked = [Measure(name, average=average) for average in ("micro", "macro") for name in ("ROC-AUC", "Prevalence")]
    pooled = pd.DataFrame({"query_id": ["q", "q", "r", "t"], "candidate_id": ["a", "x", "x", "x"]})
    results = evaluate(ScoringInputs(labels, scores=scores, pooled=pooled), asked)
    counts = [dict(result.values.counts) for result in results if result.values]
    for told in counts[:2]:
        assert (told["queries used"], told["queries without a scored pair skipped"]) == (2, 1)
    for told in counts[2:]:
        assert (told["queries used"], told["queries without positive and negative skipped"]) == (1, 2)
    assert {told["pairs unlabelled"] for told in counts} == {2}
    table = score(ScoringInputs(labels, scores=scores), asked, by_query=True).dropna(subset="query_id")
    assert table.groupby("measure").size().to_dict() == {
        "Prevalence(average=micro,negatives=annotated)": 2,
        str(asked[2]): 1,
        str(asked[3]): 1,
    }


def test_a_model_without_scores_counts_all_pairs_as_such() -> None:
    labels = labels_frame([("q", "a", 1), ("q", "b", 0)])
    scores, lists = scores_frame({"m": [("q", "a", 0.5), ("q", "b", 0.1)]}), lists_frame({"listed": {"q": ["x"]}})
    asked = [Measure("ROC-AUC", average=average) for average in ("micro", "macro")]
    for result in evaluate(ScoringInputs(labels, rankings=lists, scores=scores), [*asked, Measure("P", 1)])[:2]:
        assert (result.model, result.note) == ("listed", "undefined: the model has no scores")
        assert result.values is not None
        assert (result.values.counts["pairs used"], result.values.counts["pairs without a score"]) == (0, 2)


def test_what_no_official_list_can_show_is_counted_by_itself() -> None:
    """Section 4.1: x1 and x2 are of one product, the list holds x1 only; o is of the query's own product."""
    catalogue = images("q", "x1", "x2", "a", "b", "o").assign(product_id=["Q", "X", "X", "A", "B", "Q"])
    labels = labels_frame([("q", "x2", 1), ("q", "b", 1), ("q", "o", 1), ("q", "a", 0)])
    for lists in (["a", "x1", "b"], ["a", "x1"]):  # whole, and as deep as a measure at 2 asks for
        for k, behind, lost in ((1, 0, 3), (2, 1, 3)):
            (result,) = evaluate(
                ScoringInputs(labels, rankings=lists_frame({"m": {"q": lists}}), images=catalogue),
                [Measure("VSD-HR", k)],
            )
            counts = result.values.counts if result.values else {}
            assert counts["positives behind another image of their product"] == behind
            assert counts["positives left out by the rules"] == 1
            assert counts["positives not found"] == lost
    kinds = catalogue.assign(category=["shoe", "shoe", "shoe", "bag", "bag", "shoe"])
    for category, barred in (("any", 1), ("same", 2), ("other", 2)):  # o; b, too; x2, too
        (result,) = evaluate(
            ScoringInputs(labels, rankings=lists_frame({"m": {"q": ["a"]}}), images=kinds, category=category),
            [Measure("VSD-HR", 1)],
        )
        assert result.values is not None
        assert result.values.counts["positives left out by the rules"] == barred
    shown = lists_frame({"m": {"q": ["x2"]}})
    (result,) = evaluate(ScoringInputs(labels, rankings=shown, images=catalogue), [Measure("VSD-HR", 1)])
    assert result.values is not None
    assert result.values.counts["positives behind another image of their product"] == 0
    assert result.values.counts["positives not found"] == 2


def test_drawn_negatives_stand_in_for_labelled_ones() -> None:
    labels = labels_frame([("q", "a", 1), ("q", "b", 0), ("r", "a", 1)])
    told = [("q", "a", 0.5), ("q", "b", 0.9), ("q", "x", 0.1), ("q", "y", 0.7), ("r", "a", 0.2), ("r", "x", 0.1)]
    drawn = pd.DataFrame({"query_id": ["q", "q", "q", "r", "t"], "candidate_id": ["x", "y", "b", "x", "x"]})
    asked = [Measure("ROC-AUC", average="micro", negatives=name) for name in ("annotated", "sampled")]
    found = score(ScoringInputs(labels, scores=scores_frame({"m": told}), negatives=drawn), asked)
    assert found["value"].tolist() == [0.0, reference.roc_auc([0.5, 0.2], [0.1, 0.7, 0.1])]
    assert found["note"].tolist()[1] == "drawn negatives left out: 2; pairs used: 5; queries used: 2"
    flagged = drawn.assign(similar=[False, True, False, False, False])  # judged since: no negative
    found = score(ScoringInputs(labels, scores=scores_frame({"m": told}), negatives=flagged), asked)
    assert found["value"].tolist() == [0.0, reference.roc_auc([0.5, 0.2], [0.1, 0.1])]
    assert found["note"].tolist()[1] == "drawn negatives left out: 3; pairs used: 4; queries used: 2"


def test_what_is_missing_is_told_at_once() -> None:
    asked = [Measure("VSD-HR", 5), Measure("ROC-AUC", negatives="sampled")]
    with pytest.raises(InputError) as told:
        score(ScoringInputs(labels_frame([("q", "a", 1)])), asked)
    assert [fault.split(" are missing")[0] for fault in told.value.faults] == [
        "rankings",
        "scores",
        "images",
        "negatives",
    ]
    with pytest.raises(InputError, match="no measure"):
        score(ScoringInputs(labels_frame([("q", "a", 1)])), [])


def test_official_measures_refuse_lists_that_are_not_official() -> None:
    catalogue = images("q", "a", "b", "c").assign(product_id=["Q", "Q", "B", "B"])
    labels = labels_frame([("q", "c", 1)])

    def asked(lists: list[str], measure: Measure) -> float:
        return float(
            score(ScoringInputs(labels, rankings=lists_frame({"m": {"q": lists}}), images=catalogue), [measure])[
                "value"
            ].iloc[0]
        )

    assert asked(["c"], Measure("VSD-HR", 1)) == 1
    with pytest.raises(InputError, match="own product"):
        asked(["a", "c"], Measure("VSD-HR", 1))
    with pytest.raises(InputError, match="two images of one product"):
        asked(["b", "c"], Measure("VSD-MRR", 2))
    assert asked(["b", "c"], Measure("Success", 2)) == 1
    with pytest.raises(InputError, match="1 candidates are not in table images: 'zz'"):
        asked(["zz"], Measure("Success", 1))


def test_lists_that_were_cut_too_early_are_refused_and_short_galleries_are_not() -> None:
    catalogue = images(*"qrabcdef", category=["x"] * 8)
    labels = labels_frame([("q", "a", 1), ("r", "b", 1)])
    cut = lists_frame({"m": {"q": ["a", "b"], "r": ["a", "b"]}})
    with pytest.raises(InputError, match="end at 2 places; a measure asks for 3"):
        score(ScoringInputs(labels, rankings=cut, images=catalogue), [Measure("RR", 3)])
    assert score(ScoringInputs(labels, rankings=cut, images=catalogue), [Measure("RR", 2)])["value"].tolist() == [0.75]
    small = catalogue.assign(category=["x"] * 3 + ["y"] * 5)  # lists of the same category hold two candidates
    assert score(ScoringInputs(labels, rankings=cut, images=small), [Measure("RR", 3)])["value"].tolist() == [0.75]


def test_recognition_needs_no_labels_of_its_queries() -> None:
    catalogue = images(*"abc").assign(product_id=["A", "A", "C"])
    lists = lists_frame({"m": {"a": ["c", "b"], "b": ["a", "c"], "c": ["a", "b"]}})
    asked = [Measure("Product-HR", 2), Measure("Product-MRR", 2, average="standard")]
    found = score(ScoringInputs(labels_frame([("a", "c", 0)]), rankings=lists, images=catalogue), asked)
    assert found["value"].tolist() == [1.0, 0.75]
    assert found["n"].tolist() == [2, 2]
    assert "queries alone in their product skipped: 1" in found["note"].iloc[0]


def test_both_presets_score_and_report_progress(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"i{number:02d}" for number in range(14)]
    lists = lists_frame({"m": {name: [other for other in names if other != name][:11] for name in names[:3]}})
    labels = labels_frame([(name, other, int(other < "i06")) for name in names[:3] for other in names if other != name])
    scores = lists[["model", "query_id", "candidate_id"]].assign(score=-lists["rank"].astype(float))
    negatives = labels_frame([(name, "far", 0) for name in names[:3]])
    scores = pd.concat([scores, negatives.assign(model="m", score=-20.0).drop(columns="value")])
    steps: list[tuple[int, int]] = []
    asked = [*preset("vsd").measures, *preset("trec").measures]
    asked = list(dict.fromkeys(asked))
    found = evaluate(
        ScoringInputs(labels, rankings=lists, scores=scores, images=images(*names, "far"), negatives=negatives),
        asked,
        progress=lambda *step: steps.append(step),
    )
    assert steps == [(1, 1)]
    assert [str(result.measure) for result in found] == [str(measure) for measure in asked]
    assert not any(np.isnan(result.values.value) for result in found if result.values)
    assert capsys.readouterr().out == ""
