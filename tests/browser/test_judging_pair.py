"""The pair view in a real Chromium: after each test the database holds exactly what was typed."""

import pytest
from playwright.sync_api import Browser, Route, expect

from eds.labels.campaigns import Plan
from eds.labels.flags import open_flags
from eds.labels.frames import labels_frame
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch
from tests.browser.annotator import Annotator, add_campaign, axe_faults, foreign_requests
from tests.browser.judging import (
    make_campaign,
    new_name,
    open_page,
    paintings,
    pairs_of,
    press,
    shown,
    stored,
    wait_painted,
    wait_saved,
    watch,
)


@pytest.fixture
def campaign(annotator: Annotator) -> str:
    """A campaign of ann's own with 30 pairs of 3 queries."""
    return make_campaign(annotator, new_name("Thirty <b>pairs</b>"), 30)


def test_a_hundred_pairs_by_key(browser: Browser, annotator: Annotator) -> None:
    name = new_name("A hundred")
    add_campaign(annotator.store, annotator.project.read("images"), Plan(name, guideline="1"))
    numbers = pairs_of(annotator, name, "ann")
    keys = [("s", "d", "u", "ArrowRight", "ArrowLeft")[i * i % 5] for i in range(100)]
    values = {"s": 1, "d": 0, "u": None, "ArrowRight": 1, "ArrowLeft": 0}
    with annotator.page(browser, "ann") as page:
        foreign = foreign_requests(page, annotator.url)
        typed = watch(page)
        open_page(page, annotator, name, "ann")
        expected = []
        for key in keys:
            expected.append((shown(page)[0], values[key]))
            press(page, key)
        wait_saved(page)
        assert typed.labels == expected
        assert stored(annotator, name, "ann", numbers) == expected
        assert len({number for number, _ in expected}) == 100
        judged = sum(value is not None for _, value in expected)
        expect(page.locator(".left")).to_have_text(f"{150 - judged} left of 150")
        assert not foreign
    mine = labels_frame(annotator.store, campaign=name)
    assert mine["seconds"].between(0.1, 10).all()
    assert set(mine["guideline"]) == {"1"}


def test_when_all_is_done_nothing_is_left_whatever_an_earlier_answer_counted(
    browser: Browser, annotator: Annotator
) -> None:
    name = make_campaign(annotator, new_name("Three"), 3)

    def one_more(route: Route) -> None:  # as if it had been counted before the last judgement was stored
        answer = route.fetch()
        told = answer.json()
        route.fulfill(response=answer, json={**told, "left": told["left"] + 1})

    with annotator.page(browser, "ann") as page:
        watch(page)
        page.route("**/next?*", one_more)
        open_page(page, annotator, name, "ann")
        press(page, "s")
        press(page, "d")
        page.keyboard.press("s")
        expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        expect(page.locator(".left")).to_have_text("0 left of 3")


def test_undo_goes_back_without_limit_also_after_a_reload(
    browser: Browser, annotator: Annotator, campaign: str
) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "ann")
        order = []
        for key in "sdsds":
            order.append(shown(page)[0])
            press(page, key)
        sixth = shown(page)[0]
        for back in range(5):
            press(page, "z" if back % 2 else "Backspace")
            assert shown(page)[0] == order[4 - back]
        page.keyboard.press("z")
        page.wait_for_timeout(300)
        assert shown(page)[0] == order[0], "there is nothing before"
        expect(page.locator(".before")).to_contain_text("You said: Similar")
        press(page, "d")  # revised
        press(page, "Enter")  # kept
        press(page, "s")  # said again
        wait_saved(page)
        page.reload()
        wait_painted(page, 0)
        assert shown(page)[0] == sixth, "what was judged is not asked again"
        press(page, "z")
        assert shown(page)[0] == order[2], "the last act before the reload"
        press(page, "u")
        wait_saved(page)
        expected = [*zip(order, [1, 0, 1, 0, 1], strict=True), (order[0], 0), (order[2], 1), (order[2], None)]
        assert typed.labels == expected
    assert stored(annotator, campaign, "ann", numbers) == expected


