"""A person makes a token on the page, a program uses it, and a lead adds and removes a webhook."""

import urllib.error
import urllib.request

from playwright.sync_api import Browser, expect

from annotator_ui.texts_programs import PROGRAMS
from tests.browser.annotator import Annotator, axe_faults
from tests.browser.test_lead_pages import settle


def _asks(annotator: Annotator, token: str) -> int:
    request = urllib.request.Request(f"{annotator.url}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_token_is_made_used_and_revoked_and_a_webhook_added(browser: Browser, annotator: Annotator) -> None:
    with annotator.page(browser, "lea") as page:
        page.goto(annotator.url + "/account")
        page.get_by_role("link", name=PROGRAMS.title, exact=True).click()
        page.get_by_label(PROGRAMS.label).fill("nightly")
        page.get_by_role("button", name=PROGRAMS.make).click()
        token = page.get_by_test_id("stCode").inner_text().strip()
        assert _asks(annotator, token) == 200
        assert _asks(annotator, token + "x") == 401
        page.get_by_role("textbox", name=PROGRAMS.url).fill("https://10.0.0.1/hook")
        page.get_by_role("button", name=PROGRAMS.add).click()
        expect(page.get_by_text("10.0.0.1 is not a public host")).to_be_visible()
        page.get_by_role("textbox", name=PROGRAMS.url).fill("https://hooks.example.com/eds")
        page.get_by_role("button", name=PROGRAMS.add).click()
        expect(page.get_by_text("whsec_")).to_be_visible()
        settle(page)
        assert axe_faults(page) == []
        page.get_by_role("button", name=PROGRAMS.revoke, exact=True).click()
        expect(page.get_by_text(PROGRAMS.revoked)).to_be_visible()
        assert _asks(annotator, token) == 401
        page.get_by_role("button", name=PROGRAMS.remove, exact=True).click()
        expect(page.get_by_text(PROGRAMS.removed)).to_be_visible()
        page.goto(annotator.url + "/api/v1")
        expect(page.get_by_role("heading", name="API", exact=True)).to_be_visible()
        assert axe_faults(page) == []
    with annotator.page(browser, "ann") as page:
        page.goto(annotator.url + "/programs")
        expect(page.get_by_role("button", name=PROGRAMS.make)).to_be_visible()
        expect(page.get_by_text(PROGRAMS.webhooks_about)).to_have_count(0)
