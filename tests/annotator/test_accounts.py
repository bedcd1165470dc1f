"""An invitation opens once, guessing is slowed and told kindly, signing out ends a session, forms are ours."""

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from starlette.testclient import TestClient

from annotator_ui.app_state import Options, Site
from annotator_ui.auth.accounts import wait_text
from annotator_ui.texts import ACCOUNTS
from annotator_ui.texts_judging import PAGE
from eds.labels.audit import read_audit
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert, can_return, disable, invite
from eds.labels.guidelines import save_guideline
from eds.labels.progress import expert_progress
from eds.labels.sessions import sign_in
from tests.annotator.sites import NAME, PASSWORD, client_for, fresh_site, store_of


def _post(client: TestClient, path: str, **fields: str) -> "tuple[int, str, str]":
    """Fill in the form of a page and send it: status, text, where to."""
    found = re.search(r'name="token" value="(\w+)"', client.get(path).text)
    answer = client.post(path, data={"token": found[1] if found else "", **fields})
    return answer.status_code, unescape(answer.text), answer.headers.get("location", "")


def test_an_invitation_signs_in_once_and_a_password_comes_afterwards(site: Site) -> None:
    path = f"/invitation/{invite(store_of(site.owner), 'ann')}"
    client = client_for(site)
    page = client.get(path)
    assert page.status_code == 200
    assert ACCOUNTS.welcome.format(name="ann") in unescape(page.text)
    assert (
        page.headers["referrer-policy"] == "same-origin"
    )  # the address holds the token; "no-referrer" makes Origin null
    assert page.headers["cache-control"] == "no-store"
    assert _post(client, path)[::2] == (303, "/")
    assert client.get("/x").json()["viewer"] == ["ann", "expert"]
    for stale in (path, "/invitation/unknown"):
        assert client_for(site).get(stale).status_code == 404
        assert client_for(site).post(stale, data={"token": "x"}).status_code == 404
    assert ACCOUNTS.out_lost in unescape(client.get("/sign-out").text)
    assert _post(client, "/password", password="short", again="short")[0] == 422
    status, text, _ = _post(client, "/password", password="a new password", again="another password")
    assert (status, ACCOUNTS.differ in text) == (422, True)
    answer = _post(client, "/password", password="a new password", again="a new password", next="/guide")
    assert answer[::2] == (303, "/guide")
    assert sign_in(store_of(site.owner), "ann", "a new password")
    assert ACCOUNTS.out_lost not in unescape(client.get("/sign-out").text)
    assert client.get("/password").headers["location"] == "/account"  # the first one only
    assert _post(client, "/password", password="one more password", again="one more password")[0] in (303, 403)
    assert sign_in(store_of(site.owner), "ann", "a new password")


