"""Passkeys without a browser: challenges of this browser only, once, and not for ever; the page; forged answers."""

import base64
import json
import re
import time
from html import unescape

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from annotator_ui.app_state import Site
from annotator_ui.auth import passkeys
from eds.labels.experts import invite
from eds.labels.passkeys import NewPasskey, add_passkey, passkeys_of
from eds.project.experts import SignInError
from tests.annotator.sites import PAGE, client_for, store_of


def _page(client: TestClient, path: str) -> tuple[str, dict[str, object]]:
    """The token of a page's forms, and the options that its script gets."""
    text = client.get(path).text
    token, options = re.search(r'name="token" value="(\w+)"', text), re.search(r"data-options=\"([^\"]*)\"", text)
    assert token is not None
    assert options is not None
    return token[1], json.loads(unescape(options[1]))


def _invited(site: Site, name: str) -> TestClient:
    """The browser of somebody who was signed in by an invitation."""
    client, path = client_for(site), f"/invitation/{invite(store_of(site.owner), name)}"
    token = re.search(r'name="token" value="(\w+)"', client.get(path).text)
    assert token is not None
    assert client.post(path, data={"token": token[1]}).status_code == 303
    return client


def _answer(challenge: object, origin: str = "http://testserver") -> str:
    told = json.dumps({"type": "webauthn.get", "challenge": challenge, "origin": origin}).encode()
    data = base64.urlsafe_b64encode(told).decode().rstrip("=")
    response = {"clientDataJSON": data, "authenticatorData": "AA", "signature": "AA"}
    return json.dumps({"id": "Y3JlZA", "rawId": "Y3JlZA", "type": "public-key", "response": response})


def test_options_name_this_host_and_demand_the_owner(site: Site) -> None:
    _, options = _page(client_for(site), "/sign-in")
    assert options["rpId"] == "testserver"
    assert options["userVerification"] == "required"
    _, options = _page(_invited(site, "ann"), "/password")
    assert options["rp"]["id"] == "testserver"  # type: ignore[index]
    assert options["authenticatorSelection"]["residentKey"] == "required"  # type: ignore[index]
    assert "ann" not in json.dumps(options["user"]["id"])  # type: ignore[index]


@pytest.mark.parametrize(
    "answer", ["", "x", "[]", "{}", '{"id": 3}', '{"id": "Y3JlZA", "response": {"clientDataJSON": "x"}}']
)
def test_what_is_not_an_answer_is_refused(site: Site, answer: str) -> None:
    client = client_for(site)
    token, options = _page(client, "/sign-in")
    add_passkey(store_of(site.owner), "ann", NewPasskey("Y3JlZA", "cHVibGlj", 0, "Key"))
    for credential in (answer, _answer(options["challenge"]), _answer("AAAA")):
        assert client.post("/sign-in", data={"token": token, "credential": credential}).status_code == 401
    invited = _invited(site, "bob")
    token, options = _page(invited, "/password")
    for credential in (answer, _answer(options["challenge"])):
        assert invited.post("/password", data={"token": token, "credential": credential}).status_code == 422
    assert client.get("/x").status_code == 401


def test_a_challenge_is_of_one_browser_one_time_and_some_minutes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | bytes] = []

    def seen(request: Request, credential: str) -> str:
        try:
            asked.append(passkeys._answered(request, credential))
        except ValueError as error:
            asked.append(str(error))
        raise SignInError("refused")

    monkeypatch.setattr(passkeys, "sign_in", seen)
    here, there = client_for(site), client_for(site)
    (token, options), (other, _) = _page(here, "/sign-in"), _page(there, "/sign-in")
    answer = {"credential": _answer(options["challenge"])}
    there.post("/sign-in", data={"token": other, **answer})
    for _ in range(2):
        here.post("/sign-in", data={"token": token, **answer})
    _, later = _page(here, "/sign-in")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + passkeys.GOOD_FOR + 1)
    here.post("/sign-in", data={"token": token, "credential": _answer(later["challenge"])})
    assert [one if isinstance(one, str) else len(one) for one in asked] == [
        "a foreign challenge",
        40,
        "an old challenge",
        "an old challenge",
    ]


def test_the_page_shows_and_removes_ones_own(site: Site) -> None:
    assert client_for(site).get("/passkeys", headers=PAGE).status_code == 303
    add_passkey(store_of(site.owner), "ann", NewPasskey("YWFh", "k", 0, "<b>Laptop</b>"))
    add_passkey(store_of(site.owner), "bob", NewPasskey("YmJi", "k", 0, "Phone"))
    client = client_for(site, "ann")
    text = client.get("/passkeys").text
    assert "&lt;b&gt;Laptop" in text
    assert "Phone" not in text
    token, _ = _page(client, "/passkeys")
    numbers = [one.number for name in ("ann", "bob") for one in passkeys_of(store_of(site.owner), name)]
    assert client.post("/passkeys", data={"remove": str(numbers[0])}).status_code == 403
    for number in numbers:
        assert client.post("/passkeys", data={"token": token, "remove": str(number)}).status_code == 303
    assert [len(passkeys_of(store_of(site.owner), name)) for name in ("ann", "bob")] == [0, 1]


def test_the_script_is_ours_and_open(site: Site) -> None:
    answer = client_for(site).get("/sign-in/passkey.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "navigator.credentials" in answer.text
