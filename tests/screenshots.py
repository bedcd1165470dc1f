"""Take the README's pictures of annotator and report again: `make screenshots`, on a drawn catalogue, in Chromium."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from eds.project import Project
from eds.project.demo_campaigns import GRID, PAIRS
from tests.browser.conftest import QUIET, chromium_path

PLACE = Path(__file__).parents[1] / "data" / "screens"
WIDE: ViewportSize = {"width": 1280, "height": 720}


def signed_in(page: Page, link: str) -> None:
    page.goto(link)
    page.click("button[type=submit]")
    page.get_by_text("Your campaigns").wait_for()


def shot(page: Page, name: str) -> None:
    page.wait_for_timeout(1500)  # pictures and charts have come to rest
    page.screenshot(path=PLACE / f"{name}.jpg", type="jpeg", quality=82)
    print(PLACE / f"{name}.jpg")


def main() -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        words = [sys.executable, "-m", "eds.cli", "labels", "serve", "--demo", "--no-browser", "--port", "0"]
        server = subprocess.Popen([*words, "--project", f"{folder}/demo"], stdout=subprocess.PIPE, text=True)
        try:
            links: dict[str, str] = {}
            while len(links) < 2 and server.stdout and (line := server.stdout.readline()):
                links.update(re.findall(r"Sign in as (\w+) .*?: (\S+)", line))
            browser = playwright.chromium.launch(executable_path=chromium_path(), headless=True, args=QUIET)
            project = Project.open(f"{folder}/demo")
            project.calibration.plan(PAIRS, 0)  # without practice before it
            expert = browser.new_page(viewport=WIDE)
            signed_in(expert, links["guest"])
            address = expert.url
            for name, campaign, keys in (("pair", PAIRS, "kjkuk"), ("grid", GRID, "258")):
                handle = project.campaigns.of_expert(campaign, "guest").handle
                expert.goto(f"{address.rstrip('/')}/{name}?campaign={handle}")
                expert.get_by_role("button", name="Begin").click()
                for key in keys:
                    expert.wait_for_timeout(1500)  # digits that follow sooner are one number
                    expert.keyboard.press(key)
                expert.get_by_text("All saved").wait_for()
                shot(expert, name)
            lead = browser.new_page(viewport=WIDE, color_scheme="dark")
            signed_in(lead, links["lead"])
            lead.goto(f"{address.rstrip('/')}/campaign?campaign=simulated")
            lead.get_by_text("Needs you").wait_for()
            shot(lead, "campaign")
            demo = [sys.executable, "-m", "eds.cli", "demo", f"{folder}/report", "--size", "256"]
            subprocess.run(demo, check=True)
            report = browser.new_page(viewport={"width": 1180, "height": 830})
            report.goto(f"file://{folder}/report/report.html")
            shot(report, "report")
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
