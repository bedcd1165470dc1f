"""The figures on coverage, agreement and pool yield are the store's and the library's."""

import pytest
from markupsafe import escape

from annotator_ui import html
from annotator_ui.app_state import Site
from annotator_ui.texts_leads import AGREEMENT, COVERAGE, POOL
from eds.labels.campaigns import close_campaign
from eds.labels.frames import acts_frame, labels_frame, panels
from eds.labels.queue import progress
from eds.suspects import pair_rate
from eds.truth import decide, expert_profiles, panel_agreement
from eds.universe import PairRules, Universe
from tests.annotator.judged import GRID, NAME, RANDOM
from tests.annotator.leads.pages import page_html, run
from tests.annotator.sites import store_of


def test_coverage_shows_what_the_store_says(judged: Site, viewer: dict[str, str]) -> None:
    shown = page_html(run("coverage", NAME))
    counts = progress(store_of(judged.owner), NAME)
    assert (
        html.figures(
            (COVERAGE.judged, int(counts["done"].sum()), COVERAGE.judged_about.format(total=int(counts["total"].sum())))
        )[:-6]
        in shown
    )
    for one in counts.itertuples():
        row = f"<bdi>{one.expert}</bdi></td><td>"
        assert row in shown
        assert f'<td class="n">{one.done:,}</td><td class="n">{one.left}</td>' in shown
    assert COVERAGE.passed in shown  # ann's calibration
    assert COVERAGE.failed in shown  # bob's


def test_agreement_shows_the_librarys_figures(judged: Site, viewer: dict[str, str]) -> None:
    shown = page_html(run("agreement", NAME))
    labels = labels_frame(store_of(judged.owner), campaign=NAME)
    expected = panel_agreement(labels).coefficients.set_index("coefficient")
    for name in ("percent_agreement", "krippendorff_alpha", "gwet_ac1"):
        row = expected.loc[name]
        assert f'<bdi>{escape(AGREEMENT.names[name])}</bdi></td><td class="n"><bdi>{row["value"]:.3f}</bdi>' in shown
        assert f"{row['low']:.3f} to {row['high']:.3f}" in shown
    for one in expert_profiles(labels).itertuples():
        assert f'<bdi>{one.expert_id}</bdi></td><td class="n">{one.judged}</td>' in shown
    assert AGREEMENT.modes_none in shown


def test_grid_against_pair_and_the_control_subset(judged: Site, viewer: dict[str, str]) -> None:
    shown = page_html(run("agreement", GRID))
    assert AGREEMENT.control.format(count=18) in shown
    found = judged.project.campaigns.agreement(GRID)
    assert found.control == 18
    acts = acts_frame(store_of(judged.owner), campaign=GRID)
    last = acts[acts["value"].notna() & ~acts["label_id"].isin(acts["supersedes"])]
    ways = last.groupby(["query_id", "candidate_id", "expert_id"])["mode"].nunique()
    assert found.modes.both == (ways == 2).sum() > 0
    assert f"<strong>{found.modes.both}</strong>" in shown


def test_single_models_are_told_of_closed_campaigns_only(judged: Site, viewer: dict[str, str]) -> None:
    shown = page_html(run("pool_yield", NAME))
    assert POOL.models_open in shown
    assert "beit" not in shown
    close_campaign(store_of(judged.owner), NAME)
    shown = page_html(run("pool_yield", NAME))
    suspects = judged.project.read("suspects")
    for model in ("beit", "clip", "resnet"):
        count = int(suspects["sources"].fillna("").str.contains(f"{model}:").sum())
        assert f'<bdi>{model}</bdi></td><td class="n">{count}</td>' in shown


def test_the_pages_p_k_is_that_of_the_pools_decided_pairs(judged: Site, viewer: dict[str, str]) -> None:
    project = judged.project
    universe = Universe(project.read("images"), PairRules())
    suspects = project.read("suspects")
    held = set(universe.numbers(suspects[suspects["origin"] == "pool"]).tolist()) - {-1}
    for name in (NAME, RANDOM):
        store = store_of(judged.owner)
        sizes = panels(store, name).sizes[["query_id", "candidate_id", "panel"]]
        truth = decide(labels_frame(store, campaign=name), sizes).truth
        units = truth.assign(candidate_id=[str(number) for number in universe.numbers(truth)])
        units = units[units["candidate_id"].isin({str(number) for number in held})]
        units = units.groupby(["query_id", "candidate_id"])["value"].max().reset_index()
        rate = pair_rate(units, units)
        growth = project.campaigns.pool_yield(name).growth
        if not rate.labelled:
            assert growth.empty
            continue
        shown = growth.iloc[-1]
        assert (shown["labelled"], shown["positive"], shown["rate"]) == (rate.labelled, rate.positive, rate.value)
        assert shown["low"] == pytest.approx(rate.interval.low, nan_ok=True)
        assert shown["no_interval"] == rate.interval.no_interval
        assert html.percent(rate.value) in page_html(run("pool_yield", name))


def test_p_of_random_pairs_is_corrected_by_known_positives(judged: Site, viewer: dict[str, str]) -> None:
    found = judged.project.campaigns.pool_yield(RANDOM)
    assert found.asked == 60
    assert found.prevalence is not None
    drawn = found.prevalence.random
    assert drawn is not None
    assert drawn.drawn == 60
    assert drawn.labelled == 60 - found.undecided
    assert found.random is not None
    assert found.random.raw == pytest.approx(drawn.positive / drawn.labelled)
    assert found.known[1] > 0
    assert found.random.sensitivity == pytest.approx(found.known[0] / found.known[1])
    shown = page_html(run("pool_yield", RANDOM))
    assert POOL.corrected in shown
    assert html.percent(found.random.corrected, 2) in shown
    assert found.prevalence.p is not None
    assert html.percent(found.prevalence.p.value, 2) in shown
    assert found.prevalence.universe.text in shown