def test_double_presses_and_held_keys_count_once(browser: Browser, annotator: Annotator, campaign: str) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "ann")
        first = shown(page)[0]
        before = paintings(page)
        page.keyboard.press("s")
        page.keyboard.press("s")
        page.keyboard.press("d")
        wait_painted(page, before)
        second = shown(page)[0]
        page.keyboard.down("d")
        for _ in range(25):
            page.wait_for_timeout(30)
            page.keyboard.down("d")  # repeats, as a held key does
        page.keyboard.up("d")
        wait_saved(page)
        assert typed.labels == [(first, 1), (second, 0)]
    assert stored(annotator, campaign, "ann", numbers) == [(first, 1), (second, 0)]


def test_ten_keys_a_second_lose_and_double_nothing(browser: Browser, annotator: Annotator, campaign: str) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "ann")
        for turn in range(40):
            page.keyboard.press("sd"[turn % 2])
            page.wait_for_timeout(95)
        wait_saved(page)
        assert 10 <= len(typed.labels) <= 40
        assert len({number for number, _ in typed.labels}) == len(typed.labels)
        assert stored(annotator, campaign, "ann", numbers) == typed.labels


def test_the_loupe_shows_the_same_place_of_both(browser: Browser, annotator: Annotator, campaign: str) -> None:
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        box = page.locator(".query .box").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6)
        page.keyboard.down("l")
        transforms = [
            page.locator(f".{role} .box img").evaluate("image => image.style.transform")
            for role in ("query", "candidate")
        ]
        assert all("scale(2.6)" in transform for transform in transforms)
        assert transforms[0] == transforms[1]  # boxes and pictures are of one size here
        page.keyboard.up("l")
        assert page.locator(".query .box img").evaluate("image => image.style.transform") == ""
        page.keyboard.down("b")
        expect(page.locator(".pair")).to_have_class("pair flicker swapped")
        expect(page.locator(".query")).to_be_visible()
        expect(page.locator(".candidate")).to_be_hidden()
        page.keyboard.up("b")
        expect(page.locator(".candidate")).to_be_visible()


def test_unsure_and_flagged_come_back_once_at_the_end_then_it_is_finished(
    browser: Browser, annotator: Annotator
) -> None:
    name = make_campaign(annotator, new_name("Six"), 6)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann")
        unsure = shown(page)[0]
        press(page, "u")
        flagged = shown(page)[0]
        page.keyboard.press("f")
        dialog = page.get_by_role("dialog", name="Flag this pair")
        expect(dialog).to_be_visible()
        page.keyboard.type("sdu <script>alert(1)</script>")  # letters of other keys judge nothing here
        before = paintings(page)
        page.keyboard.press("Enter")
        wait_painted(page, before)
        for _ in range(4):
            press(page, "s")
        assert shown(page)[0] == unsure
        expect(page.locator(".before")).to_contain_text("Shown again")
        press(page, "u")
        assert shown(page)[0] == flagged
        page.keyboard.press("d")
        expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        wait_saved(page)
        assert axe_faults(page) == []
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".before")).to_contain_text("You said: Not similar")
        assert [value for _, value in typed.labels] == [None, 1, 1, 1, 1, None, 0]
    assert stored(annotator, name, "ann", numbers) == typed.labels
    assert next_batch(annotator.store, name, "ann") == []
    flags = open_flags(annotator.store, name)
    assert flags["reason"].tolist() == ["sdu <script>alert(1)</script>"]


def test_nothing_is_judged_below_a_dialog(browser: Browser, annotator: Annotator, campaign: str) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        page.evaluate("document.body.append(Object.assign(document.createElement('dialog'), {id: 'other'}))")
        page.evaluate(
            "() => { const it = document.getElementById('other'); it.setAttribute('role', 'dialog'); it.show(); }"
        )
        page.keyboard.press("s")
        page.evaluate("document.getElementById('other').remove()")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("d")
        page.wait_for_timeout(500)
    assert stored(annotator, campaign, "ann", numbers) == []


