"""The page on which leads decide: the same verb as everywhere, and what it would change shown before."""

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from annotator_ui.app_state import Site
from annotator_ui.texts_leads import DECIDE
from eds.labels.adjudication import adjudicate
from tests.annotator.judged import RANDOM
from tests.annotator.leads.pages import page_html, run
from tests.annotator.sites import store_of


def button(app: AppTest, label: str) -> Button:
    [found] = [one for one in app.button if one.label == label]
    return found


def test_a_lead_decides_and_consents_to_what_changes(judged: Site, viewer: dict[str, str]) -> None:
    app = run("decide")
    assert DECIDE.none_title in page_html(app)
    button(app, DECIDE.decide).click().run()
    truth = judged.project.read("truth")
    assert f"{len(truth):,} pairs have a label, {truth['value'].sum():,} of them similar" in app.success[0].value
    assert DECIDE.fresh in page_html(app)
    app.selectbox[0].set_value(RANDOM).run()
    button(app, DECIDE.decide).click().run()
    assert judged.project.read("truth").equals(truth)
    alone = len(truth.merge(judged.project.read("suspects").query("origin == 'random'")[["query_id", "candidate_id"]]))
    assert f"of {len(truth):,} labels, {len(truth) - alone:,} would be lost" in app.warning[0].value
    assert f"restricted to campaign {RANDOM} alone" in page_html(app)
    app.selectbox[0].set_value(None).run()
    assert not app.warning  # other choices: nothing is asked
    app.selectbox[0].set_value(RANDOM).run()
    button(app, DECIDE.replace).click().run()
    assert len(judged.project.read("truth")) == alone


def test_leads_decisions_count_unless_the_lead_leaves_them_out(judged: Site, viewer: dict[str, str]) -> None:
    judged.owner.decide()
    row = (
        judged.project.read("truth")
        .merge(judged.project.read("suspects").query("origin == 'random'")[["query_id", "candidate_id"]])
        .iloc[0]
    )
    one = (str(row["query_id"]), str(row["candidate_id"]))
    adjudicate(store_of(judged.owner), RANDOM, *one, 1 - int(row["value"]), by="lea", token="t")
    app = run("decide")
    assert DECIDE.stale in page_html(app)
    app.checkbox[0].set_value(False).run()
    button(app, DECIDE.decide).click().run()
    assert "adjudication" not in set(judged.project.read("truth")["rule"])
    app.checkbox[0].set_value(True).run()
    button(app, DECIDE.decide).click().run()
    decided = judged.project.read("truth").query("rule == 'adjudication'")
    assert decided[["query_id", "candidate_id", "value"]].to_numpy().tolist() == [[*one, 1 - row["value"]]]
