"""What stands around a pair, and looking closely: by mouse alone, by keys alone, by touch alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from eds import tables
from eds.labels.calibration import plan_calibration
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.form import Form
from eds.labels.gold import add_gold
from tests.browser.annotator import Annotator, axe_faults, prepare, running, store_of
from tests.browser.judging import new_name, open_page, pairs_of, press, shown, stored, wait_painted, wait_saved, watch

ASKED = Form(question="Would a customer accept B for A?", query_name="Product A", candidate_name="Product B")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """A shop whose catalogue has titles and prices; a campaign in pairs, one in a grid."""
    project = prepare(tmp_path_factory.mktemp("layout") / "shop", campaigns=False)
    images = project.read("images")
    images["title"] = [f"Garment <{number}>" for number in range(len(images))]
    images["price"] = "39 €"
    images["model_note"] = "clip rank 3"
    project.write(images, "images", tables.Provenance("with titles"))
    ids = images["image_id"].tolist()
    pairs = [(ids[2 * query], ids[20 + (7 * query + place) % 40]) for query in range(4) for place in range(8)]
    frame = pd.DataFrame(pairs, columns=["query_id", "candidate_id"])
    with store_of(project) as store:
        create_campaign(store, Plan("pairs", form=ASKED), frame, ["ann", "bob"])
        create_campaign(store, Plan("grid", "grid", "different", repeat_share=0.2, form=ASKED), frame, ["ann", "bob"])
    with running(project) as found:
        yield found


def scale_of(box: Locator) -> float:
    """How much the picture of a box is magnified."""
    style = box.locator("img").first.evaluate("image => image.style.transform")
    found = re.search(r"scale\(([\d.]+)\)", style)
    return float(found[1]) if found else 1.0


def middle(box: Locator) -> tuple[float, float]:
    frame = box.bounding_box()
    assert frame is not None
    return frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2


def test_question_sides_product_and_place_are_always_visible(browser: Browser, shop: Annotator) -> None:
    asked: list[str] = []
    with shop.page(browser, "bob") as page:
        page.on("response", lambda answer: asked.append(answer.text()) if "/api/campaigns/" in answer.url else None)
        watch(page)
        open_page(page, shop, "pairs", "bob")
        for _ in range(2):
            expect(page.get_by_text("Would a customer accept B for A?")).to_be_visible()
            expect(page.locator(".query .name")).to_have_text("Product A")
            expect(page.locator(".candidate .name")).to_have_text("Product B")
            expect(page.locator(".candidate .lines")).to_contain_text(re.compile(r"Garment <\d+> · .* · 39 €"))
            expect(page.locator(".where")).to_contain_text(re.compile(r"Query 1 of 4 · pair \d of 8"))
            press(page, "j")
        page.locator(".query .other-picture").first.click()
        expect(page.locator(".query .further")).to_be_visible()
        page.keyboard.press("1")
        expect(page.locator(".query .further")).to_have_count(0)
        wait_saved(page)
        assert axe_faults(page) == []
    assert any("Garment" in text for text in asked)
    assert not any(word in text for text in asked for word in ("rank", "clip", "model", "pool", "origin", "wild"))


def test_left_key_is_left_button_and_the_strip_leads_back(browser: Browser, shop: Annotator) -> None:
    numbers = pairs_of(shop, "pairs", "ann")
    with shop.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, shop, "pairs", "ann")
        boxes = {action: middle(page.locator(f".main [data-action={action}]")) for action in ("different", "similar")}
        assert boxes["different"][0] < boxes["similar"][0]
        order = []
        for key in ("j", "k", "ArrowLeft", "ArrowRight", "ArrowDown", "j", "k"):
            order.append(shown(page)[0])
            press(page, key)
        current = shown(page)
        past = page.locator(".past")
        expect(past).to_have_count(6)
        assert past.evaluate_all("all => all.map(one => one.dataset.tone)") == [
            "similar",
            "different",
            "similar",
            "unsure",
            "different",
            "similar",
        ]
        past.nth(1).click()
        wait_painted(page, len(order) + 1)
        assert shown(page) == [order[2]]
        expect(page.locator(".before")).to_contain_text("You said: Not similar")
        hint = page.locator(".keep kbd")
        expect(hint).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.get_by_role("button", name="keep it")).to_be_visible()
        expect(hint).to_be_hidden()  # a phone has no keys
        page.set_viewport_size({"width": 1280, "height": 720})
        press(page, "k")
        assert shown(page) == current, "what was under way goes on"
        wait_saved(page)
        page.reload()
        wait_painted(page, 0)
        expect(page.locator(".past")).to_have_count(6)
        answers = [0, 1, 0, 1, None, 0, 1]
        assert typed.labels == [*zip(order, answers, strict=True), (order[2], 1)]
    assert stored(shop, "pairs", "ann", numbers) == typed.labels


def test_a_pair_is_zoomed_by_wheel_keys_and_double_click(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "bob") as page:
        typed = watch(page)
        open_page(page, shop, "pairs", "bob")
        query, candidate = page.locator(".query .box"), page.locator(".candidate .box")
        x, y = middle(candidate)
        page.mouse.move(x, y)
        page.mouse.wheel(0, -480)
        assert scale_of(query) == scale_of(candidate) > 1.5, "both together"
        before = candidate.locator("img").first.evaluate("image => image.style.transform")
        page.mouse.down()
        page.mouse.move(x - 60, y - 40, steps=4)
        page.mouse.up()
        assert candidate.locator("img").first.evaluate("image => image.style.transform") != before, "it is dragged"
        page.keyboard.down("Alt")
        page.mouse.wheel(0, -480)
        page.keyboard.up("Alt")
        assert scale_of(candidate) > scale_of(query), "Alt takes one alone"
        page.keyboard.press("0")
        assert scale_of(query) == scale_of(candidate) == 1
        page.mouse.dblclick(x, y)
        assert scale_of(query) == scale_of(candidate) == 2.5
        page.keyboard.press("0")
        page.keyboard.press("+")
        zoomed = query.locator("img").first.evaluate("image => image.style.transform")
        page.keyboard.press("Shift+ArrowRight")
        assert query.locator("img").first.evaluate("image => image.style.transform") != zoomed
        assert typed.labels == [], "no key of looking judges"
        press(page, "k")
        assert scale_of(query) == scale_of(candidate) == 1, "the next pair is whole"
        wait_saved(page)


def pinch(page: Page, box: Locator, spread: float) -> None:
    """Two fingers on a box, apart."""
    x, y = middle(box)
    session = page.context.new_cdp_session(page)
    for step in range(6):
        gap = 20 + spread * step / 5
        points = [{"x": x - gap, "y": y, "id": 0}, {"x": x + gap, "y": y, "id": 1}]
        session.send(
            "Input.dispatchTouchEvent", {"type": "touchStart" if step == 0 else "touchMove", "touchPoints": points}
        )
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_pair_is_zoomed_by_two_fingers(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "bob", **PHONE) as page:
        typed = watch(page)
        open_page(page, shop, "pairs", "bob")
        query, candidate = page.locator(".query .box"), page.locator(".candidate .box")
        pinch(page, query, 60)
        assert scale_of(query) == scale_of(candidate) > 2
        session = page.context.new_cdp_session(page)
        x, y = middle(candidate)
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x - 120, "y": y}]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(200)
        assert typed.labels == [], "a finger moves what is zoomed, it does not judge"
        assert axe_faults(page) == []


def test_a_candidate_of_a_grid_is_seen_large_by_mouse_key_and_finger(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, shop, "grid", "ann", "grid")
        peek, tile = page.locator(".peek"), page.locator(".tile").nth(2)
        x, y = middle(tile)
        page.mouse.move(x, y)
        page.mouse.down()
        expect(peek).to_be_visible()
        expect(peek.locator(".peek-number")).to_have_text("Candidate 3")
        page.mouse.up()
        expect(peek).to_be_hidden()
        assert tile.get_attribute("data-state") == "rest", "a long press is not a mark"
        page.mouse.move(5, 5)
        page.keyboard.press("ArrowRight")
        page.keyboard.down(" ")
        expect(peek.locator(".peek-number")).to_have_text("Candidate 4")
        page.mouse.move(*middle(peek.locator(".box")))
        page.mouse.wheel(0, -480)
        assert scale_of(page.locator(".query .box")) == scale_of(peek.locator(".box")) > 1.5
        page.keyboard.up(" ")
        expect(peek).to_be_hidden()
        page.keyboard.press("p")
        expect(peek).to_be_visible()
        page.keyboard.press("ArrowRight")
        page.keyboard.press(" ")
        expect(page.get_by_role("button", name="✓ Similar")).to_be_visible()
        assert axe_faults(page) == []
        page.keyboard.press("Escape")
        expect(peek).to_be_hidden()
        assert page.locator(".tile").nth(4).get_attribute("data-state") == "marked"
        assert typed.labels == []
    with shop.page(browser, "bob", **PHONE) as page:
        watch(page)
        open_page(page, shop, "grid", "bob", "grid")
        x, y = middle(page.locator(".tile").nth(1))
        session = page.context.new_cdp_session(page)
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        expect(page.locator(".peek")).to_be_visible()
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(page.locator(".peek")).to_be_hidden()
        assert page.locator(".tile").nth(1).get_attribute("data-state") == "rest"


def test_the_query_keeps_its_place_and_single_pairs_are_announced(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "bob") as page:
        watch(page)
        open_page(page, shop, "grid", "bob", "grid")
        seen = []
        while (kind := page.locator(".judging").get_attribute("data-state")) != "finished":
            if kind == "grid":
                seen.append(page.locator(".query .box").bounding_box())
                marked = page.locator(".tile").first
                marked.click()
                opacity = marked.locator("img").evaluate("image => getComputedStyle(image).opacity")
                assert opacity == "1", "a mark keeps the picture bright"
            else:
                expect(page.locator(".where")).to_contain_text(re.compile(r"Now one by one: \d of \d pairs"))
            if page.locator(".left").text_content() == "1 left of 38" or len(seen) == 4:
                break
            press(page, "Enter" if kind == "grid" else "j")
        assert len(seen) > 1
        assert all(box == seen[0] for box in seen)


def test_the_answer_of_practice_moves_no_picture(browser: Browser, shop: Annotator) -> None:
    images = shop.project.read("images")["image_id"].tolist()
    pairs = pd.DataFrame({"query_id": images[0], "candidate_id": images[30:36]})
    name = new_name("practised")
    create_campaign(shop.store, Plan(name), pairs, ["ann"])
    reason = "Another collar, longer sleeves and a print that this customer would not take instead of the plain one."
    add_gold(shop.store, pairs.assign(candidate_id=images[36:42], value=[0, 1] * 3, note=reason))
    plan_calibration(shop.store, name, 4)
    for options in ({"viewport": {"width": 1280, "height": 720}}, PHONE):
        with shop.page(browser, "ann", locale="de-DE", **options) as page:
            watch(page)
            open_page(page, shop, name, "ann", "practice")
            pictures = page.locator(".pair .box:visible")
            before = [pictures.nth(side).bounding_box() for side in (0, 1)]
            page.keyboard.press("u")
            expect(page.locator(".feedback")).to_be_visible()
            assert [pictures.nth(side).bounding_box() for side in (0, 1)] == before
            assert axe_faults(page) == []
            page.keyboard.press("Enter")
            expect(page.locator(".feedback")).to_be_hidden()


def test_the_pair_stays_in_sight_while_the_server_is_gone(browser: Browser, tmp_path: Path) -> None:
    project = prepare(tmp_path / "shop")
    with running(project) as found, found.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, found, "Dresses in pairs", "ann")
        page.wait_for_timeout(1500)
        found.stop()
        for _ in range(8):
            press(page, "k")
            page.wait_for_timeout(700)
        assert len(typed.labels) == 8
        assert page.evaluate(
            "[...document.querySelectorAll('[role=dialog]')].every(one => one.getClientRects().length === 0)"
        )
        expect(page.locator(".status")).to_contain_text("8 waiting, offline since")
        found.start()
        wait_saved(page, 20)
