"""The pair view for everybody: screen readers, contrast, the keyboard alone, fingers, a phone."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.annotator import Annotator, axe_faults
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
    """A campaign with 12 pairs."""
    return make_campaign(annotator, new_name("Twelve pairs"), 12)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_for_everybody(browser: Browser, annotator: Annotator, campaign: str, scheme: str) -> None:
    with annotator.page(browser, "ann", color_scheme=scheme) as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        assert axe_faults(page) == []
        style = (
            "element => { const found = getComputedStyle(element);"
            " return [found.color, found.backgroundColor, found.borderColor, found.fontWeight, element.offsetWidth]; }"
        )
        similar, different = (page.locator(f".answers [data-action={name}]") for name in ("similar", "different"))
        assert similar.evaluate(style) == different.evaluate(style)
        assert similar.evaluate("element => element.offsetWidth") == different.evaluate(
            "element => element.offsetWidth"
        )
        assert (
            page.locator(".candidate .box").evaluate("box => getComputedStyle(box).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert [image.get_attribute("alt") for image in page.locator(".box img").all()] == ["Reference", "Candidate"]
        names = annotator.project.read("images")["image_id"]
        text = page.content() + "".join(page.locator(".judging").evaluate("root => root.outerHTML"))
        assert not [name for name in names if name in text], "opaque names only"
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert axe_faults(page) == []


def test_by_keyboard_alone_and_by_touch(browser: Browser, annotator: Annotator, campaign: str) -> None:
    numbers = pairs_of(annotator, campaign, "ann")
    expected: list[tuple[int, int | None]] = []
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        for name in ("different", "similar"):
            expected.append((shown(page)[0], int(name == "similar")))
            page.locator(f".answers [data-action={name}]").focus()
            press(page, "Enter" if name == "similar" else " ")
        wait_saved(page)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    with annotator.page(browser, "ann", **phone) as page:
        watch(page)
        open_page(page, annotator, campaign, "ann")
        fits_on_a_phone(page)
        assert axe_faults(page) == []
        for name in ("similar", "different"):
            expected.append((shown(page)[0], int(name == "similar")))
            swipe(page, right=name == "similar")
        expected.append((shown(page)[0], None))
        before = paintings(page)
        page.wait_for_timeout(1000)  # right after a stroke Chromium takes no tap
        page.locator(".answers [data-action=unsure]").tap()
        wait_painted(page, before)
        wait_saved(page)
    assert stored(annotator, campaign, "ann", numbers) == expected


def fits_on_a_phone(page: Page) -> None:
    """Everything that is needed is on screen, nothing scrolls, both pictures are large."""
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    for name in ("similar", "different", "unsure", "undo", "flag"):
        box = page.locator(f".answers [data-action={name}]").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 844
        assert box["height"] >= 40
    for role in ("query", "candidate"):
        assert page.locator(f".{role} .box").evaluate("box => box.offsetHeight") > 250


def swipe(page: Page, *, right: bool) -> None:
    """A finger's stroke across the pictures."""
    before = paintings(page)
    start, end = (100, 300) if right else (300, 100)
    client = page.context.new_cdp_session(page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": start, "y": 300}]})
    for step in range(1, 6):
        x = start + (end - start) * step / 5
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": 302}]})
        page.wait_for_timeout(16)
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait_painted(page, before)
