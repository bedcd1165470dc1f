"""The contact sheet as a page: it needs nothing else, and what stands in the catalogue cannot run in it."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Request

Theme = Literal["light", "dark"]
EVIL = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("shop")
    rows = ["sku,file,kind"]
    (project / "images").mkdir()
    for number in range(12):
        Image.new("RGB", (64, 48), (20 * number, 90, 120)).save(project / "images" / f"{number}.png")
        rows.append(f"a{number},{number}.png,{EVIL if number % 2 else 'plain'}")
    (project / "list.csv").write_text("\n".join(rows) + "\n")
    for words in (
        ["init", str(project)],
        ["import", str(project / "list.csv"), "--map", "id=sku,path=file,category=kind"],
        ["sheet", "--out", str(project / "sheet.html"), "--count", "12"],
    ):
        group = [] if words[0] == "init" else ["images"]
        where = [] if words[0] == "init" else ["--project", str(project)]
        subprocess.run([sys.executable, "-m", "eds.cli", *group, *words, *where], check=True, capture_output=True)
    return project / "sheet.html"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_shows_every_picture_and_asks_for_nothing(
    browser: Browser, page_file: Path, theme: Theme, width: int
) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page = browser.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
    page.on("request", note)
    page.goto(page_file.as_uri())
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(sizes) == 12
    assert min(sizes) > 0
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert page.title() != "taken"
    assert EVIL in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_the_page_follows_the_theme(browser: Browser, page_file: Path) -> None:
    def background(theme: Theme) -> str:
        page = browser.new_page(color_scheme=theme)
        page.goto(page_file.as_uri())
        found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.close()
        return found

    assert background("light") != background("dark")
