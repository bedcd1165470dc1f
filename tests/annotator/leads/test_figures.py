"""The figures on the tabs of a campaign are the store's and the library's."""

import re

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from annotator_ui import html, language
from annotator_ui.app_state import Site
from annotator_ui.lead.campaign import CHOSEN
from annotator_ui.screen import HIDDEN, _with_shares
from annotator_ui.tab import TAB
from annotator_ui.texts_campaign import OVERVIEW, PANEL
from annotator_ui.texts_leads import AGREEMENT, POOL
from eds.labels.campaigns import close_campaign
from eds.labels.frames import acts_frame, labels_frame, panels
from eds.labels.queue import progress
from eds.suspects import pair_rate
from eds.truth import decide, expert_profiles, panel_agreement
from eds.universe import PairRules, Universe
from tests.annotator.judged import GRID, NAME, RANDOM
from tests.annotator.leads.pages import alone, metrics, page_html, page_text, run
from tests.annotator.sites import store_of


def test_the_overview_shows_what_the_store_says(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", NAME)
    counts = progress(store_of(judged.owner), NAME)
    done, total = int(counts["done"].sum()), int(counts["total"].sum())
    said = metrics(app)
    assert said[OVERVIEW.judged] == (f"{done / total:.0%}".replace("%", " %"), f"{done:,} of {total:,} judgements")
    assert said[OVERVIEW.ready][1].startswith(f"{counts['left'].sum():,} left")
    table = app.dataframe[0].value.set_index("expert")
    for one in counts.to_dict("records"):
        assert table["progress"][one["expert"]] == pytest.approx(100 * one["done"] / one["total"])
        assert table["left"][one["expert"]] == one["left"]
    acts = labels_frame(store_of(judged.owner), campaign=NAME)
    medians = acts.groupby("expert_id")["seconds"].median()
    assert table["seconds"].to_dict() == pytest.approx(medians.to_dict())
    standing = acts[~acts["label_id"].isin(acts["supersedes"].dropna())].dropna(subset="seconds")
    quick = (standing["seconds"] < 1).groupby(standing["expert_id"]).mean()  # as "Needs you" counts speeders
    assert table["under_1_s"].to_dict() == pytest.approx(quick.to_dict())
    alpha = panel_agreement(acts).coefficients.set_index("coefficient").loc["krippendorff_alpha"]
    limits = f"{alpha['low']:.2f} to {alpha['high']:.2f}"
    assert said[OVERVIEW.agreement] == (f"{alpha['value']:.2f}", limits)
    last = judged.project.campaigns.pool_yield(NAME).growth.iloc[-1]
    assert said[OVERVIEW.rate][0] == html.percent(last["rate"])


def test_a_link_to_a_tab_works_in_another_language(judged: Site, viewer: dict[str, str]) -> None:
    app = alone("campaign")
    app.session_state[CHOSEN] = NAME
    app.query_params[TAB] = "Ausbeute"  # as the address of a German page has it
    assert "Growth of p_k" in page_text(app.run())


def test_while_another_campaign_is_computed_nothing_of_the_one_before_is_seen() -> None:
    script = (
        "import streamlit as st\nfrom annotator_ui.screen import only_of\nwith only_of(st.session_state['of']):\n    "
    )
    halfway, whole = (AppTest.from_string(script + inside) for inside in ("st.stop()", "st.write(1)"))
    for app, expected in ((halfway, [False, False, True]), (whole, [False, False, False])):
        hidden = []
        for name in ("one", "one", "other"):
            app.session_state["of"] = name
            hidden.append(HIDDEN in page_html(app.run()))
        assert hidden == expected


def test_whole_numbers_in_tables_have_their_thousands_apart() -> None:
    frame = pd.DataFrame({"count": [1234, 7], "pace": [1459.541, None]})
    column = st.column_config.NumberColumn("n", format="%d")
    for of, expected in (("en", ["1,234", "1,460", "7", "–"]), ("de", ["1.234", "1.460", "7", "–"])):
        with language.speaking(of):
            shown, _ = _with_shares(frame, {"count": column, "pace": column})
            assert re.findall(r">([^<>]*)</td>", shown.to_html()) == expected


def test_numbers_in_german_tables_keep_their_digits() -> None:
    frame, column = pd.DataFrame({"value": [0.88, -0.1234, None]}), st.column_config.NumberColumn
    with language.speaking("de"):
        plain, _ = _with_shares(frame, {"value": column("Wert", format="%.3f")})
        signed, _ = _with_shares(frame, {"value": column("Wert", format="%+.1f")})
        assert re.findall(r">([^<>]*)</td>", plain.to_html()) == ["0,880", "-0,123", "–"]
        assert re.findall(r">([^<>]*)</td>", signed.to_html()) == ["+0,9", "-0,1", "–"]


def test_calibration_is_shown_with_its_results(judged: Site, viewer: dict[str, str]) -> None:
    found = run("campaign", NAME, tab="experts").dataframe[-1].value.set_index("expert")
    assert found["state"].to_dict() == {"ann": PANEL.passed, "bob": PANEL.failed}


def test_agreement_shows_the_librarys_figures(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", NAME, tab="agreement")
    labels = labels_frame(store_of(judged.owner), campaign=NAME)
    expected = panel_agreement(labels)
    shown = app.dataframe[0].value.set_index("name")
    for row in expected.coefficients.to_dict("records"):
        if row["coefficient"] != "fleiss_kappa":
            values = [shown[part][AGREEMENT.names[row["coefficient"]]] for part in ("value", "low", "high")]
            assert values == pytest.approx([row["value"], row["low"], row["high"]])
    pairs = app.dataframe[1].value
    assert pairs["agreement"].tolist() == pytest.approx(expected.pairs_of_experts["agreement"].tolist())
    normal = labels[(labels["kind"] == "normal") & ~labels["label_id"].isin(labels["supersedes"].dropna())]
    table = normal.pivot(index=["query_id", "candidate_id"], columns="expert_id", values="value")
    for row in pairs.to_dict("records"):
        one, other = table[row["expert_a"]], table[row["expert_b"]]
        assert (row["only_a"], row["only_b"]) == (((one == 1) & (other == 0)).sum(), ((one == 0) & (other == 1)).sum())
    assert AGREEMENT.modes_none in page_text(app)
    people = run("campaign", NAME, tab="experts").dataframe[0].value.set_index("expert")
    for profile in expert_profiles(labels).to_dict("records"):
        name = profile["expert_id"]
        assert people["similar"][name] == pytest.approx(profile["positive_rate"])
        assert people["with_others"][name] == pytest.approx(profile["with_others"])
        assert people["drift"][name] == pytest.approx(100 * profile["drift"])


def test_grid_against_pair_and_the_control_subset(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", GRID, tab="agreement")
    assert AGREEMENT.control.format(count=18) in page_text(app)
    found = judged.project.campaigns.agreement(GRID)
    assert found.control == 18
    acts = acts_frame(store_of(judged.owner), campaign=GRID)
    last = acts[acts["value"].notna() & ~acts["label_id"].isin(acts["supersedes"])]
    ways = last.groupby(["query_id", "candidate_id", "expert_id"])["mode"].nunique()
    assert found.modes.both == (ways == 2).sum() > 0
    assert metrics(app)[AGREEMENT.both][0] == f"{found.modes.both}"


def test_single_models_are_told_of_closed_campaigns_only(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", NAME, tab="pool_yield")
    assert POOL.models_open in page_text(app)
    assert not any("model" in table.value.columns for table in app.dataframe)
    close_campaign(store_of(judged.owner), NAME)
    table = run("campaign", NAME, tab="pool_yield").dataframe[-1].value.set_index("model")
    suspects = judged.project.read("suspects")
    for model in ("beit", "clip", "resnet"):
        assert table["proposed"][model] == int(suspects["sources"].fillna("").str.contains(f"{model}:").sum())


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
        app = run("campaign", name, tab="pool_yield")
        assert metrics(app)[POOL.rate][0] == html.percent(rate.value)
        outside = int((universe.numbers(truth) < 0).sum())
        assert (POOL.outside.format(outside=outside) in page_text(app)) == (outside > 0)


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
    said = metrics(run("campaign", RANDOM, tab="pool_yield"))
    assert said[POOL.corrected][0] == html.percent(found.random.corrected, 2)
    assert found.prevalence.p is not None
    assert said[POOL.p[0]][0] == html.percent(found.prevalence.p.value, 2)
    assert found.prevalence.universe.text in said[POOL.bound][1]
