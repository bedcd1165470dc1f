"""The report's numbers are the library's, and curves enclose the area that the library gives."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.analysis import AnalysisInputs, Comparison, compare, grade_fairness, leave_one_out, score_limits
from eds.analysis.analyses.prevalence import pool_report
from eds.metrics import Measure
from eds.metrics.auc import roc_auc
from eds.pairs import KnownRanks
from eds.reports import Report, ReportInputs, Search, build
from eds.reports.document import Figure, Gap, Number, Sentence, Steps, Tiles, count, share
from eds.reports.sections import label_noise
from eds.reports.sections.comparison import AUC, comparison, list_names, name_of, new_models
from eds.reports.sections.curves import curve
from eds.reports.sections.summary import UNITS
from eds.suspects import overlap, positive_rates
from eds.truth import corrected_auc, label_contamination
from tests.reports.example import PAIR, block, example_inputs

HR = "VSD-HR@5"


@pytest.fixture(scope="module")
def made() -> tuple[ReportInputs, Report]:
    whole = example_inputs()
    return whole, build(whole, {})


def test_limits_are_those_of_score_limits_to_the_last_bit(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.results is not None
    expected = score_limits(whole.results, whole.resamples, whole.confidence, whole.seed)
    shown, bounds = {}, 0
    for key in ("lists_5", "lists_9", "incomplete", "auc_annotated", "auc_sampled"):
        table = block(report, "scores", key)
        for row in table.rows:
            for column in table.columns[2:]:
                name = column.key
                if f"{name} ceiling" in row:  # a lower bound: missing labels matter more than sampling error
                    assert row[f"{name} low"] is row[f"{name} high"] is None
                    ceiling = row[f"{name} ceiling"]
                    assert row[f"{name} no_interval"] if ceiling is None else ceiling >= row[name]
                    expected = expected[~((expected["model"] == row["model"]) & (expected["measure"] == name))]
                    bounds += 1
                    continue
                shown[row["model"], name] = (row[name], row[f"{name} low"], row[f"{name} high"], row[f"{name} n"])
    assert bounds
    assert len(shown) + bounds == 3 * (10 + 3 + 12)
    for row in expected.to_dict(orient="records"):
        if (row["model"], row["measure"]) in shown:
            np.testing.assert_array_equal(
                np.array(shown.pop((row["model"], row["measure"])), float),
                np.array([row["value"], row["low"], row["high"], row["n"]], float),
            )
    assert shown == {}


def compared_with(inputs: ReportInputs, *names: str) -> tuple[Comparison, AnalysisInputs]:
    """The library's comparison of these inputs, and what it is made from."""
    assert inputs.results is not None
    assert inputs.suspects is not None
    analysed = AnalysisInputs(
        pool_lists=inputs.pool_lists,
        labels=inputs.labels,
        rankings=inputs.rankings,
        scores=inputs.scores,
        negatives=inputs.negatives,
        pooled=inputs.suspects[PAIR],
        seed=inputs.seed,
    )
    results = [result for result in inputs.results if str(result.measure) in names]
    return compare(results, analysed, level=inputs.confidence, resamples=inputs.resamples), analysed


def compared_by(inputs: ReportInputs, *names: str) -> Comparison:
    """The library's comparison of these inputs."""
    return compared_with(inputs, *names)[0]


