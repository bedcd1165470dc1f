"""Standing, draws by a design, adaptive campaigns and the promise: what pages show is what verbs say."""

import pytest

from annotator_ui import html
from annotator_ui.app_state import Site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.texts import FORMATS
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_standing import DRAWS, PROMISE, STANDING, VOTES
from eds.tables import Provenance
from tests.annotator.judged import NAME
from tests.annotator.leads.pages import metrics, page_text, run


@pytest.fixture
def decided(judged: Site, viewer: dict[str, str]) -> Site:
    judged.project.decide()
    return judged


def test_the_standing_is_that_of_the_verb(decided: Site) -> None:
    found, app = decided.project.standing(), run("standing")
    said = metrics(app)
    assert found.p is not None
    assert found.recall is not None
    assert said[STANDING.p_by_draws][0] == html.percent(found.p.value, 3)
    assert STANDING.differ in page_text(app).replace("\\", "")
    assert said[STANDING.pool_rate][0] == html.percent(found.pool_rate.to_dict()["rate"])
    assert said[STANDING.recall][0] == html.percent(found.recall.value, 1)
    assert html.limits(found.p.low, found.p.high, 3) in said[STANDING.p_by_draws][1]
    shown = app.dataframe[0].value.set_index("model")
    assert shown["precision"].to_dict() == {one.model: pytest.approx(one.precision) for one in found.models}
    text = page_text(app)
    assert all(escape_markdown(plan.text) in text for plan in found.plans)
    assert app.dataframe[1].value["hours"].tolist() == found.growth["hours"].tolist()


def test_a_few_queries_have_no_interval_but_its_reason(decided: Site) -> None:
    truth = decided.project.read("truth")
    few = truth[truth["query_id"].isin(truth["query_id"].unique()[:3])]
    decided.project.write(few, "truth", Provenance("three queries"))
    rate = decided.project.standing().pool_rate
    assert metrics(run("standing"))[STANDING.pool_rate] == (
        html.percent(rate.value),
        FORMATS.no_interval.format(reason="fewer than 8 queries"),
    )


def test_models_are_hidden_from_who_judges_and_the_page_from_experts(decided: Site, viewer: dict[str, str]) -> None:
    viewer["name"] = "ann"  # of the panel, with pairs left
    assert any(one.left for one in decided.project.campaigns.all_of_expert("ann") if not one.closed)
    app = run("standing")
    assert STANDING.models_hidden in page_text(app)
    assert all("precision" not in one.value for one in app.dataframe)


@pytest.mark.parametrize("where", [("standing", ""), ("campaign", "pool_yield")])
def test_a_promise_has_its_depth_or_its_reason(decided: Site, where: tuple[str, str]) -> None:
    app = run(where[0], NAME, tab=where[1])
    assert PROMISE.title in page_text(app)
    assert "eds suspects pool" in page_text(app)  # this project has suspects without lists, so a depth is unknown
    assert PROMISE.depth not in metrics(app)


def test_a_campaign_may_be_adaptive_and_learns_again(decided: Site) -> None:
    app = run("new_campaign")
    app.text_input[0].set_value("few votes")
    next(one for one in app.checkbox if one.label == VOTES.adaptive).check()
    app.run()
    assert not app.exception
    stop = next(one for one in app.checkbox if one.label == CAMPAIGNS.stop)
    assert stop.value
    assert stop.disabled
    assert any("adaptive" in about for _, about in metrics(app).values())
    next(one for one in app.button if one.label == CAMPAIGNS.make).click()
    app.run()
    listed = decided.project.campaigns.list().set_index("name")
    assert listed.loc["few votes", "adaptive"]
    assert not listed.loc[NAME, "adaptive"]
    page = run("campaign", "few votes", tab="settings")
    next(one for one in page.button if one.label == VOTES.again).click()
    page.run()
    assert not page.exception
    assert "votes a pair instead of" in " ".join(str(one.value) for one in page.success)


def test_random_pairs_are_drawn_by_a_design(decided: Site, viewer: dict[str, str]) -> None:
    before = len(decided.project.read("suspects"))
    app = run("new_campaign")
    app.number_input(key="draw-count").set_value(5)
    app.selectbox(key="draw-design").set_value("uniform")
    app.run()
    price = decided.project.acting_as(viewer["name"]).draw(5, design="uniform", dry_run=True).price
    shown = DRAWS.price.format(judgements=price.judgements, experts=price.experts, hours=price.hours)
    assert shown in [one.value for one in app.caption], "the price is known before the draw"
    assert len(decided.project.read("suspects")) == before
    app.button(key="draw").click()
    app.run()
    assert not app.exception
    assert len(decided.project.read("suspects")) == before + 5
    assert DRAWS.designs["uniform"] not in page_text(app)
    assert "5 random pairs are drawn, uniform" in " ".join(str(one.value) for one in app.success)
