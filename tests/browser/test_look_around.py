"""Look around in a real browser: search by picture, a lasso that becomes a campaign, and near duplicates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_looking import DUPLICATES, MAP, SEARCH
from eds.labels.lead_queries import campaigns_of_experts
from eds.project.catalogue import ScanOptions
from eds.project.near_duplicates import NEAR
from tests.browser.annotator import Annotator, axe_faults, foreign_requests, prepare, running
from tests.browser.test_lead_pages import settle, visit

LOOKS = ((1280, 900, "light"), (390, 844, "dark"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """A server over drawn images, one of them saved twice, with vectors, lists and a pool."""
    project = prepare(tmp_path_factory.mktemp("looking") / "shop", campaigns=False)
    first = min(project.image_root.rglob("*.jpg"))
    first.with_name("again.jpg").write_bytes(first.read_bytes() + b"\0")
    project.scan(replace=True, options=ScanOptions(near=0))
    project.embed(["hsv=descriptor:hsv", "lbp=descriptor:lbp"])
    project.mine(k=10)
    project.pool(k=1)
    with running(project, "--no-prepare") as found:
        for name in ("ann", "bob"):
            found.invitation(name)
        yield found


def _look(page: Page, shop: Annotator, query: str = "") -> None:
    visit(page, f"{shop.url}/look-around?{query}")


def test_a_picture_of_ones_own_finds_its_like(browser: Browser, shop: Annotator, tmp_path: Path) -> None:
    image = shop.project.read("images").iloc[20]
    file = Path(str(shop.project.pictures)) / str(image["path"])
    with Image.open(file) as picture:  # above the limit of every other request
        picture.convert("RGB").resize((1500, 1500)).save(tmp_path / "mine.bmp")
    assert (tmp_path / "mine.bmp").stat().st_size > 2**22
    (tmp_path / "no.jpg").write_bytes(b"\xff\xd8 no picture")
    with shop.page(browser, "lea") as page:
        foreign = foreign_requests(page, shop.url)
        _look(page, shop)
        page.get_by_text(SEARCH.ways["upload"]).click()
        settle(page)
        page.locator("input[type=file]").set_input_files(tmp_path / "no.jpg")
        expect(page.get_by_text(SEARCH.unreadable)).to_be_visible()
        page.locator("input[type=file]").set_input_files(tmp_path / "mine.bmp")
        expect(page.get_by_role("heading", name="hsv")).to_be_visible(timeout=60_000)
        settle(page)
        found = page.locator(".eds-strip").first.locator(".eds-found a:first-child").first
        expect(found).to_have_attribute("aria-label", str(image["image_id"]))
        query = page.locator(".eds-query img")
        expect(query).to_have_js_property("complete", True)
        assert query.evaluate("one => one.naturalWidth") == 1500
        assert foreign == []

        wanted = shop.project.search(str(image["image_id"]), k=8).table
        found.click()
        expect(page.get_by_role("heading", name="hsv")).to_be_visible(timeout=60_000)
        settle(page)
        for place, (name, rows) in enumerate(wanted.groupby("model")):
            strip = page.locator(".eds-strip").nth(place)
            assert name in ("hsv", "lbp")
            shown = [one.get_attribute("aria-label") for one in strip.locator(".eds-found a:first-child").all()]
            assert shown == rows["candidate_id"].tolist()


def test_words_need_a_model_that_reads_them(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "lea") as page:
        _look(page, shop, "by=text")
        page.get_by_label(SEARCH.text).fill("a red dress")
        page.get_by_role("button", name=SEARCH.go).click()
        expect(page.get_by_text("takes no text").first).to_be_visible(timeout=60_000)


def test_a_lasso_becomes_a_campaign(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "lea", viewport={"width": 1280, "height": 1000}) as page:
        foreign = foreign_requests(page, shop.url)
        _look(page, shop, "view=map")
        count = len(shop.project.read("images"))
        expect(page.locator(".map")).to_have_attribute("data-drawn", str(count))
        canvas = page.locator(".map .over")
        box = canvas.bounding_box()
        assert box is not None
        page.locator(".map [data-act=lasso]").click()

        def draw(corners: list[tuple[float, float]]) -> None:
            places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
            page.mouse.move(*places[0])
            page.mouse.down()
            for place in places[1:]:
                page.mouse.move(*place, steps=4)
            page.mouse.up()
            settle(page)

        draw([(0.001, 0.001), (0.02, 0.001), (0.02, 0.02)])  # nothing is there
        expect(page.get_by_text("no image in this region")).to_be_visible()
        draw([(0.01, 0.01), (0.99, 0.01), (0.99, 0.99), (0.01, 0.99)])
        expect(page.get_by_text(MAP.chosen.format(n=count))).to_be_visible()
        plan = shop.project.add_image_pairs(shop.project.read("images")["image_id"].tolist(), dry_run=True)
        expect(page.get_by_text(plan.price.cost)).to_be_visible()
        page.get_by_text(MAP.campaign).click()
        page.get_by_label(MAP.campaign_name).fill("From the map")
        page.get_by_label(MAP.campaign_name).press("Tab")
        settle(page)
        page.get_by_role("button", name=MAP.create.format(n=len(plan.pairs))).click()
        expect(page.get_by_text("From the map is created")).to_be_visible(timeout=60_000)
        made = campaigns_of_experts(shop.store).set_index("name").loc["From the map"]
        assert (made["experts"], made["items"]) == (2, len(plan.pairs))
        assert foreign == []


def test_a_near_duplicate_is_dropped_and_returns(browser: Browser, shop: Annotator) -> None:
    before = shop.project.read("images")
    pairs = shop.project.near_duplicates().table[["left_id", "right_id"]].to_numpy().tolist()
    place, pair = next((place, pair) for place, pair in enumerate(pairs[:8]) if any("again" in name for name in pair))
    side = "left" if "again" in pair[0] else "right"
    with shop.page(browser, "lea", viewport={"width": 1280, "height": 1000}) as page:
        _look(page, shop, "view=duplicates")
        page.get_by_label(DUPLICATES.decision.format(number=place + 1)).click()
        page.get_by_role("option", name=DUPLICATES.decisions[f"drop-{side}"]).click()
        settle(page)
        expect(page.get_by_text(DUPLICATES.preview.format(dropped=1, merged=0))).to_be_visible()
        page.get_by_role("button", name=DUPLICATES.apply.format(n=1)).click()
        expect(page.get_by_text(DUPLICATES.recorded.format(n=1))).to_be_visible()
    now = shop.project.read("images")
    assert set(before["image_id"]) - set(now["image_id"]) == {next(one for one in before["image_id"] if "again" in one)}
    shop.project.undo()
    assert shop.project.read("images").equals(before)


def test_a_catalogue_that_no_scan_has_read_is_searched_from_the_page(browser: Browser, shop: Annotator) -> None:
    file = shop.project.root / NEAR
    before = file.read_bytes()
    file.unlink()
    with shop.page(browser, "lea") as page:
        _look(page, shop, "view=duplicates")
        page.get_by_role("button", name=DUPLICATES.search).click()
        expect(page.get_by_text(DUPLICATES.about)).to_be_visible(timeout=120_000)
    assert file.read_bytes().count(b"\n") >= before.count(b"\n") > 1
    file.write_bytes(before)  # as the scan of the fixture found them


def test_an_expert_is_refused(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "ann") as page:
        page.goto(f"{shop.url}/look-around")
        expect(page.get_by_text(COMMON.refused_title)).to_be_visible()
        for path in ("points?model=hsv", "upload/token"):
            assert page.request.get(f"{shop.url}/looking/{path}").status == 403
        sent = page.request.post(f"{shop.url}/looking/upload", data=b"x", headers={"x-eds": "1"})
        assert sent.status == 403


@pytest.mark.parametrize(("width", "height", "scheme"), LOOKS)
def test_every_view_reads_well(browser: Browser, shop: Annotator, width: int, height: int, scheme: str) -> None:
    image = str(shop.project.read("images")["image_id"].iloc[0])
    views = ("", f"image={image}", "by=upload", "by=text", "view=map", "view=duplicates", f"view=pair&query={image}")
    options: dict[str, Any] = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    with shop.page(browser, "lea", **options) as page:
        for view in views:
            _look(page, shop, view)
            assert axe_faults(page) == [], view
            assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth"), view
