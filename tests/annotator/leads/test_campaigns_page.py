"""The page of campaigns: what a new one is told beforehand, and known pairs."""

from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, NumberInput

from annotator_ui import html
from annotator_ui.app_state import Site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.texts_campaign import NEEDS
from annotator_ui.texts_campaigns import CAMPAIGNS
from eds.choices import CampaignQuality
from eds.intervals import wilson_interval
from eds.labels.adjudication import adjudicate
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.frames import acts_frame
from eds.project import campaign_needs, campaign_statistics
from eds.project.campaigns import CampaignPlan, Mode
from eds.truth.grid_vs_pair import ModesCompared
from tests.annotator.judged import NAME
from tests.annotator.leads.pages import metrics, page_html, page_text, run
from tests.annotator.sites import store_of

MODES: list[Mode] = ["pair", "grid"]


def test_a_new_grid_is_told_which_known_pairs_it_can_hide(judged: Site, viewer: dict[str, str]) -> None:
    app = run("new_campaign")
    assert app.radio[0].value == "pair"  # 24 judged both ways do not settle it
    app.radio[0].set_value("grid").run()
    assert app.radio[1].value is None  # too few pairs are decided: it is asked
    assert _make(app).disabled
    app.radio[1].set_value("similar").run()
    suspects = judged.project.read("suspects")
    pooled = suspects[suspects["origin"] == "pool"]
    assert CAMPAIGNS.gold_usable["similar"].format(
        known=judged.project.campaigns.usable_gold(pooled, "similar")
    ) in page_text(app)
    gold, again = (one for one in app.number_input if one.label in (CAMPAIGNS.gold_share, CAMPAIGNS.repeat_share))
    assert gold.value == pytest.approx(100 * judged.project.campaigns.usual_gold_share(pooled, "similar"))
    assert gold.value is not None
    assert gold.value > 0
    assert again.value == 5
    gold.set_value(0.0).run()
    assert CAMPAIGNS.grid_gold_needed in [one.value for one in app.warning]
    assert _make(app).disabled
    _gold(app).set_value(1.0).run()
    assert not _make(app).disabled
    _gold(app).set_value(100.0).run()
    assert any("would be needed" in one.value for one in app.warning)
    [origins] = [one for one in app.multiselect if one.label == CAMPAIGNS.origins]
    origins.set_value(["random"]).run()
    app.radio[1].set_value("different").run()
    random = suspects[suspects["origin"] == "random"]
    assert _gold(app).value == pytest.approx(100 * judged.project.campaigns.usual_gold_share(random, "different"))
    assert not _make(app).disabled
    assert CAMPAIGNS.gold_usable["different"].format(
        known=judged.project.campaigns.usable_gold(random, "different")
    ) in page_text(app)


def _gold(app: AppTest) -> NumberInput:
    [found] = [one for one in app.number_input if one.label == CAMPAIGNS.gold_share]
    return found


def _make(app: AppTest) -> Button:
    [found] = [one for one in app.button if one.label == CAMPAIGNS.make]
    return found


@pytest.mark.parametrize(
    ("alike", "mode", "said"), [(400, "grid", CAMPAIGNS.mode_agrees), (40, "pair", CAMPAIGNS.mode_open)]
)
def test_grid_is_preselected_once_it_agrees_with_pair(
    judged: Site, viewer: dict[str, str], monkeypatch: pytest.MonkeyPatch, alike: int, mode: str, said: str
) -> None:
    both = alike + alike // 20
    low, high = wilson_interval(alike, both)
    found = ModesCompared(both, alike, alike / both, float(low), float(high), None, 0.8, 1, 1, 6.0, 1.5)
    monkeypatch.setattr(campaign_statistics, "compare_modes", lambda _: found)
    app = run("new_campaign")
    assert app.radio[0].value == mode
    assert f"{both:,}; alike {html.percent(alike / both, 0)}" in page_text(app)
    assert said in page_text(app)


