"""What is said beside the vote, own judgements again, and the one question to who is too fast."""

import pandas as pd
from playwright.sync_api import Browser, expect

from eds.labels.campaigns import Plan, create_campaign
from eds.labels.form import Form
from eds.labels.frames import acts_frame
from eds.labels.progress import expert_progress
from tests.browser.annotator import Annotator, axe_faults
from tests.browser.judging import new_name, open_page, press, shown, wait_painted, wait_saved, watch


def test_aspects_grades_and_notes_go_with_the_answer(browser: Browser, annotator: Annotator) -> None:
    name = new_name("Beside")
    images = annotator.project.read("images")["image_id"].tolist()
    frame = pd.DataFrame([(images[0], images[10 + place]) for place in range(5)], columns=["query_id", "candidate_id"])
    form = Form(aspects=("shape", "colour"), similar_from=2, notes=True)
    create_campaign(annotator.store, Plan(name, form=form), frame, ["ann"])
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, name, "ann")
        first = shown(page)
        assert axe_faults(page) == []
        page.keyboard.press("4")
        page.keyboard.press("5")
        page.keyboard.press("n")
        page.keyboard.type("the hem 3")
        page.keyboard.press("Enter")
        assert shown(page) == first, "letters of a note judge nothing"
        press(page, "2")
        press(page, "1")
        press(page, "ArrowRight")  # the right key is the right button
        page.get_by_role("button", name="colour").click()
        press(page, "u")
        wait_saved(page)
        handle = expert_progress(annotator.store, name, "ann").handle
        page.goto(f"{annotator.url}/my-judgements")
        page.get_by_test_id("stSelectbox").first.click()
        page.get_by_role("option", name=name).click()
        expect(page.get_by_text("4 answers, the latest first")).to_be_visible()
        page.wait_for_timeout(1000)
        assert axe_faults(page) == []
        with page.expect_navigation():
            page.locator(".eds-judgements a").last.click()
        wait_painted(page, 0)
        assert f"campaign={handle}&open={first[0]}" in page.url
        assert shown(page) == first
        expect(page.locator(".before")).to_contain_text("You said: Similar")
        press(page, "0")
        wait_saved(page)
    acts = acts_frame(annotator.store, campaign=name)
    said = acts[["value", "grade", "aspects", "note"]].astype(object).where(acts.notna(), None).to_numpy().tolist()
    assert said == [
        [1, 2, "shape,colour", "the hem 3"],
        [0, 1, None, None],
        [1, 3, None, None],
        [None, None, "colour", None],
        [0, 0, None, None],
    ]


def test_who_is_too_fast_is_asked_once(browser: Browser, annotator: Annotator) -> None:
    name = new_name("Fast")
    images = annotator.project.read("images")["image_id"].tolist()
    pairs = [(images[query], images[10 + place]) for query in range(4) for place in range(18)]
    frame = pd.DataFrame(pairs, columns=["query_id", "candidate_id"])
    create_campaign(annotator.store, Plan(name, "grid", "similar", repeat_share=0.01), frame, ["ann"])
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        if page.locator(".judging").get_attribute("data-state") == "pair":
            press(page, "j")
        press(page, "Enter")  # one small page tells nothing; two of them do
        first, before = shown(page), len(typed.labels)
        press(page, "Enter")
        expect(page.get_by_text("That was quick: 36 in")).to_be_visible()
        page.get_by_role("button", name="Look again").click()
        wait_painted(page, 2)
        assert shown(page) == first
        press(page, "Enter")
        expect(page.get_by_text("That was quick")).to_have_count(0)
        assert len(typed.labels) == before + 18, "the same answers again are no new acts"
        assert "per hour" not in page.locator(".bar").inner_text()
        wait_saved(page)
