"""A real Chromium for the tests that look at pages; without one they fail, and say what to install."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.annotator import annotator, fresh_annotator

__all__ = ["annotator", "browser", "fresh_annotator"]

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser, a server and the tests wait for each other: what missed its moment begins anew, twice at most."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


def chromium_path() -> str | None:
    """Where the machine's Chromium lies."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if chromium_path() is None:
        pytest.fail("the browser tests need Chromium: make browser")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), headless=True, args=QUIET)
        yield chromium
        chromium.close()
