"""What numbers rest on: pairs without a score, unknown verdicts, sample sizes in their own unit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eds.analysis import AnalysisInputs, fairness
from eds.metrics import ScoringInputs, evaluate
from eds.reports import Report, ReportInputs, build, coverage
from eds.reports.document import Gallery
from eds.reports.sections import pool as pool_section
from eds.reports.sections.comparison import AUC as COMPARED
from eds.reports.sections.scores import measures
from tests.reports.example import MODELS, PAIR, block, example_inputs, words_of


@pytest.fixture(scope="module")
def made() -> tuple[ReportInputs, Report]:
    whole = example_inputs()
    return whole, build(whole, {})


def without_scores(whole: ReportInputs, pairs: pd.DataFrame, models: tuple[str, ...]) -> ReportInputs:
    """The inputs where these models do not score these pairs, with their measures."""
    scores, images, truth = whole.require("scores"), whole.require("images"), whole.require("truth")
    key = scores[PAIR].merge(pairs[PAIR].drop_duplicates(), on=PAIR, how="left", indicator=True)["_merge"] == "both"
    left = scores[~(key.to_numpy() & scores["model"].isin(models).to_numpy())].reset_index(drop=True)
    results = evaluate(
        ScoringInputs(
            truth[[*PAIR, "value"]], rankings=whole.rankings, scores=left, images=images, negatives=whole.negatives
        ),
        measures(True),
    )
    return replace(whole, scores=left, results=results, cache={})


def test_a_pair_that_no_model_scores_prevents_no_comparison(made: tuple[ReportInputs, Report]) -> None:
    whole, report = made
    changed = build(without_scores(whole, whole.labels.head(1), MODELS), {})
    titles = [
        [getattr(item, "key", "") for item in part.blocks] for part in changed.sections if part.key == "comparison"
    ]
    assert f"pairs_{COMPARED}" in titles[0]
    assert not [
        item for part in changed.sections for item in part.blocks if "cannot be compared here" in words_of(item)
    ]
    verdicts = block(changed, "bias", "verdicts").rows
    assert {row["verdict"] for row in verdicts} <= {"fair to new models", "not fair to new models"}
    caption = block(changed, "pairs", "hard_positives", Gallery).caption
    assert f"among {len(whole.labels) - 1:,} judged pairs" in caption
    assert block(report, "pairs", "hard_positives", Gallery).caption != caption


def test_pairs_that_some_models_lack_prevent_it_on_their_side_only(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    drawn = whole.require("negatives").head(2)
    changed = build(without_scores(whole, drawn, ("alpha",)), {})
    by = {row["metric"]: row["verdict"] for row in block(changed, "bias", "verdicts").rows}
    assert by["macro ROC-AUC, sampled"] == "unknown"
    assert by["macro ROC-AUC"] != "unknown"
    both = build(without_scores(whole, whole.labels.head(2), ("alpha",)), {})
    by = {row["metric"]: row["verdict"] for row in block(both, "bias", "verdicts").rows}
    assert {by["macro ROC-AUC"], by["macro ROC-AUC, sampled"]} == {"unknown"}
    (said,) = coverage.warning(replace(without_scores(whole, whole.labels.head(2), ("alpha",)), cache={}))
    assert "--allow-missing" in said.template
    assert said.filled["names"] == "alpha 2"


def test_the_report_says_that_pairs_of_the_pool_do_not_count(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    numbers = pool_section.pool_report(whole) | {"pool_pairs_left_out": 3}
    blocks = pool_section.rates(replace(whole, cache={"pool": numbers}))
    assert any("pairs of the pool are not in the universe" in words_of(item) for item in blocks)


def test_a_sample_size_has_its_own_unit(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    results = [*whole.require("results"), *whole.codes]
    assert coverage.sample_size(results, "PairMRR@9").startswith(f"n = {int(whole.labels['value'].sum())} pairs")
    assert coverage.sample_size(results, "CodeUsage(what=distinct)").startswith("n = 40 candidates")
    assert " queries" in coverage.sample_size(results, "VSD-HR@5")


def test_sampled_measures_of_the_reuse_table_are_those_of_that_name() -> None:
    whole = example_inputs()
    labels, images = whole.labels, whole.require("images")
    judged_by_now = labels[labels["value"] == 0].head(3)[PAIR]
    nobodys = pd.DataFrame({"query_id": "c00", "candidate_id": ["c01", "c02"]})  # no label of this query
    drawn = pd.concat([whole.require("negatives"), judged_by_now, nobodys], ignore_index=True)
    rng = np.random.default_rng(5)
    extra = [nobodys.assign(model=model, score=rng.normal(size=2) + 9) for model in MODELS]
    scores = pd.concat([whole.require("scores"), *extra], ignore_index=True)
    results = evaluate(
        ScoringInputs(
            whole.require("truth")[[*PAIR, "value"]],
            rankings=whole.rankings,
            scores=scores,
            images=images,
            negatives=drawn,
        ),
        measures(True),
    )
    changed = replace(whole, negatives=drawn, scores=scores, results=results, cache={})
    rows = block(build(changed, {}), "bias", "reuse").rows
    value = {
        (result.model, str(result.measure)): result.values.value for result in results if result.values is not None
    }
    for row in rows:
        if row["metric"].endswith(", sampled"):
            average, area = row["metric"].removesuffix(", sampled").split()
            same = value[row["model"], f"{area}(average={average},negatives=sampled)"]
            assert row["full"] == pytest.approx(same, abs=1e-12)
    wanted = [result for result in results if str(result.measure) == "ROC-AUC(average=micro,negatives=sampled)"]
    pooled = AnalysisInputs(
        pool_lists=whole.require("pool_lists"), labels=labels, rankings=whole.rankings, scores=scores, negatives=drawn
    )
    for row in fairness(wanted, ["late"], pooled).reuse.to_dict(orient="records"):
        assert row["full"] == pytest.approx(value[row["model"], row["measure"]], abs=1e-12)
