"""Signing in at a real OpenID provider: only into an account that exists, and out again for good."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from eds.labels.audit import read_audit
from eds.labels.experts import add_expert, disable, list_experts
from tests.browser.annotator import Annotator, axe_faults, prepare, running

MAIL = "ann@shop.example"
MODULES = Path(sys.prefix) / "node" / "node_modules"


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """An annotator that trusts a provider, both running."""
    folder = tmp_path_factory.mktemp("oidc")
    node = shutil.which("node")
    if node is None or not (MODULES / "oidc-provider").exists():
        pytest.fail("this test needs node and oidc-provider: make test sets them up")
    own, others = _free(), _free()
    address = f"http://127.0.0.1:{own}"
    settings = folder / "openid.toml"
    settings.touch(0o600)
    settings.write_text(
        f'issuer = "http://127.0.0.1:{others}"\nclient_id = "eds"\nclient_secret = "a secret of the test"\n'
        f'address = "{address}"\nlabel = "Example ID"\nprompt = "login"\n'
    )
    script = folder / "provider.mjs"  # beside the modules, as node looks for them
    script.write_text((Path(__file__).with_name("openid_provider.mjs")).read_text())
    (folder / "node_modules").symlink_to(MODULES)
    words = [node, str(script), str(others), f"{address}/sign-in/openid/back"]
    log = (folder / "provider.log").open("w")
    provider = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, "NODE_ENV": "test"}
    )
    try:
        assert provider.stdout is not None
        while "ready" not in (line := provider.stdout.readline()):
            if not line:
                pytest.fail(f"the provider did not start: {(folder / 'provider.log').read_text()}")
        with running(prepare(folder / "shop"), "--openid", str(settings), "--port", str(own)) as found:
            add_expert(found.store, MAIL, "lead")
            add_expert(found.store, "unproved@shop.example", "lead")
            yield found
    finally:
        provider.terminate()
        provider.wait(10)
        log.close()
        if provider.stdout is not None:
            provider.stdout.close()


def _go(page: Page, annotator: Annotator, name: str) -> None:
    """Sign in at the provider as this name."""
    page.goto(f"{annotator.url}/sign-in")
    page.get_by_role("link", name="Sign in with Example ID").click()
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_an_identity_with_an_account_is_let_in_and_out(browser: Browser, trusting: Annotator) -> None:
    with trusting.page(browser) as page:
        page.goto(f"{trusting.url}/sign-in")
        assert axe_faults(page) == []
        _go(page, trusting, MAIL)
        expect(page.get_by_role("heading", name="Drawn garments")).to_be_visible()
        audit = read_audit(trusting.store)
        assert audit.loc[audit["act"] == "sign in", "actor"].tolist() == [MAIL]
        page.goto(f"{trusting.url}/sign-out")
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page).to_have_url(f"{trusting.url}/sign-in")
        page.goto(trusting.url)
        expect(page).to_have_url(f"{trusting.url}/sign-in")  # no cookie of the provider's brings one back in


@pytest.mark.parametrize("name", ["zoe@shop.example", "unproved@shop.example"])
def test_an_identity_without_an_account_or_not_verified_is_refused(
    browser: Browser, trusting: Annotator, name: str
) -> None:
    before = list_experts(trusting.store)["name"].tolist()
    with trusting.page(browser) as page:
        _go(page, trusting, name)
        expect(page.get_by_role("alert")).to_contain_text("no account")
        page.goto(trusting.url)
        expect(page).to_have_url(f"{trusting.url}/sign-in")
    assert list_experts(trusting.store)["name"].tolist() == before


def test_a_forged_or_repeated_return_is_refused(browser: Browser, trusting: Annotator) -> None:
    with trusting.page(browser) as page:
        for query in ("", "?code=x&state=y", "?error=access_denied", "?state=y"):
            page.goto(f"{trusting.url}/sign-in/openid/back{query}")
            expect(page.get_by_role("alert")).to_contain_text("Signing in with the other service failed")
        returned: list[str] = []
        page.on("request", lambda asked: returned.append(asked.url) if "/openid/back?" in asked.url else None)
        _go(page, trusting, MAIL)
        expect(page.get_by_role("heading", name="Drawn garments")).to_be_visible()
        page.context.clear_cookies(name="eds_session")
        page.goto(returned[-1])
        expect(page.get_by_role("alert")).to_contain_text("Signing in with the other service failed")


def test_who_is_disabled_is_refused(browser: Browser, trusting: Annotator) -> None:
    disable(trusting.store, MAIL)
    with trusting.page(browser) as page:
        _go(page, trusting, MAIL)
        expect(page.get_by_role("alert")).to_contain_text("no account")
