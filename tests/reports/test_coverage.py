"""What numbers rest on: pairs without a score, unknown verdicts, sample sizes in their own unit."""

from dataclasses import replace

import pandas as pd
import pytest

from eds.metrics import ScoringInputs, evaluate
from eds.reports import Report, ReportInputs, build, coverage
from eds.reports.document import Figure, Gallery
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
    caption = block(changed, "pairs", "hard_positives", Gallery).caption
    assert f"among {len(whole.labels) - 1:,} judged pairs" in caption
    assert block(report, "pairs", "hard_positives", Gallery).caption != caption


def test_pairs_that_some_models_lack_prevent_it_on_their_side_only(made: tuple[ReportInputs, Report]) -> None:
    whole, _ = made
    drawn = whole.require("negatives").head(2)
    changed = build(without_scores(whole, drawn, ("alpha",)), {})
    names = [row["measure"] for row in block(changed, "fairness", "grades").rows]
    assert "macro ROC-AUC" in names
    assert "macro ROC-AUC, sampled" not in names
    both = build(without_scores(whole, whole.labels.head(2), ("alpha",)), {})
    assert not [row for row in block(both, "fairness", "grades").rows if "AUC" in row["measure"]]
    assert [item.key for item in both.sections[0].blocks if isinstance(item, Figure)] == ["hr"]
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