def test_known_pairs_are_counted_and_decisions_taken_over(judged: Site, viewer: dict[str, str]) -> None:
    before = judged.project.labels.gold()
    pooled = judged.project.read("suspects").query("origin == 'pool'")
    query_ids, candidates = (pooled[name].astype(str).tolist() for name in ("query_id", "candidate_id"))
    for place in (0, 1):
        adjudicate(
            store_of(judged.project),
            NAME,
            query_ids[place],
            candidates[place],
            1 - place,
            by="lea",
            token=f"t{place}",
        )
    app = run("known_pairs")
    for words, value in zip(CAMPAIGNS.known_counts, (1, 0), strict=True):
        assert metrics(app)[words][0] == f"{(before['value'] == value).sum()}"
    [take] = [one for one in app.button if one.label == CAMPAIGNS.known_decided.format(count=2)]
    take.click().run()
    assert "2 known pairs are new" in app.success[0].value
    after = judged.project.labels.gold()
    assert after["value"].value_counts().sub(before["value"].value_counts()).to_dict() == {1: 1, 0: 1}
    one, other, third = judged.project.read("images")["image_id"].head(3)
    for rows, told in (
        (f"{one},{other}", "Every row needs"),
        (f"{one},nowhere,1", "nowhere"),
        ("", "Every row needs"),
        (f"{one},{other},2", "value 1 or 0"),
    ):
        app.text_area[0].set_value(rows)
        [add] = [button for button in app.button if button.label == CAMPAIGNS.known_add]
        add.click().run()
        assert told in app.error[0].value
    app.text_area[0].set_value(f"query_id,candidate_id,value\n{one}, {other}, 1\n\n{other},{third},0\n")
    [add] = [button for button in app.button if button.label == CAMPAIGNS.known_add]
    add.click().run()
    assert len(judged.project.labels.gold()) == len(after) + 2


def test_a_new_campaign_says_what_is_decided_and_asks_some_experts(judged: Site, viewer: dict[str, str]) -> None:
    suspects = judged.project.read("suspects").query("origin == 'pool'")
    waiting = judged.project.campaigns.judged(suspects)
    assert 0 < waiting < len(suspects)
    assert CAMPAIGNS.judged.format(judged=waiting, pairs=len(suspects)) in page_text(run("new_campaign"))
    judged.owner.decide()
    assert not judged.project.campaigns.judged(suspects)
    labelled = judged.project.campaigns.labelled(suspects)
    app = run("new_campaign")
    assert CAMPAIGNS.labelled.format(labelled=labelled, pairs=len(suspects)) in page_text(app)
    left = len(judged.project.campaigns.suspects(["pool"], undecided=True))
    [only] = [one for one in app.checkbox if one.label == CAMPAIGNS.undecided.format(pairs=left)]
    only.set_value(True).run()
    [panel] = [one for one in app.multiselect if one.label == CAMPAIGNS.panel]
    assert panel.value == ["ann", "bob"]  # cid was never invited
    panel.set_value(["ann", "bob", "cid"]).run()
    [per_pair] = [one for one in app.number_input if one.label == CAMPAIGNS.per_pair]
    assert per_pair.value == per_pair.max == 3  # all of the panel
    assert CAMPAIGNS.per_pair_all in page_text(app)
    per_pair.set_value(1).run()
    assert CAMPAIGNS.per_pair_one in [one.value for one in app.warning]
    [per_pair] = [one for one in app.number_input if one.label == CAMPAIGNS.per_pair]
    per_pair.set_value(2).run()
    assert CAMPAIGNS.cost_judgements_some.format(per_pair=2, experts=3) in metrics(app)[CAMPAIGNS.cost_judgements][1]
    next(one for one in app.text_input if one.label == CAMPAIGNS.name).set_value("the rest").run()
    _make(app).click().run()
    assert not app.error
    counts = judged.project.campaigns.progress("the rest")
    (row,) = judged.project.campaigns.list().query("name == 'the rest'").to_dict("records")
    assert row["experts_per_pair"] == 2
    asked = judged.project.campaigns.suspects(["pool"], undecided=True)
    assert counts["total"].sum() >= 2 * len(asked) == 2 * (len(suspects) - labelled)
    listed = run("campaigns").dataframe[0].value.set_index("name")
    assert listed["panel"]["the rest"] == CAMPAIGNS.some_experts.format(per_pair=2, experts=3)


