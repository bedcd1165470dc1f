"""The lead's decisions in a real Chromium: beside the raw votes, which stay as they are."""

from playwright.sync_api import Browser, expect

from eds.labels.adjudication import adjudications
from eds.labels.flags import open_flags
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import next_batch
from tests.browser.annotator import GRID, Annotator, axe_faults


def test_a_lead_decides_what_experts_dispute(browser: Browser, fresh_annotator: Annotator) -> None:
    annotator, store = fresh_annotator, fresh_annotator.store
    for expert, value in (("ann", 1), ("bob", 0)):
        tasks = sorted(next_batch(store, GRID, expert, 1000), key=lambda task: (task.query_id, task.candidate_id))[:2]
        submit(store, expert, [Judgement(f"{expert}{task.candidate_id}", task.assignment, value) for task in tasks])
    flag_task(store, "ann", next_batch(store, GRID, "ann", 1)[0].assignment, "<b>two</b> shoes", "flag")
    votes = labels_frame(store, campaign=GRID)
    with annotator.page(browser, "lea") as page:
        page.goto(f"{annotator.url}/adjudicate")
        expect(page.get_by_text("Votes differ (2)")).to_be_visible()
        expect(page.get_by_text("Pair 1 of 2")).to_be_visible()
        expect(page.locator(".eds-pair img").first).to_be_visible()
        assert axe_faults(page) == []
        page.get_by_role("button", name="Not similar").click()
        expect(page.get_by_text("Decided: Not similar.")).to_be_visible()
        expect(page.get_by_text("Pair 1 of 1")).to_be_visible()
        answer, end = page.get_by_role("button", name="Similar", exact=True), page.get_by_text("Nothing left")
        expect(answer.or_(end)).to_be_visible()
        for _ in range(5):  # a click on a button that Streamlit is about to replace goes nowhere
            if end.is_visible():
                break
            answer.click()
            page.wait_for_timeout(3000)
        expect(end).to_be_visible()
        decided = adjudications(store, GRID)
        assert decided["value"].tolist() == [0, 1]
        assert decided["expert"].tolist() == ["lea", "lea"]
        page.get_by_text("Only undecided pairs").click()
        page.get_by_role("button", name="Withdraw the decision").click()
        expect(page.get_by_text("The decision was withdrawn.")).to_be_visible()
        assert len(adjudications(store, GRID)) == 1
        page.get_by_text("Flagged (1)").click()
        expect(page.get_by_text("ann flagged it: <b>two</b> shoes")).to_be_visible()
        page.get_by_role("button", name="Mark as resolved").click()
        expect(page.get_by_text("Flagged (0)")).to_be_visible()
        assert open_flags(store, GRID).empty
    assert labels_frame(store, campaign=GRID).equals(votes), "raw votes stay"
    with annotator.page(browser, "ann") as page:
        page.goto(f"{annotator.url}/adjudicate")
        page.wait_for_timeout(2500)
        assert page.locator(".eds-pair").count() == 0