def test_looking_at_an_invitation_does_not_use_it(site: Site) -> None:
    """Mail programs and previews fetch links ahead; a form of another browser does not use one either."""
    path = f"/invitation/{invite(store_of(site.owner), 'bob')}"
    assert [client_for(site).get(path).status_code for _ in range(3)] == [200, 200, 200]
    assert client_for(site).head(path).status_code == 200
    mine, foreign = client_for(site), client_for(site)
    token = re.search(r'name="token" value="(\w+)"', mine.get(path).text)
    assert token is not None
    foreign.get(path)
    assert foreign.post(path, data={"token": token[1]}).status_code == 403
    assert mine.post(path, data={"token": token[1]}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client_for(site).post(path).status_code in (403, 411)
    assert "eds_session" not in foreign.cookies
    disable(store_of(site.owner), "bob")
    assert client_for(site).get(path).status_code == 404


def test_who_did_not_come_by_an_invitation_chooses_no_password(site: Site) -> None:
    """A proxy or a provider vouches for a person at each sign-in; a password would outlive that."""
    add_expert(store_of(site.owner), "dan")
    client = client_for(site, "dan")
    assert client.get("/password").headers["location"] == "/account"
    assert _post(client, "/password", password="a new password", again="a new password")[0] == 303
    assert not can_return(store_of(site.owner), "dan")


def test_an_invitation_to_one_campaign_says_what_is_asked_and_leads_to_its_page(site: Site) -> None:
    store = store_of(site.owner)
    save_guideline(store, "1", "# The same cut\n<b>not</b> the colour", [], by="lea")
    ids = site.owner.read("images")["image_id"].tolist()
    pairs = pd.DataFrame([(ids[0], ids[1])], columns=["query_id", "candidate_id"])
    create_campaign(store, Plan("Hats", guideline="1"), pairs, ["bob"])
    client, path = client_for(site), f"/invitation/{invite(store, 'bob')}"
    text = unescape(client.get(path).text)
    assert PAGE["questions"]["pair"] in text
    assert "<h3>The same cut</h3>" in text
    assert "/pictures/" not in text
    handle = expert_progress(store, "Hats", "bob").handle
    assert _post(client, path)[2] == f"/pair?campaign={handle}&first=1"
    _post(client, "/password", password=PASSWORD, again=PASSWORD)
    again = client_for(site)
    assert _post(again, "/sign-in", name="bob", password=PASSWORD)[2] == f"/pair?campaign={handle}"
    create_campaign(store, Plan("Shoes"), pairs, ["bob"])
    assert _post(client_for(site), "/sign-in", name="bob", password=PASSWORD)[2] == "/"
    assert _post(client_for(site), f"/invitation/{invite(store, 'bob')}")[2] == "/"


def test_signing_in_with_a_password(site: Site) -> None:
    client = client_for(site)
    assert _post(client, "/sign-in", name="ann", password=PASSWORD, next="/guide")[::2] == (303, "/guide")
    assert client.get("/x").json()["viewer"] == ["ann", "expert"]
    assert client.get("/sign-in").headers["location"] == "/"


def test_a_wrong_name_and_a_wrong_password_are_told_alike(site: Site) -> None:
    known = _post(client_for(site), "/sign-in", name="ann", password="wrong password")
    unknown = _post(client_for(site), "/sign-in", name="zoe", password="wrong password")
    assert known[0] == unknown[0] == 401
    shown = [re.sub(r'value="[^"]*"|"challenge": "[^"]*"', "", text) for _, text, _ in (known, unknown)]
    assert shown[0] == shown[1]
    assert ACCOUNTS.refused in shown[0]


def test_guessing_is_slowed_by_name_and_address_and_told_kindly(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_800_000_000_000_000]
    monkeypatch.setattr(store_of(site.owner), "now", lambda: clock[0])
    client = client_for(site, address="10.2.2.2")
    statuses = [_post(client, "/sign-in", name="ann", password=f"guess {number}")[0] for number in range(6)]
    assert statuses[:4] == [401] * 4
    assert statuses[4:] == [429, 429]
    answer = client.post("/sign-in", data={"token": _token(client), "name": "ann", "password": PASSWORD})
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 2
    assert "Please wait" in answer.text
    elsewhere = client_for(site, address="10.3.3.3")  # a stranger cannot lock ann out
    assert _post(elsewhere, "/sign-in", name="ann", password=PASSWORD)[0] == 303
    clock[0] += int(answer.headers["retry-after"]) * 1_000_000
    assert _post(client, "/sign-in", name="ann", password=PASSWORD)[0] == 303


def test_a_forged_sign_in_is_refused(site: Site) -> None:
    client = client_for(site)
    good = _token(client)
    fields = {"name": "ann", "password": PASSWORD}
    for token in ("", "0" * 64, good[:-1] + ("0" if good[-1] != "0" else "1")):
        assert client.post("/sign-in", data={**fields, "token": token}).status_code == 403
    stranger = client_for(site)
    assert stranger.post("/sign-in", data={**fields, "token": good}).status_code == 403  # another browser's
    evil = {"Origin": "http://evil.example"}
    assert client.post("/sign-in", data={**fields, "token": good}, headers=evil).status_code == 403
    assert client.post("/sign-in", content=b"x" * 30_000).status_code == 413
    assert client.post("/sign-in", content=b"&" * 15_000).status_code == 403
    assert client.post("/sign-in", data={**fields, "token": good}).status_code == 303


def test_signing_out_here_and_everywhere(site: Site) -> None:
    here, there, other = client_for(site, "ann"), client_for(site, "ann"), client_for(site, "bob")
    former = here.cookies["eds_session"]
    assert (
        here.post("/sign-out", data={"act": "here"}).headers["location"] == "/sign-out"
    )  # without a token: asked first
    assert here.get("/x").status_code == 200
    assert _post(here, "/sign-out", act="here")[::2] == (303, "/sign-in")
    here.cookies.set("eds_session", former)
    assert [one.get("/x").status_code for one in (here, there, other)] == [401, 200, 200]
    third = client_for(site, "ann")
    assert _post(third, "/sign-out", act="everywhere")[0] == 303
    assert [one.get("/x").status_code for one in (third, there, other)] == [401, 401, 200]
    assert "sign out everywhere" in set(read_audit(store_of(site.owner))["act"])


def test_texts_of_others_are_escaped(site: Site) -> None:
    evil = '"><script>alert(2)</script>'
    client = client_for(site)
    pages = [client.get("/sign-in").text, client.get(f"/sign-in?next={evil}").text, client.get("/invitation/x").text]
    token = _token(client)
    pages.append(client.post("/sign-in", data={"token": token, "name": evil, "password": "x", "next": evil}).text)
    for text in pages:
        assert "<script>" not in text
        assert all(one.startswith('<script src="/sign-in/passkey.js?') for one in re.findall("<script.*?>", text))
        assert evil not in text
        assert NAME in unescape(text)


def test_cookies_keep_to_our_pages(tmp_path: Path) -> None:
    with fresh_site(tmp_path, Options(base="/eds")) as site:
        client = client_for(site)
        page = client.get("/eds/sign-in")
        assert re.fullmatch(
            r"eds_form=[\w.]+; Path=/eds; Max-Age=86400; HttpOnly; SameSite=Strict", page.headers["set-cookie"]
        )
        client.cookies.set("eds_form", page.cookies["eds_form"])
        answer = client.post(
            "/eds/sign-in", data={"token": _token(client, "/eds/sign-in"), "name": "ann", "password": PASSWORD}
        )
        assert answer.headers["location"] == "/eds/"


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "1 second,"), (89, "89 seconds,"), (90, "2 minutes,"), (900, "15 minutes,")]
)
def test_a_wait_is_told_as_people_say_it(seconds: int, text: str) -> None:
    assert f"wait {text}" in wait_text(seconds)


def _token(client: TestClient, path: str = "/sign-in") -> str:
    found = re.search(r'name="token" value="(\w+)"', client.get(path).text)
    assert found is not None
    return found[1]
