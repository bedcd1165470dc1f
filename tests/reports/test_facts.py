"""The report's numbers are the library's, and curves enclose the area that the library gives."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.analysis import bias, compare_models, indistinguishable, leave_one_out, score_limits
from eds.analysis.pool_report import pool_report
from eds.metrics.auc import roc_auc
from eds.metrics.placed import read_places
from eds.reports import Material, Report, build
from eds.reports.document import Figure, Table
from eds.reports.facts.curves import curve
from eds.reports.facts.scores import COMPARED
from eds.suspects import overlap
from tests.reports.material import PAIR, material


@pytest.fixture(scope="module")
def made() -> tuple[Material, Report]:
    whole = material()
    return whole, build(whole, {})


def block(report: Report, section: str, key: str, kind: type = Table) -> Any:
    blocks = next(part for part in report.sections if part.key == section).blocks
    return next(one for one in blocks if isinstance(one, kind) and getattr(one, "key", "") == key)


def test_limits_are_those_of_score_limits_to_the_last_bit(made: tuple[Material, Report]) -> None:
    whole, report = made
    assert whole.results is not None
    expected = score_limits(whole.results, whole.resamples, whole.level, whole.seed)
    shown = {}
    for key in ("lists_5", "lists_9", "incomplete", "auc_annotated", "auc_sampled"):
        found = block(report, "scores", key)
        for row in found.rows:
            for column in found.columns[2:]:
                name = column.key
                shown[row["model"], name] = (row[name], row[f"{name} low"], row[f"{name} high"], row[f"{name} n"])
    assert len(shown) == 3 * (10 + 3 + 12)
    for row in expected.to_dict(orient="records"):
        if (row["model"], row["measure"]) in shown:
            np.testing.assert_array_equal(
                np.array(shown.pop((row["model"], row["measure"])), float),
                np.array([row["value"], row["low"], row["high"], row["n"]], float),
            )
    assert shown == {}


@pytest.mark.parametrize(("name", "key"), list(zip(COMPARED, ("hr", "auc"), strict=True)))
def test_comparisons_are_those_of_compare_models(made: tuple[Material, Report], name: str, key: str) -> None:
    whole, report = made
    assert whole.results is not None
    expected = compare_models(whole.results, name, level=whole.level, resamples=whole.resamples, seed=whole.seed)
    found = pd.DataFrame(block(report, "scores", f"compared_{key}").rows)
    pd.testing.assert_frame_equal(found[list(expected.columns)], expected)
    groups = {frozenset(row["models"]) for row in block(report, "scores", f"groups_{key}").rows}
    assert groups == set(map(frozenset, indistinguishable(expected, whole.level)))


def test_yield_overlap_bias_and_leave_one_out_are_the_librarys(made: tuple[Material, Report]) -> None:
    whole, report = made
    assert whole.generators is not None
    assert whole.truth is not None
    truth = whole.truth[[*PAIR, "value"]]
    told = pool_report(whole.images, whole.suspects, whole.truth, whole.level)  # type: ignore[arg-type]
    rows = {row["model"]: row for row in block(report, "yield", "rates").rows}
    assert rows["the pool"]["rate"] == told["pool"]["rate"]
    assert [rows[one["model"]]["low"] for one in told["models"]] == [one["low"] for one in told["models"]]
    shared = overlap(whole.generators)
    assert block(report, "overlap", "overlap", Figure).data["values"] == shared["overlap"]
    left = leave_one_out(whole.generators, truth, whole.scores, "micro_roc_auc", "all")  # type: ignore[arg-type]
    for row in block(report, "robustness", "loo_all").rows:
        assert row["micro_roc_auc mean"] == left["mean"][row["model"]]
    sides = bias(whole.generators, truth, whole.rankings, whole.scores, 5)  # type: ignore[arg-type]
    found = pd.DataFrame(block(report, "bias", "bias").rows).sort_values("model", ignore_index=True)
    pd.testing.assert_frame_equal(found, sides.models)


def test_slices_are_plain_means(made: tuple[Material, Report]) -> None:
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
            mine = [value for query, value in zip(values.queries.to_pylist(), values.by_query, strict=True)
                    if kinds[query] == row["kind"] and not np.isnan(value)]  # fmt: skip
            assert row[f"m{at}"] == pytest.approx(np.mean(mine), abs=1e-12)
            assert row["n"] == len(mine)


def test_a_column_that_is_not_there_is_told() -> None:
    report = build(material(slices=("colour",)), {})
    section = next(part for part in report.sections if part.key == "slices")
    assert "Table images has no column colour." in [getattr(one, "what", "") for one in section.blocks]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=120))
def test_the_area_under_a_short_curve_is_roc_auc(pairs: list[tuple[int, int]]) -> None:
    value, score = np.array([one for one, _ in pairs]), np.array([float(two) for _, two in pairs])
    told = curve(value, score)
    expected = roc_auc(score[value == 1].tolist(), score[value == 0].tolist())
    if np.isnan(expected):
        assert told["false"] == []
    else:
        assert np.trapezoid(told["true"], told["false"]) == pytest.approx(expected, abs=1e-12)


def test_a_long_curve_is_thinned_along_its_line() -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(0, 2, 20_000)
    score = value + rng.normal(size=20_000)
    told = curve(value, score)
    assert len(told["true"]) <= 162
    expected = roc_auc(score[value == 1].tolist(), score[value == 0].tolist())
    assert np.trapezoid(told["true"], told["false"]) == pytest.approx(expected, abs=2e-3)
    assert (told["true"][0], told["true"][-1], told["false"][-1]) == (0.0, 1.0, 1.0)


def test_ranks_of_pairs_serve_bias_and_reuse_as_whole_lists_do(made: tuple[Material, Report]) -> None:
    whole, report = made
    assert whole.rankings is not None
    assert whole.truth is not None
    places = whole.rankings.merge(whole.truth[PAIR], on=PAIR)[["model", *PAIR, "rank"]]
    lengths = whole.rankings.groupby(["model", "query_id"]).size().rename("length").reset_index()
    by_ranks = build(replace(whole, rankings=None, placed=read_places(places, lengths), kept={}), {})
    for key in ("bias", "verdicts", "reuse", "sides"):
        one, two = (pd.DataFrame(block(told, "bias", key).rows) for told in (report, by_ranks))
        pd.testing.assert_frame_equal(one, two)
