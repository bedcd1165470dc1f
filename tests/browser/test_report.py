"""The report in a browser: opened from a file with the network off, in both themes, at three widths, and on paper."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from eds.reports import build, write_report
from tests.reports.example import example_inputs
from tests.reports.variants import VARIANTS

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
EVIL = "<script>document.title='taken'</script>"
WIDTHS = (390, 768, 1440)
PAPER = 688  # pixels of A4 between its margins
# Elements wider than the page, and tables that are clipped.
OUTSIDE = """() => [...document.querySelectorAll('body *')].filter(one =>
  one.getBoundingClientRect().right > innerWidth + 1
  || (one.matches('.scroll') && one.scrollWidth > one.clientWidth + 1)
).map(one => one.outerHTML.slice(0, 120))"""
Theme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    whole = example_inputs(category=EVIL, slices=("category", "colour"))
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(build(whole, {"when": "2026-01-01 12:00 UTC", "eds": "0"}), path)[0]


@pytest.fixture
def opened(browser: Browser, report_file: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page, offline; a request that is not for the file itself, an error or a complaint fails the test."""
    param: tuple[int, Theme] = getattr(request, "param", (1440, "light"))
    width, theme = param
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, offline=True)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.on("console", lambda one: said.append(one.text))
    page.on("pageerror", lambda one: said.append(str(one)))
    page.goto(report_file.as_uri())
    page.wait_for_load_state("networkidle")
    yield page
    assert [url for url in asked if url.partition("#")[0] != report_file.as_uri() and not url.startswith("data:")] == []
    assert said == []
    context.close()


@pytest.mark.parametrize("opened", [(width, theme) for width in WIDTHS for theme in ("light", "dark")], indirect=True)
def test_it_fits_every_width_in_both_themes_and_axe_finds_nothing_serious(opened: Page) -> None:
    assert opened.title() == "Shop"
    opened.click("#all")
    assert opened.evaluate("[...document.querySelectorAll('svg.chart')].every(one => one.clientWidth > 200)")
    assert opened.evaluate(OUTSIDE) == []
    opened.evaluate(AXE.read_text(encoding="utf-8"))
    found = opened.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("opened", [(1440, "light"), (390, "light")], indirect=True)
def test_the_first_screen_holds_the_answer_and_the_rest_is_folded(opened: Page) -> None:
    assert opened.locator("details[open]").count() == 0
    above = "selector => document.querySelector(selector).getBoundingClientRect().bottom <= innerHeight"
    assert opened.evaluate(above, ".first > .answer")
    assert opened.evaluate(above, ".tiles")
    if opened.viewport_size == {"width": 1440, "height": 900}:
        assert opened.evaluate(above, "#summary-forest-figure")
        assert opened.evaluate(above, ".steps")


def test_the_theme_switches_and_stays(opened: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(paper)
    opened.click("#theme")
    dark = opened.evaluate(paper)
    assert dark != light
    opened.reload()
    assert opened.evaluate(paper) == dark
    opened.click("#theme")
    assert opened.evaluate(paper) == light


def test_a_link_into_a_section_opens_it(opened: Page) -> None:
    opened.evaluate("location.hash = '#pool-rates'")
    opened.wait_for_function(
        "() => { const one = document.getElementById('pool-rates').getBoundingClientRect();"
        " return one.height > 0 && one.top < innerHeight && one.bottom > 0; }"
    )
    assert opened.locator("details[open]").count() == 1


def test_a_column_sorts_by_value_both_ways(opened: Page) -> None:
    column = "[...document.querySelectorAll('#scores-auc_annotated tbody tr')].map(row => +row.cells[2].dataset.value)"
    opened.click("#all")
    button = opened.locator("#scores-auc_annotated thead th").nth(2).locator("button")
    button.click()
    falling = opened.evaluate(column)
    assert falling == sorted(falling, reverse=True)
    button.click()
    assert opened.evaluate(column) == sorted(falling)


def test_a_mark_tells_its_number(opened: Page) -> None:
    opened.emulate_media(reduced_motion="reduce")
    mark = opened.locator("#summary-hr-figure .hit").first
    mark.scroll_into_view_if_needed()
    opened.wait_for_timeout(300)
    mark.hover()
    opened.wait_for_selector("#tip:not([hidden])")
    assert "%" in opened.inner_text("#tip")


def test_hostile_words_are_shown_and_do_nothing(opened: Page) -> None:
    assert opened.title() == "Shop"
    opened.click("#all")
    assert EVIL[-7:] in opened.inner_text(
        "#slices"
    )  # the name of a row: long ones are cut, and complete in the tooltip
    assert "Table images has no column colour." in opened.inner_text("#slices")


@pytest.mark.parametrize("opened", [(1024, "light"), (1024, "dark")], indirect=True)
def test_paper_is_white_and_shows_everything_but_controls(opened: Page) -> None:
    opened.emulate_media(media="print")
    assert opened.locator("#theme").is_hidden()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(opened.pdf(format="A4")) > 20_000
    opened.emulate_media(media="screen")


@pytest.mark.parametrize("name", VARIANTS)
def test_reports_of_all_kinds_of_projects_fit_every_screen_and_paper(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    path = write_report(build(VARIANTS[name](), {"when": "2026-01-01"}), tmp_path / "report.html")[0]
    for width in (390, 560, 1024):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        assert page.locator(".steps li").first.is_visible()
        page.click("#all")
        assert page.evaluate(OUTSIDE) == [], width
        page.close()
    page = browser.new_page(viewport={"width": PAPER, "height": 900})
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate(OUTSIDE) == []
    page.close()
