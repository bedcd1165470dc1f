"""Passkeys in a real browser, with Chromium's virtual authenticator: made by an invitation, used, added, removed."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, CDPSession, Page

from annotator_ui.texts import ACCOUNTS as SAYS
from tests.browser.annotator import PASSWORD, Annotator, axe_faults


def authenticator(page: Page) -> tuple[CDPSession, str]:
    """A device with a fingerprint reader, whose owner is there."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, made["authenticatorId"]


@contextmanager
def fresh_page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    try:
        yield context.new_page()
    finally:
        context.close()


def test_a_passkey_from_invitation_to_sign_in(browser: Browser, annotator: Annotator) -> None:
    host = annotator.url.replace("127.0.0.1", "localhost")  # a passkey needs a host with a name
    with fresh_page(browser) as page:
        session, device = authenticator(page)
        page.goto(annotator.invitation("cid").replace("127.0.0.1", "localhost"))
        page.get_by_role("button", name=SAYS.begin).click()
        page.wait_for_url(f"{host}/")
        page.goto(f"{host}/password")
        assert axe_faults(page) == []
        page.get_by_role("button", name=SAYS.passkey_instead).click()
        page.wait_for_url(f"{host}/")
        page.goto(f"{host}/passkeys")
        page.get_by_text(SAYS.passkey_unnamed, exact=True).wait_for()
        assert axe_faults(page) == []

        page.context.clear_cookies()
        page.goto(f"{host}/sign-in?next=/passkeys")
        page.get_by_role("button", name=SAYS.passkey_in).click()
        page.wait_for_url(f"{host}/passkeys")

        # another answer of the same device to a page that is open in another browser does not count there
        credentials = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
        assert [one["rpId"] for one in credentials] == ["localhost"]
        page.get_by_role("button", name=f"{SAYS.passkey_remove}: {SAYS.passkey_unnamed}").click()
        page.get_by_text(SAYS.passkeys_none).wait_for()
        page.context.clear_cookies()
        page.goto(f"{host}/sign-in")
        page.get_by_role("button", name=SAYS.passkey_in).click()
        page.get_by_text(SAYS.passkey_refused).first.wait_for()


def test_a_second_passkey_beside_the_password(browser: Browser, annotator: Annotator) -> None:
    host = annotator.url.replace("127.0.0.1", "localhost")
    with fresh_page(browser) as page:
        session, device = authenticator(page)
        page.goto(annotator.invitation("bob").replace("127.0.0.1", "localhost"))
        page.get_by_role("button", name=SAYS.begin).click()
        page.wait_for_url(f"{host}/")
        page.goto(f"{host}/password")
        page.get_by_label(SAYS.new_password).fill(PASSWORD)
        page.get_by_label(SAYS.again).fill(PASSWORD)
        page.get_by_role("button", name=SAYS.choose, exact=True).click()
        page.wait_for_url(f"{host}/")
        page.goto(f"{host}/passkeys")
        page.get_by_label(SAYS.passkey_label).fill("My laptop")
        page.get_by_role("button", name=SAYS.passkey_add).click()
        page.get_by_text("My laptop").wait_for()

        session.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
        page.context.clear_cookies()
        page.goto(f"{host}/sign-in")
        page.get_by_role("button", name=SAYS.passkey_in).click()
        page.get_by_text(SAYS.passkey_refused).wait_for()  # somebody else's finger


def test_where_a_passkey_cannot_be_used_it_is_not_offered(browser: Browser, annotator: Annotator) -> None:
    with fresh_page(browser) as page:
        page.goto(f"{annotator.url}/sign-in")  # 127.0.0.1: a number, not a name
        page.get_by_role("button", name=SAYS.in_button, exact=True).wait_for()
        assert page.get_by_role("button", name=SAYS.passkey_in).count() == 0