def test_first_screen_and_groups_show_the_librarys_comparison(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    comparison = compared_by(whole, AUC, HR)
    for name in (AUC, HR):
        expected = comparison[name]
        rows = block(report, "comparison", f"pairs_{name}").rows
        assert [(row["first"], row["second"], row["verdict"]) for row in rows] == [
            (pair.first, pair.second, pair.verdict) for pair in expected.pairs
        ]
        for row, pair in zip(rows, expected.pairs, strict=True):
            for field in ("difference", "low", "high", "p_adjusted"):
                assert row[field] == pytest.approx(getattr(pair, field), nan_ok=True)
    forest, models = block(report, "summary", "forest", Figure).data, comparison[AUC].models
    assert forest["labels"] == [item.model for item in models]
    rows = block(report, "comparison", f"models_{AUC}").rows
    assert [row["self_removed"] for row in rows] == [item.self_removed for item in models]
    assert forest["marks"] == [item.model == "late" for item in models]
    for argument, field in (("values", "self_removed"), ("low", "self_removed_low"), ("high", "self_removed_high")):
        np.testing.assert_array_equal(forest[argument], [getattr(item, field) for item in models])
    assert forest["groups"] == [list(group) for group in comparison[AUC].groups]
    hr = {item.model: item for item in comparison[HR].models}
    drawn = block(report, "summary", "hr", Figure).data
    ceilings = dict(zip(drawn["labels"], drawn["ceilings"], strict=True))
    assert ceilings["late"] == hr["late"].ceiling > hr["late"].value
    assert ceilings == {name: item.ceiling if item.lower_bound else None for name, item in hr.items()}


def test_the_best_models_are_stated_as_the_comparison_has_them(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    said, best = report.sections[0].answer, compared_by(whole, AUC)[AUC].best
    assert said is not None
    assert best is not None
    assert said.key == ("all alike" if set(best.models) == set(best.among) else "best")
    assert said.filled["among"] == count(len(best.among))
    if said.key == "best":
        assert said.filled["models"] == list_names(best.models)


def test_the_next_step_names_the_pairs_that_would_settle_a_comparison(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    compared = compared_by(whole, HR)[HR]
    (undecided,) = compared.undecided
    (steps,) = (item for item in report.sections[0].blocks if isinstance(item, Steps))
    (settle,) = (step for step in steps.steps if step.key == "settle")
    assert settle.command == "eds suspects add-model late -k 5"
    assert settle.action.filled["n"] == count(undecided.to_judge)
    assert compared.pair("late", str(settle.action.filled["other"])).to_judge == undecided.to_judge


def test_pool_overlap_and_leave_one_out_are_the_librarys(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.pool_lists is not None
    assert whole.truth is not None
    truth = whole.truth[[*PAIR, "value"]]
    expected = pool_report(whole.universe, whole.suspects, whole.truth, whole.confidence).to_dict()  # type: ignore[arg-type]
    rows = {row["model"]: row for row in block(report, "pool", "rates").rows}
    assert rows["the pool"]["rate"] == expected["pool"]["rate"]
    assert [rows[model["model"]]["low"] for model in expected["models"]] == [
        model["low"] for model in expected["models"]
    ]
    shared = overlap(whole.pool_lists)
    assert block(report, "overlap", "overlap", Figure).data["values"] == shared["overlap"]
    left = leave_one_out(
        AnalysisInputs(pool_lists=whole.pool_lists, labels=truth, scores=whole.scores),
        Measure("ROC-AUC", average="micro"),
        "all",
    )
    for row in block(report, "robustness", "loo_all").rows:
        assert row[f"{Measure('ROC-AUC', average='micro')} mean"] == left.mean[row["model"]]


def test_slices_are_plain_means(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.results is not None
    assert whole.images is not None
    kinds = dict(zip(whole.images["image_id"], whole.images["category"], strict=True))
    names = [column.label for column in block(report, "slices", "hr_0").columns[2:]]
    by = {result.model: result.values for result in whole.results if str(result.measure) == "VSD-HR@5"}
    for row in block(report, "slices", "hr_0").rows:
        for at, model in enumerate(names):
            values = by[model]
            assert values is not None
            mine = [
                value
                for query, value in zip(values.queries.to_pylist(), values.by_query, strict=True)
                if kinds[query] == row["kind"] and not np.isnan(value)
            ]
            assert row[f"m{at}"] == pytest.approx(np.mean(mine), abs=1e-12)
            assert row["n"] == len(mine)


def test_a_missing_column_is_reported() -> None:
    report = build(example_inputs(slices=("colour",)), {})
    section = next(part for part in report.sections if part.key == "slices")
    assert "Table images has no column colour." in [getattr(item, "what", "") for item in section.blocks]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=120))
def test_the_area_under_a_short_curve_is_roc_auc(pairs: list[tuple[int, int]]) -> None:
    value, score = np.array([one for one, _ in pairs]), np.array([float(two) for _, two in pairs])
    points = curve(value, score)
    expected = roc_auc(score[value == 1].tolist(), score[value == 0].tolist())
    if np.isnan(expected):
        assert points["false"] == []
    else:
        assert np.trapezoid(points["true"], points["false"]) == pytest.approx(expected, abs=1e-12)


def test_a_long_curve_is_thinned_along_its_line() -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(0, 2, 20_000)
    score = value + rng.normal(size=20_000)
    points = curve(value, score)
    assert len(points["true"]) <= 162
    expected = roc_auc(score[value == 1].tolist(), score[value == 0].tolist())
    assert np.trapezoid(points["true"], points["false"]) == pytest.approx(expected, abs=2e-3)
    assert (points["true"][0], points["true"][-1], points["false"][-1]) == (0.0, 1.0, 1.0)


def test_ranks_of_pairs_serve_the_comparison_as_whole_lists_do(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.rankings is not None
    assert whole.truth is not None
    places = whole.rankings.merge(whole.truth[PAIR], on=PAIR)[["model", *PAIR, "rank"]]
    lengths = whole.rankings.groupby(["model", "query_id"]).size().rename("length").reset_index()
    by_ranks = build(replace(whole, rankings=None, placed=KnownRanks.from_frames(places, lengths), cache={}), {})
    keys = (("comparison", f"models_{HR}"), ("comparison", f"pairs_{HR}"), ("fairness", "shifts"))
    for section, key in keys:
        one, two = (pd.DataFrame(block(which, section, key).rows) for which in (report, by_ranks))
        pd.testing.assert_frame_equal(one, two)


def test_random_pairs_change_no_models_number(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.truth is not None
    assert whole.suspects is not None
    known = set(map(tuple, whole.suspects[PAIR].to_numpy()))
    free = [("q00", f"c{number:02}") for number in range(40) if ("q00", f"c{number:02}") not in known][:9]
    drawn = pd.DataFrame(free, columns=PAIR)
    truth = pd.concat([whole.truth, drawn.assign(value=0, votes_for=0, votes_against=3, unsure=0, tie=False)])
    rows = drawn.assign(origin="random", stratum="all", probability=9 / 560, batch=9, position=range(9), sources=None)
    suspects = pd.concat([whole.suspects.astype(object), rows.astype(object)], ignore_index=True)
    suspects = suspects.astype(whole.suspects.dtypes.to_dict())
    changed = build(replace(whole, truth=truth.reset_index(drop=True), suspects=suspects, cache={}), {})
    for section, key in (
        ("comparison", f"models_{AUC}"),
        ("robustness", "loo_unique"),
        ("label-noise", "noise_auc"),
        ("slices", "kinds_0"),
    ):
        one, two = (pd.DataFrame(block(which, section, key).rows) for which in (changed, report))
        pd.testing.assert_frame_equal(one, two)
    assert block(changed, "pool", "prevalence").rows[0]["value"] == 0


def test_rates_by_model_and_rank_are_the_librarys(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.pool_lists is not None
    expected = positive_rates(whole.pool_lists, whole.labels).by_model_and_rank
    rows = block(report, "pool", "places").rows
    counts = ("pairs", "labelled", "positive", "rate", "low", "high", "no_interval")
    assert [{name: row[name] for name in counts} for row in rows] == [
        rate.to_dict() for ranks in expected.values() for rate in ranks
    ]


def test_label_noise_is_corrected_as_the_library_does(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    wrong = label_contamination(3, 0.9, 0.9, float(whole.labels["value"].mean()))
    at = label_noise.ACCURACIES.index(0.9)
    assert block(report, "label-noise", "noise").rows[at] == {"accuracy": 0.9, **wrong}
    rows = block(report, "label-noise", "noise_auc").rows
    assert len(rows) == 3
    for row in rows:
        assert row[f"a{at}"] == corrected_auc(row["observed"], wrong["eps_pos"], wrong["eps_neg"])
    errors = label_contamination(3, 0.85, 0.85, 0.05)
    assert corrected_auc(0.97, errors["eps_pos"], errors["eps_neg"]) > 1
    assert np.isnan(label_noise.possible_auc(0.97, errors)), "an impossible area is not shown"


def test_map_on_codes_lies_between_both_orders_of_ties(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    value = {
        (result.model, str(result.measure)): result.values.value for result in whole.codes if result.values is not None
    }
    divisors = {"hits within k": "hits", "all relevant": "relevant", "min(relevant, k)": "capped"}
    sources = {"same product": "product", "called similar": "truth"}
    rows = block(report, "codes", "map").rows
    assert len(rows) == 2 * 2 * 3
    for row in rows:
        for field, ties in (("low", "worst"), ("value", "expected"), ("high", "best")):
            conventions = f"divide_by={divisors[row['divide_by']]},grades={sources[row['grades']]},ties={ties}"
            name = next(name for model, name in value if model == row["model"] and name == str(measure(conventions)))
            assert row[field] == value[row["model"], name]
        assert 0 < row["low"] <= row["value"] <= row["high"] <= 1
        assert (row["bits"], row["k"], row["n"]) == (8, 100, 14)
    usage = {row["model"]: row for row in block(report, "codes", "usage").rows}
    assert usage["sparse"]["CodeUsage distinct"] <= 4 < usage["dense"]["CodeUsage distinct"]
    drawn = block(report, "codes", "usage", Figure).data
    assert drawn["labels"] == ["dense, 8 bits", "sparse, 8 bits"]
    assert drawn["x"] == [usage[name]["CodeUsage reachable"] for name in ("dense", "sparse")]
    main = [row["value"] for row in rows if (row["grades"], row["divide_by"]) == ("same product", "hits within k")]
    assert drawn["y"] == main


def measure(conventions: str) -> Measure:
    return Measure.parse(f"APt@100({conventions})")


def test_an_allowed_low_recall_is_reported(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    rows = {row["model"]: row for row in block(report, "judged", "searches").rows}
    assert (rows["beta"]["recall"], rows["beta"]["allowed"], rows["alpha"]["recall"]) == (0.93, True, None)
    blocks = next(part for part in report.sections if part.key == "judged").blocks
    warned = [item for item in blocks if isinstance(item, Sentence) and "--allow-low-recall" in item.template]
    assert [item.filled["model"] for item in warned] == ["beta"]
    exact = build(replace(whole, searches=[Search("alpha", "exact", 4)], cache={}), {})
    (judged,) = (part for part in exact.sections if part.key == "judged")
    texts = [item.template for item in judged.blocks if isinstance(item, Sentence)]
    assert "All lists were searched exactly." in texts


def test_labels_decided_early_are_counted(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    assert whole.judging is not None
    counts = {"complete": 30, "decided": 10, "open": 2, "undefined": 1, "ties": 3, "positive": 20}
    changed = build(replace(whole, judging=replace(whole.judging, counts=counts, early_stop=True), cache={}), {})
    blocks = next(part for part in changed.sections if part.key == "agreement").blocks
    early = next(item for item in blocks if isinstance(item, Sentence) and "decided early" in item.template)
    assert early.filled["share"] == share(0.25)
    assert any(isinstance(item, Sentence) and "wait for votes" in item.template for item in blocks)


def test_without_codes_there_is_no_section_and_with_damaged_ones_a_gap(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    keys = [part.key for part in build(replace(whole, codes=(), cache={}), {}).sections]
    assert "codes" not in keys
    assert "label-noise" in keys
    gap = Gap("codes are damaged", "make them anew")
    damaged = build(replace(whole, codes=(), gaps={"codes": gap}, cache={}), {})
    assert next(part for part in damaged.sections if part.key == "codes").blocks == (gap,)


def test_fairness_is_graded_as_the_library_does_on_the_values_of_the_scores(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    names = [row["measure"] for row in block(report, "fairness", "shifts").rows]
    expected = {item.measure: item for item in grade_fairness(*compared_with(whole, *names), resamples=60)}
    assert expected
    for row in block(report, "fairness", "shifts").rows:
        (shift,) = (item for item in expected[row["measure"]].shifts if item.model == row["model"])
        assert (row["shift"], row["low"], row["high"]) == pytest.approx(
            (shift.shift, shift.low, shift.high), nan_ok=True
        )
    value = {
        (result.model, str(result.measure)): result.values.value for result in whole.results or () if result.values
    }
    for row in block(report, "fairness", "shifts").rows:
        assert row["value"] == pytest.approx(value[row["model"], row["measure"]], abs=1e-12)
    grades = {row["measure"]: row["grade"] for row in block(report, "fairness", "grades").rows}
    assert grades["macro ROC-AUC"] == expected[AUC].grade
    assert grades["macro ROC-AUC, sampled"] == "not known"


def test_a_model_with_selected_pairs_of_its_own_stays_new() -> None:
    everything = example_inputs()
    assert new_models(everything) == ["late"]
    made_all = everything.require("rankings")
    made_all = made_all[made_all["rank"] < 4][["model", "query_id", "candidate_id", "rank"]]
    assert new_models(replace(everything, pool_lists=made_all)) == []
    later = everything.require("suspects").assign(stratum="delta:late")
    assert new_models(replace(everything, pool_lists=made_all, suspects=later)) == ["late"]


def test_the_answer_on_robustness_is_the_largest_shift_and_the_orders_that_turn(
    made: tuple[ReportInputs, Report],
) -> None:
    whole, report = made
    (section,) = (part for part in report.sections if part.key == "robustness")
    assert section.answer is not None
    left = leave_one_out(
        AnalysisInputs(pool_lists=whole.pool_lists, labels=whole.labels, scores=whole.scores, seed=whole.seed),
        Measure("ROC-AUC"),
        "unique",
        level=whole.confidence,
        resamples=whole.resamples,
    )
    shifts = left.self_removal_shift
    assert section.answer.filled["model"] == max(shifts, key=lambda name: abs(shifts[name]))
    part = compared_by(whole, AUC)[AUC]
    differ = [pair for pair in part.pairs if pair.basis == "all labels" and pair.beyond_sampling]
    turned = {
        (pair.first, pair.second)
        for pair in differ
        for row in left.loo.values()
        if (row[pair.first] > row[pair.second]) != (left.full[pair.first] > left.full[pair.second])
    }
    if differ:
        assert section.answer.filled["pairs"] == count(len(differ))
        assert section.answer.filled["turned"] == count(len(turned))


def test_the_first_screen_says_unit_and_known_truth(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    assert whole.known_truth is not None
    (tiles,) = (item for item in report.sections[0].blocks if isinstance(item, Tiles))
    by_key = {tile.key: tile for tile in tiles.tiles}
    assert by_key["positive_rate"].known == whole.known_truth.pool_rate
    assert by_key["found_alone"].known is None
    assert whole.universe is not None
    unit = UNITS[whole.universe.unit]
    assert all(unit in tile.label for tile in tiles.tiles)
    unknown = build(replace(whole, known_truth=None, cache={}), {}).sections[0]
    assert [tile.known for item in unknown.blocks if isinstance(item, Tiles) for tile in item.tiles] == [None] * len(
        by_key
    )


def test_a_pool_that_is_judged_in_part_is_not_beside_the_truth_of_the_whole() -> None:
    part = example_inputs(judged=0.5)
    report = build(part, {})
    (tiles,) = (item for item in report.sections[0].blocks if isinstance(item, Tiles))
    assert next(tile for tile in tiles.tiles if tile.key == "positive_rate").known is None


def test_sentences_name_negatives_the_side_of_models_and_how_labels_were_selected(
    made: tuple[ReportInputs, Report],
) -> None:
    whole, report = made
    by_key = {section.key: section for section in report.sections}
    auc = comparison(whole)[AUC]
    assert name_of(auc) == "self-removed macro ROC-AUC on annotated negatives"
    differences, range_of = by_key["comparison"].answer, by_key["scores"].answer
    assert differences is not None
    assert range_of is not None
    assert differences.filled["measure"] == name_of(auc)
    values = {r.model: r.values.value for r in whole.results or () if str(r.measure) == AUC and r.values}
    own = [value for model, value in values.items() if model in whole.pool_models]
    assert range_of.filled["auc"] == Number(min(own), "value")
    assert range_of.filled["n"] == count(len(whole.pool_models))
    kinds = next(b.filled["kinds"] for b in by_key["limits"].blocks if isinstance(b, Sentence) and "kinds" in b.filled)
    assert kinds == "pairs that a model proposed"
