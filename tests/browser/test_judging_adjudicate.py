"""The lead's decisions in a real Chromium: on the judging page, at its speed, beside the raw votes."""

from playwright.sync_api import Browser, expect

from eds.labels.adjudication import adjudications
from eds.labels.flags import open_flags
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch
from tests.browser.annotator import GRID, Annotator, axe_faults
from tests.browser.judging import press, wait_painted, wait_saved, watch


def test_a_lead_decides_what_experts_dispute(browser: Browser, fresh_annotator: Annotator) -> None:
    annotator, store = fresh_annotator, fresh_annotator.store
    for expert, value in (("ann", 1), ("bob", 0)):
        tasks = sorted(next_batch(store, GRID, expert, 1000), key=lambda task: (task.query_id, task.candidate_id))[:6]
        acts = [Judgement(f"{expert}{task.candidate_id}", task.assignment, value, note="the collar") for task in tasks]
        submit(store, expert, acts)
    flag_task(store, "ann", next_batch(store, GRID, "ann", 1)[0].assignment, "<b>two</b> shoes", "flag")
    votes = labels_frame(store, campaign=GRID)
    handle = expert_progress(store, GRID, "lea").handle
    with annotator.page(browser, "lea") as page:
        watch(page)
        page.goto(f"{annotator.url}/adjudicate?campaign={handle}")
        wait_painted(page, 0)
        expect(page.get_by_role("button", name="All (7)")).to_be_visible()
        page.get_by_role("button", name="Votes differ (6)").click()
        wait_painted(page, 1)
        expect(page.locator(".where")).to_have_text("1 of 6 · 6 undecided")
        expect(page.get_by_text("✓ ann · “the collar”")).to_be_visible()
        expect(page.get_by_text("✕ bob")).to_be_visible()
        assert axe_faults(page) == []
        page.evaluate(
            "() => { window.waits = []; addEventListener('eds-judged', () => { window.judged = performance.now(); });"
            " addEventListener('eds-painted', () => window.waits.push(performance.now() - window.judged)); }"
        )
        page.keyboard.press("n")
        page.keyboard.type("sleeves jk")
        page.keyboard.press("Enter")
        press(page, "j")
        for key in "kjk":
            press(page, key)
        expect(page.locator(".past")).to_have_count(4)
        assert sorted(page.evaluate("window.waits"))[2] < 500, "the next pair is there at once"
        press(page, "u")  # left open
        page.locator(".past").first.click()
        expect(page.get_by_text("Decided by lea: Not similar · sleeves jk")).to_be_visible()
        page.wait_for_timeout(300)
        press(page, "u")  # withdrawn
        wait_saved(page)
        decided = adjudications(store, GRID)
        assert sorted(decided["value"].tolist()) == [0, 1, 1]
        assert set(decided["expert"]) == {"lea"}
        page.reload()
        wait_painted(page, 0)
        page.get_by_role("button", name="Flagged (1)").click()
        expect(page.get_by_text("ann flagged it: <b>two</b> shoes")).to_be_visible()
        page.get_by_role("button", name="Resolved").click()
        expect(page.get_by_text("ann flagged it")).to_have_count(0)
        wait_saved(page)
        assert open_flags(store, GRID).empty
    assert labels_frame(store, campaign=GRID).equals(votes), "raw votes stay"
    with annotator.page(browser, "ann") as page:
        page.goto(f"{annotator.url}/adjudicate?campaign={handle}")
        page.wait_for_timeout(2500)
        assert page.locator(".judging").count() == 0
        assert page.context.request.get(f"{annotator.url}/api/campaigns/{handle}/disputes").status == 403
        sent = {"expert": "ann", "decisions": []}
        answer = page.context.request.post(
            f"{annotator.url}/api/campaigns/{handle}/decisions", data=sent, headers={"x-eds": "1"}
        )
        assert answer.status == 403