def test_an_expert_is_taken_off_a_panel(judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", NAME, tab="settings")
    counts = judged.project.campaigns.progress(NAME).set_index("expert")
    [who] = [one for one in app.selectbox if one.label == CAMPAIGNS.leaver]
    who.set_value("cid").run()
    assert escape_markdown(CAMPAIGNS.leave_shrinks.format(name="cid", left=counts["left"]["cid"])) in page_text(app)
    next(one for one in app.button if one.label == f"{CAMPAIGNS.leave} cid").click().run()
    assert "cid is off the panel" in app.success[0].value
    after = judged.project.campaigns.progress(NAME).set_index("expert")
    assert (after["left_panel"]["cid"], after["left"]["cid"], after["done"]["cid"]) == (1, 0, counts["done"]["cid"])
    assert judged.project.labels.audit().iloc[-1][["actor", "act"]].tolist() == ["lea", "leave panel"]


def test_handing_over_says_how_much_the_others_can_take(
    judged: Site, viewer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = judged.project.read("suspects").head(12)
    create_campaign(store_of(judged.owner), Plan("dealt", experts_per_pair=2), pairs, ["ann", "bob", "cid"])
    judged.owner.experts.invite("cid")
    monkeypatch.setattr(campaign_needs, "ABSENT", timedelta(0))
    before = judged.project.campaigns.progress("dealt").set_index("expert")["left"]
    app = run("campaign", "dealt")
    for expected in (f"get {before['ann']} of {before['ann']} tasks that ann", "get 0 of 12 tasks that bob"):
        next(one for one in app.button if one.label == NEEDS.actions["hand over"]).click().run()
        assert expected in app.success[0].value
        assert (escape_markdown(NEEDS.handed_some) in app.success[0].value) == ("get 0" in expected)


def test_a_quality_sets_the_guards_and_the_first_page_is_shown(judged: Site, viewer: dict[str, str]) -> None:
    app = run("new_campaign")
    campaigns, plan = judged.project.campaigns, CampaignPlan(guideline="1")
    pooled = campaigns.suspects(["pool"])
    asked: list[CampaignQuality] = ["light", "standard", "strict"]
    found = {name: campaigns.guards(name, pooled, plan) for name in asked}
    assert found["light"].early_stop
    assert not found["light"].practice
    assert found["light"].repeat_share < found["standard"].repeat_share < found["strict"].repeat_share
    assert found["standard"].practice < found["strict"].practice
    strict = found["strict"]
    assert strict.gold_share * len(pooled) <= campaigns.usable_gold(pooled, None) + 1e-9
    groups: list[Any] = list(app.get("button_group"))
    [quality] = [one for one in groups if one.label == CAMPAIGNS.quality]
    assert quality.value == "standard"
    quality.set_value("strict").run()
    values = {one.label: one.value for one in app.number_input}
    assert values[CAMPAIGNS.repeat_share] == round(100 * strict.repeat_share)
    assert values[CAMPAIGNS.calibration] == strict.practice
    assert values[CAMPAIGNS.needed] == round(100 * strict.practice_needed)
    first = pooled.sort_values("position").iloc[0]["query_id"]
    assert judged.pictures.url("lea", str(first), "thumb") in page_html(app)
    next(one for one in app.text_input if one.label == CAMPAIGNS.name).set_value("strictly").run()
    _make(app).click().run()
    row = campaigns.list().set_index("name").loc["strictly"]
    said = CAMPAIGNS.made.format(name="strictly", pairs=row["items"], experts=row["experts"])
    assert row["items"] > len(pooled)
    assert escape_markdown(said) in page_text(app)
    assert row["repeat_share"] == pytest.approx(strict.repeat_share)
    assert judged.project.calibration.planned("strictly") == (strict.practice, strict.practice_needed)


def test_cost_is_of_the_seconds_that_the_mode_takes(judged: Site, viewer: dict[str, str]) -> None:
    campaigns, acts = judged.project.campaigns, acts_frame(store_of(judged.owner))
    for mode in MODES:
        measured = acts.loc[acts["mode"] == mode, "seconds"].mean()
        assert campaigns.seconds(mode).value == pytest.approx(measured)
        cost = campaigns.cost(100, 3, CampaignPlan(mode))
        assert cost.hours == pytest.approx(300 * measured / 3600)


def test_known_pairs_are_chosen_by_their_pictures_each_with_its_reason(judged: Site, viewer: dict[str, str]) -> None:
    judged.owner.decide()
    truth = judged.project.read("truth")
    known = judged.project.labels.gold()
    labels = judged.project.labels
    similar = labels.pairs_to_pick("similar")
    assert len(similar) == truth["value"].sum()
    disputed = labels.pairs_to_pick("disputed")
    assert len(disputed) == len(judged.owner.agreement().disputed_pairs)
    one = str(similar["query_id"].iloc[0])
    assert set(labels.pairs_to_pick("similar", search=one.upper())["query_id"]) >= {one}
    like = labels.pairs_to_pick("similar", like=one)
    assert ((like["query_id"] == one) | (like["candidate_id"] == one)).all()
    assert labels.pairs_to_pick("similar", search="no such picture").empty
    app = run("known_pairs")
    next(item for item in app.selectbox if item.label == CAMPAIGNS.pick_from).set_value("different").run()
    offered = labels.pairs_to_pick("different")
    held = set(zip(known["query_id"], known["candidate_id"], strict=True))
    rows = offered.head(8).to_dict("records")
    fresh = next(row for row in rows if (row["query_id"], row["candidate_id"]) not in held)
    key = f"gold-{fresh['query_id']}-{fresh['candidate_id']}"
    app.selectbox(key=f"{key}-kind").set_value("negative").run()
    app.text_input(key=f"{key}-note").set_value("another cut").run()
    next(item for item in app.button if item.label == CAMPAIGNS.pick_gold.format(count=1)).click().run()
    assert not app.error
    after = labels.gold().set_index(["query_id", "candidate_id"])
    assert len(after) == len(known) + 1
    assert after.loc[(fresh["query_id"], fresh["candidate_id"])].tolist() == [0, "another cut"]