def test_other_keys_for_the_hand_that_wants_them(browser: Browser, annotator: Annotator, campaign: str) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        page.keyboard.press("?")
        page.locator(".keys [data-action=similar]").click()
        page.keyboard.press("j")
        expect(page.locator(".told")).to_have_text("This key is already used or not allowed.")
        page.locator(".keys [data-action=similar]").click()
        page.keyboard.press("y")
        expect(page.locator(".keys [data-action=similar] kbd").first).to_have_text("Y")
        page.keyboard.press("Escape")
        expect(page.locator(".answers [data-action=similar] kbd").first).to_have_text("Y")
        page.reload()
        wait_painted(page, 0)
        first = shown(page)[0]
        page.keyboard.press("k")
        press(page, "y")
        wait_saved(page)
    assert stored(annotator, campaign, "ann", numbers) == [(first, 1)]


def test_the_guideline_is_one_key_away_and_its_version_is_stored(browser: Browser, annotator: Annotator) -> None:
    name = new_name("Guided")
    images = annotator.project.read("images")["image_id"].tolist()
    text = "# Cut <script>window.hacked = 1</script>\n\nAsk for the **cut**.\n\n- sleeves"
    wild = [image for image in images if image.startswith("wild")]
    examples = [
        Example(images[0], images[1], "positive", "<img src=x onerror=hacked=1>"),
        Example(images[2], wild[0], "negative", "Another sleeve."),
    ]
    save_guideline(annotator.store, name, text, examples)
    make_campaign(annotator, name, 4, guideline=name)
    with annotator.page(browser, "ann") as page:
        watch(page)
        page.goto(f"{annotator.url}/pair?campaign={expert_progress(annotator.store, name, 'ann').handle}")
        first = page.locator(".first")
        expect(first.get_by_role("heading", name="Are these two similar?")).to_be_visible()
        expect(first.get_by_text("Another sleeve.")).to_be_visible()
        page.wait_for_timeout(500)
        assert axe_faults(page) == []
        page.keyboard.press("k")  # no pair is shown yet
        page.keyboard.press("Enter")
        wait_painted(page, 0)
        page.keyboard.press("g")
        dock = page.get_by_role("complementary", name="Guideline")
        expect(dock.get_by_role("heading", name="Cut <script>window.hacked = 1</script>")).to_be_visible()
        expect(dock.get_by_text("<img src=x onerror=hacked=1>")).to_be_visible()
        expect(page.locator(".candidate .box")).to_be_visible()
        shown_all = "images => images.every(image => image.complete && image.naturalWidth > 0)"
        page.wait_for_timeout(500)
        assert dock.locator("img").evaluate_all(shown_all)
        assert page.evaluate("window.hacked") is None
        assert axe_faults(page) == []
        press(page, "s")  # beside the guideline one goes on
        wait_saved(page)
        page.keyboard.press("g")
        expect(dock).to_be_hidden()
        save_guideline(annotator.store, f"{name}, second", "# Cut\n\nOther words", examples[:1])
        put_in_force(annotator.store, name, f"{name}, second")
        press(page, "u")  # still under the first, which the page shows; it comes back, and so does the news
        expect(page.locator(".note")).to_contain_text("The guideline has changed")
        wait_saved(page)
        page.get_by_role("button", name="Reload").click()
        wait_painted(page, 0)
        expect(dock.get_by_text("what is new is marked")).to_be_visible()
        expect(dock.locator(".fresh").last).to_contain_text("Other words")
        expect(dock.locator(".gone del").last).to_have_text("sleeves")
        press(page, "s")
        wait_saved(page)
    used = labels_frame(annotator.store, campaign=name)["guideline"].tolist()
    assert used == [name, name, f"{name}, second"]
