"""The way from an invitation to the first judgement, counted, and what comes after it: a password, and the way back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator_ui.texts import ACCOUNTS
from annotator_ui.texts_judging import PAGE, SCREEN
from eds.labels.campaigns import Plan
from eds.labels.frames import labels_frame
from eds.labels.guidelines import Example, save_guideline
from tests.browser.annotator import PASSWORD, Annotator, add_campaign, axe_faults, prepare, running
from tests.browser.judging import PACE, press, wait_painted, wait_saved, watch

REASON = "The same cut and length."
COUNTED = """
const count = (what) => sessionStorage.setItem(what, Number(sessionStorage.getItem(what) ?? 0) + 1);
if (window === top) count("screens");
for (const [event, what] of [["pointerdown", "clicks"], ["keydown", "keys"]])
  addEventListener(event, () => count(what), { capture: true });
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Annotator]:
    """A server over a project with one campaign, whose guideline has examples."""
    project = prepare(tmp_path / "shop", campaigns=False)
    with running(project) as found:
        images = project.read("images")
        ids = images["image_id"].tolist()
        examples = [Example(ids[0], ids[1], "positive", REASON), Example(ids[2], ids[9], "negative", "Another collar.")]
        save_guideline(found.store, "1", "# What counts\n\n- The same cut.\n- Never the colour.", examples, by="lea")
        add_campaign(found.store, images, Plan("Dresses", guideline="1"), queries=2, each=8)
        yield found


def counted(page: Page) -> dict[str, int]:
    """How many documents were opened, and how often a pointer or a key was pressed."""
    asked = "one => Number(sessionStorage.getItem(one) ?? 0)"
    return {what: int(page.evaluate(asked, what)) for what in ("screens", "clicks", "keys")}


def test_two_screens_one_click_and_one_key_to_the_first_judgement(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, viewport={"width": 1440, "height": 900}) as page:
        page.add_init_script(COUNTED)
        typed = watch(page)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(shop.invitation("ann"))
        expect(page.get_by_role("heading", name=PAGE["questions"]["pair"])).to_be_visible()
        expect(page.get_by_text("Never the colour.")).to_be_visible()
        assert axe_faults(page) == []
        page.get_by_role("button", name=ACCOUNTS.begin).click()
        wait_painted(page, 0)
        expect(page.locator(".dock .reason").first).to_have_text(REASON)
        assert [url for url in asked if "/static/media/" in url] == []  # fonts, which this page does not show
        late = [number for number, url in enumerate(asked) if "/judging/" in url or "BidiComponent" in url]
        assert max(late) < min(number for number, url in enumerate(asked) if "_stcore/health" in url)
        assert len({asked[number] for number in late}) == len(late)  # once each
        press(page, "k")
        wait_saved(page)
        assert counted(page) == {"screens": 2, "clicks": 1, "keys": 1}
        assert labels_frame(shop.store)["value"].tolist() == [1]
        assert len(typed.labels) == 1

        for _ in range(9):  # a password is asked for once the work has begun
            press(page, "j")
        page.get_by_role("link", name=PAGE["choosePassword"]).click()
        page.get_by_label(ACCOUNTS.new_password).fill(PASSWORD)
        page.get_by_label(ACCOUNTS.again).fill(PASSWORD)
        page.get_by_role("button", name=ACCOUNTS.choose, exact=True).click()
        page.wait_for_url(re.compile(r"/pair\?campaign="))
        wait_painted(page, 0)
        expect(page.locator(".left")).to_have_text("6 left of 16")
    with shop.page(browser) as page:  # on another day
        watch(page)
        page.goto(shop.url)
        page.get_by_label(ACCOUNTS.name).fill("ann")
        page.get_by_label(ACCOUNTS.password).fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/pair\?campaign="))  # one campaign: no first page between
        wait_painted(page, 0)
        page.locator("a.back").click()
        expect(page.get_by_role("link", name=SCREEN["home"]).or_(page.get_by_text("Dresses")).first).to_be_visible()
        assert page.url.rstrip("/") == shop.url


def test_a_phone_shows_the_examples_before_the_first_pair(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        watch(page)
        page.goto(shop.invitation("bob"))
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.get_by_role("button", name=ACCOUNTS.begin).tap()
        expect(page.locator(".first .reason").first).to_have_text(REASON)
        assert axe_faults(page) == []
        page.wait_for_timeout(PACE)
        page.get_by_role("button", name=ACCOUNTS.begin).tap()
        wait_painted(page, 0)
        page.locator("[data-action=different]").first.tap()
        wait_saved(page)
        assert labels_frame(shop.store)["value"].tolist() == [0]
