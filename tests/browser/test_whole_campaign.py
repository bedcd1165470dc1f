"""A lead's whole campaign in the browser, without a shell: from pictures to labels, report and export."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator_ui.texts import ACCOUNTS, HOME
from annotator_ui.texts_campaign import CONCLUDE, HEAD
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_judging import ADJUDICATE, STATES
from annotator_ui.texts_leads import CATALOGUE, EXPORT
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.project import Project
from eds.synthetic.catalogue import draw_catalogue
from tests.browser.annotator import Annotator, running, store_of
from tests.browser.judging import PACE, paintings, wait_saved, watch
from tests.browser.test_lead_pages import settle

MODEL, NAME = "descriptor:hsv", "Autumn"
LONG = 90_000  # ms that a job may take on a machine under load


@pytest.fixture
def empty_shop(tmp_path: Path) -> Iterator[Annotator]:
    """A server over a project in which there is nothing but a lead's account; beside it a folder of pictures."""
    draw_catalogue(tmp_path / "photos", products=10, views=2, wild=0, size=96, workers=1)
    project = Project.create(tmp_path / "shop", {"project.name": "Shop"})
    with store_of(project) as store:
        add_expert(store, "lea", "lead")
    with running(project) as found:
        yield found


def judge_all(page: Page, link: str, keys: str) -> int:
    """Follow an invitation and answer everything with these keys in turn; how many answers that were."""
    typed = watch(page)
    page.goto(link)
    page.get_by_role("button", name=ACCOUNTS.begin).click()
    finished = page.locator("[data-state=finished]").first
    for number in range(200):
        page.wait_for_function(
            "before => window.paintings > before || document.querySelector('[data-testid=stBidiComponentIsolated]')"
            "?.shadowRoot.querySelector('[data-state=finished]')",
            arg=number,
            polling=20,
        )
        if finished.is_visible():
            break
        page.wait_for_timeout(PACE)
        page.keyboard.press(keys[number % len(keys)])
    expect(page.get_by_role("heading", name=STATES["finishedTitle"])).to_be_visible()
    wait_saved(page)
    return len(typed.labels)


def test_from_a_folder_of_pictures_to_the_export(browser: Browser, empty_shop: Annotator, tmp_path: Path) -> None:
    shop = empty_shop
    with shop.page(browser, viewport={"width": 1440, "height": 1000}) as page:
        page.goto(shop.invitation("lea"))
        page.get_by_role("button", name=ACCOUNTS.begin).click()
        page.get_by_role("button", name=HOME.catalogue).click()

        settle(page)  # pictures
        page.locator("input[type=file]").set_input_files(tmp_path / "photos")
        expect(page.get_by_text(CATALOGUE.ready.format(n=20))).to_be_visible(timeout=LONG)
        settle(page)
        page.get_by_role("button", name=CATALOGUE.start_import, exact=True).click()
        expect(page.get_by_text(CATALOGUE.done["catalogue-import"])).to_be_visible(timeout=LONG)
        sent = {row["path"]: row["category"] for _, row in shop.project.read("images").iterrows()}
        photos = tmp_path / "photos"
        assert {path.removeprefix("catalogue/") for path in sent} == {
            file.relative_to(photos / "catalogue").as_posix() for file in photos.rglob("*.jpg")
        }

        models = page.get_by_label(CATALOGUE.choose, exact=True)  # the pool
        models.fill(MODEL)
        models.press("Enter")
        settle(page)
        depth = page.get_by_label(CATALOGUE.depth, exact=True)
        depth.fill("2")
        depth.press("Tab")
        settle(page)
        page.get_by_role("button", name=CATALOGUE.start_pool).click()
        expect(page.get_by_text(CATALOGUE.done["catalogue-pool"])).to_be_visible(timeout=LONG)

        page.get_by_role("link", name=CAMPAIGNS.new_title).first.click()  # a campaign, and two invitations
        settle(page)
        page.get_by_label(CAMPAIGNS.name, exact=True).fill(NAME)
        page.get_by_label(CAMPAIGNS.limit, exact=True).fill("8")
        page.get_by_label(CAMPAIGNS.limit, exact=True).press("Tab")
        settle(page)
        for person in ("ann", "bob"):
            panel = page.get_by_label(CAMPAIGNS.panel, exact=True)
            panel.fill(person)
            panel.press("Enter")
            settle(page)
        page.keyboard.press("Escape")
        page.get_by_role("button", name=CAMPAIGNS.make).click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_test_id("stCode")).to_have_count(2, timeout=LONG)
        links = [text.strip() for text in dialog.get_by_test_id("stCode").all_inner_texts()]
        address = page.url
        assert f"campaign={NAME}" in address

        counts = []
        for link, keys in zip(links, ("kkj", "kjj"), strict=True):  # two experts, who differ on every third pair
            with shop.page(browser) as other:
                counts.append(judge_all(other, link, keys))
        assert counts[0] == counts[1] >= 8
        asked = shop.project.campaigns.disputes(NAME).disputed
        assert len(asked) > 0

        watch(page)  # the lead decides where they differ
        page.goto(address)
        settle(page)
        page.get_by_role("button", name=HEAD.adjudicate).click()
        page.wait_for_url(re.compile("/adjudicate"))
        for number in range(len(asked)):
            page.wait_for_function("before => window.paintings > before", arg=number, polling=20)
            page.wait_for_timeout(PACE)
            page.keyboard.press("k")
        expect(page.get_by_role("heading", name=ADJUDICATE["noneTitle"])).to_be_visible()
        wait_saved(page)
        assert paintings(page) == len(asked)

        page.goto(address)  # labels and report
        settle(page)
        page.get_by_role("button", name=CONCLUDE.start).first.click()
        page.get_by_role("dialog").get_by_role("button", name=CONCLUDE.start).click()
        expect(page.get_by_text("The report is written.")).to_be_visible(timeout=LONG)
        truth = shop.project.read("truth")
        decided = truth.merge(asked[["query_id", "candidate_id"]])
        assert set(decided["value"]) == {1}
        assert set(decided["rule"]) == {"adjudication"}
        page.get_by_role("link", name=CONCLUDE.open_report).click()
        expect(page.frame_locator("iframe").get_by_role("heading").first).to_be_visible()

        page.goto(address)  # the export
        settle(page)
        page.get_by_role("button", name=HEAD.export).click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name=EXPORT.download.format(file="CSV")).click()
        downloading.value.save_as(tmp_path / "votes.csv")
        with (tmp_path / "votes.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == sum(counts) == len(labels_frame(shop.store, campaign=NAME))
