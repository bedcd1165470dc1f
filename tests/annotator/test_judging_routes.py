"""The judging page's routes in one process: who gets what, what is stored, what is refused."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator_ui.app_state import Options, Site
from annotator_ui.auth.middleware import Gate
from annotator_ui.guideline_html import guideline_blocks
from annotator_ui.judging import assets, routes
from annotator_ui.judging.payload import Answer
from eds.errors import ProjectError
from eds.labels import judgements
from eds.labels.campaigns import Plan, close_campaign, create_campaign, leave_panel, set_form
from eds.labels.flags import open_flags
from eds.labels.form import Form
from eds.labels.frames import acts_frame, labels_frame
from eds.labels.guidelines import put_in_force, save_guideline
from eds.labels.progress import expert_progress, find_campaign
from eds.labels.queue import next_batch
from tests.annotator.sites import fresh_site, store_of

NAME = "A/b <c>"
MARK = {"X-EDS": "1"}


def campaign(site: Site, name: str = NAME, experts: tuple[str, ...] = ("ann", "bob"), **plan: Any) -> str:
    """A campaign with 8 pairs of 2 queries; its handle."""
    pairs = [(f"model-x/q{query}", f"model-x/c{place}") for query in range(2) for place in range(4)]
    frame = pd.DataFrame(pairs, columns=["query_id", "candidate_id"])
    create_campaign(store_of(site.owner), Plan(name, **plan), frame, list(experts))
    return expert_progress(store_of(site.owner), name, experts[0]).handle


def client_for(site: Site, who: str | None = "ann") -> TestClient:
    app = Starlette(routes=routes.routes(site.base), middleware=[Middleware(Gate, site=site)])
    client = TestClient(app, follow_redirects=False)
    if who is not None:
        client.cookies.set("eds_session", site.owner.experts.sign_in_vouched(who, by="test"), domain="testserver.local")
    return client


def post(client: TestClient, handle: str, judgements: list[Any], flags: list[Any] | None = None, **more: Any) -> Any:
    content = {"tab": "t", "expert": "ann", "judgements": judgements, "flags": flags or [], **more}
    return client.post(f"/api/campaigns/{handle}/judgements", json=content, headers=MARK)


def judgement(number: int, value: int | None, token: str) -> dict[str, Any]:
    return {"token": token, "assignment": number, "value": value, "seconds": 1.5, "mode": "pair"}


def test_next_gives_the_own_queue_and_says_nothing_more(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    answer = client.get(f"/api/campaigns/{handle}/next?count=3")
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    mine = next_batch(store_of(site.owner), NAME, "ann", 8)
    assert [task["assignment"] for task in found["tasks"]] == [task.assignment for task in mine[:3]]
    assert {key: found[key] for key in ("done", "left", "total", "closed", "finished")} == {
        "done": 0,
        "left": 8,
        "total": 8,
        "closed": False,
        "finished": False,
    }
    assert set(found["tasks"][0]) == {"assignment", "query", "candidate", "mode", "returned"}
    assert "model-x" not in answer.text
    skip = ",".join(str(task.assignment) for task in mine[:3])
    rest = client.get(f"/api/campaigns/{handle}/next?count=20&skip={skip}").json()["tasks"]
    assert [task["assignment"] for task in rest] == [task.assignment for task in mine[3:]]


def test_pages_are_of_one_query(site: Site) -> None:
    handle, client = campaign(site, mode="grid", polarity="similar", repeat_share=0.01), client_for(site)
    pages = client.get(f"/api/campaigns/{handle}/pages?pages=2&size=24").json()["pages"]
    assert [len(page) for page in pages] == [4, 4]
    assert all(len({task["query"] for task in page}) == 1 for page in pages)


def test_judgements_and_flags_are_stored_once(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    first, second, third = (task.assignment for task in next_batch(store_of(site.owner), NAME, "ann", 3))
    acts = [judgement(first, 1, "a"), judgement(second, None, "b"), judgement(first, 0, "c")]
    flags = [{"token": "f", "assignment": third, "reason": "broken"}]
    for _ in range(2):  # sent again after a lost answer
        answer = post(client, handle, acts, flags)
        assert answer.json() == {"stored": ["a", "b", "c", "f"], "standby": False}
    labels = labels_frame(store_of(site.owner), campaign=NAME).set_index("label_id")
    assert labels["value"].fillna(-1).astype(int).to_dict() == {"a": 1, "b": -1, "c": 0}
    assert labels["expert_id"].tolist() == ["ann"] * 3
    assert labels["session_id"].str.isdigit().all()
    undone = [{"token": "w", "assignment": third, "flag": "f"}]
    for _ in range(2):
        assert post(client, handle, [], withdrawals=undone).json() == {"stored": ["w"], "standby": False}
    assert open_flags(store_of(site.owner)).empty
    assert post(client, handle, [], withdrawals=[{"token": "w", "assignment": third}]).status_code == 422
    history = client.get(f"/api/campaigns/{handle}/history").json()["answers"]
    assert [(one["assignment"], one["value"], one["seconds"]) for one in history] == [
        (first, 0, 1.5),
        (second, None, 1.5),
    ]
    assert "model-x" not in json.dumps(history)


def test_nobody_judges_for_another(site: Site) -> None:
    handle, bob = campaign(site), client_for(site, "bob")
    of_ann = next_batch(store_of(site.owner), NAME, "ann", 1)[0].assignment
    assert post(bob, handle, [judgement(of_ann, 1, "x")]).status_code == 401, "the page is ann's, the session bob's"
    stolen = post(bob, handle, [judgement(of_ann, 1, "x")], expert="bob")
    assert stolen.status_code == 403
    assert post(bob, handle, [], [{"token": "x", "assignment": of_ann, "reason": "r"}], expert="bob").status_code == 403
    assert len(labels_frame(store_of(site.owner))) == 0


def test_strangers_to_a_campaign_get_nothing(site: Site) -> None:
    handle = campaign(site)
    nobody, lead = client_for(site, None), client_for(site, "lea")
    for path in ("next", "pages", "history"):
        assert nobody.get(f"/api/campaigns/{handle}/{path}").status_code == 401
        assert lead.get(f"/api/campaigns/{handle}/{path}").status_code == 403
        for wrong in ("1-1", "x", "0-0", "99999999999999999-1", "A%2Fb%20%3Cc%3E"):
            assert client_for(site).get(f"/api/campaigns/{wrong}/{path}").status_code in (403, 404)
    assert post(nobody, handle, []).status_code == 401
    assert nobody.get(f"/judging/{assets.version()}/main.js").status_code == 401


def test_who_left_may_send_what_was_judged_but_gets_no_more(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    number = next_batch(store_of(site.owner), NAME, "ann", 1)[0].assignment
    leave_panel(store_of(site.owner), NAME, "ann")
    assert client.get(f"/api/campaigns/{handle}/next").status_code == 403
    assert post(client, handle, [judgement(number, 1, "a")]).json()["stored"] == ["a"]


def test_a_closed_campaign_hands_out_nothing_and_says_so(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    close_campaign(store_of(site.owner), NAME)
    found = client.get(f"/api/campaigns/{handle}/next").json()
    assert found["tasks"] == []
    assert found["closed"]
    assert found["finished"]


def test_another_campaign_never_gets_the_same_handle(site: Site) -> None:
    first, second = campaign(site), campaign(site, "B")
    assert first != second
    assert find_campaign(store_of(site.owner), first) == NAME
    number, created = first.split("-")
    assert find_campaign(store_of(site.owner), f"{number}-{int(created, 16) + 1:x}") is None


def test_forged_posts_are_refused(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    content = {"tab": "t", "expert": "ann", "judgements": [], "flags": []}
    assert client.post(f"/api/campaigns/{handle}/judgements", json=content).status_code == 403
    foreign = {**MARK, "Origin": "http://evil.example"}
    assert client.post(f"/api/campaigns/{handle}/judgements", json=content, headers=foreign).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": 3, "assignment": 1, "value": 1},
        {"token": "t", "assignment": "1", "value": 1},
        {"token": "t", "assignment": True, "value": 1},
        {"token": "t", "assignment": 1},
        {"token": "t", "assignment": 1, "value": 2},
        {"token": "t", "assignment": 1, "value": "1"},
        {"token": "t", "assignment": 1, "value": True},
        {"token": "", "assignment": 1, "value": 1},
        {"token": "t", "assignment": 1, "value": 1, "seconds": -1},
        {"token": "t", "assignment": 1, "value": 1, "mode": "x"},
        {"token": "t", "assignment": 2**70, "value": 1},
        ["t"],
    ],
)
def test_what_is_no_judgement_is_told_and_stores_nothing(site: Site, wrong: Any) -> None:
    handle, client = campaign(site), client_for(site)
    number = next_batch(store_of(site.owner), NAME, "ann", 1)[0].assignment
    answer = post(client, handle, [judgement(number, 1, "fine"), wrong])
    assert answer.status_code == 422
    assert "judgement 1" in " ".join([answer.json()["error"], *answer.json()["faults"]])
    assert len(labels_frame(store_of(site.owner))) == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.one_of(
        st.binary(max_size=60),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["tab", "expert", "judgements", "flags", "token", "value", "assignment"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_no_body_breaks_the_server(site: Site, body: bytes) -> None:
    handle = (
        campaign(site)
        if not len(labels_frame(store_of(site.owner))) and not _there(site)
        else expert_progress(store_of(site.owner), NAME, "ann").handle
    )
    client = client_for(site)
    for path in ("judgements", "tab"):
        answer = client.post(f"/api/campaigns/{handle}/{path}", content=body, headers=MARK)
        assert answer.status_code in (200, 401, 422)


def _there(site: Site) -> bool:
    try:
        expert_progress(store_of(site.owner), NAME, "ann")
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("query", ["count=0", "count=101", "count=x", "count=-1", "skip=a", "skip=1,,x", "count=1e3"])
def test_odd_questions_are_refused(site: Site, query: str) -> None:
    handle = campaign(site)
    assert client_for(site).get(f"/api/campaigns/{handle}/next?{query}").status_code == 422


def test_too_much_at_once_is_refused(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    big = client.post(f"/api/campaigns/{handle}/judgements", content=b"x" * 300_000, headers=MARK)
    assert big.status_code == 413
    many = [judgement(1, 1, str(number)) for number in range(201)]
    assert post(client, handle, many).status_code == 422


def test_tabs_the_last_one_that_asked_goes_on(site: Site) -> None:
    handle, client = campaign(site), client_for(site)
    url = f"/api/campaigns/{handle}/tab"

    def tab(name: str, *, take: bool, expert: str = "ann") -> Any:
        return client.post(url, json={"tab": name, "expert": expert, "take": take}, headers=MARK)

    assert tab("one", take=True).json() == {"standby": False}
    assert tab("two", take=True).json() == {"standby": False}
    assert tab("one", take=False).json() == {"standby": True}
    assert client.get(f"/api/campaigns/{handle}/next?tab=one").json()["standby"] is True
    number = next_batch(store_of(site.owner), NAME, "ann", 1)[0].assignment
    answer = post(client, handle, [judgement(number, 1, "a")], tab="one")
    assert answer.json() == {"stored": ["a"], "standby": True}, "stored all the same"
    kept = post(client, handle, [judgement(number, 0, "b")], tab=None)
    assert kept.json() == {"stored": ["b"], "standby": False}, "what a closed tab left behind claims nothing"
    assert tab("two", take=False).json() == {"standby": False}
    assert tab("two", take=False, expert="bob").status_code == 401
    bob = client_for(site, "bob").post(url, json={"tab": "three", "expert": "bob", "take": True}, headers=MARK)
    assert bob.json() == {"standby": False}
    assert tab("two", take=False).json() == {"standby": False}, "another expert's claim is another"


def test_a_database_that_is_away_is_no_refusal(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    handle, client = campaign(site), client_for(site)
    number = next_batch(store_of(site.owner), NAME, "ann", 1)[0].assignment

    def away(*_: Any, **__: Any) -> None:
        raise ProjectError("the database does not answer")

    monkeypatch.setattr(judgements, "submit", away)
    assert post(client, handle, [judgement(number, 1, "a")]).status_code == 503
    monkeypatch.undo()
    assert post(client, handle, [judgement(number, 1, "a")]).status_code == 200


def test_scripts_are_kept_for_ever_under_an_address_of_their_content(site: Site) -> None:
    client = client_for(site)
    for name in assets.files():
        answer = client.get(f"/judging/{assets.version()}/{name}")
        assert answer.headers["content-type"].startswith("text/javascript")
        assert "immutable" in answer.headers["cache-control"]
        assert answer.content == assets.files()[name]
    assert client.get("/judging/0000/main.js").status_code == 404
    assert client.get(f"/judging/{assets.version()}/../routes.py").status_code == 404
    assert client.get(f"/judging/{assets.version()}/package.json").status_code == 404


def test_below_a_base_path(tmp_path: Path) -> None:
    with fresh_site(tmp_path, Options(base="/eds")) as site:
        handle, client = campaign(site), client_for(site)
        assert len(client.get(f"/eds/api/campaigns/{handle}/next").json()["tasks"]) == 8
        assert client.get(f"/api/campaigns/{handle}/next").status_code == 404


def test_a_guideline_becomes_plain_blocks() -> None:
    text = "Intro\ngoes on\n\n## **Cut**\n1. `one`\n2) two\n* [link](javascript:x)\n![i](http://x)\n\n<script>"
    assert [(block["kind"], block["text"]) for block in guideline_blocks(text)] == [
        ("text", "Intro goes on"),
        ("heading", "Cut"),
        ("item", "one"),
        ("item", "two"),
        ("item", "link i"),
        ("text", "<script>"),
    ]


@pytest.mark.parametrize(
    "wrong", [{"token": "=cmd|calc"}, {"token": "@x"}, {"guideline": "x" * 9000}, {"guideline": "=1"}]
)
def test_what_an_expert_may_write_into_exports_is_narrow(wrong: dict[str, str]) -> None:
    act = {"token": "-Ab_cdefghijklmnop12", "assignment": 1, "value": 1, "guideline": ""}
    assert Answer.model_validate(act).judgement().token == act["token"]
    with pytest.raises(ValidationError):
        Answer.model_validate(act | wrong)


def test_only_what_a_campaign_asks_or_asked_before_is_stored(site: Site) -> None:
    store = store_of(site.owner)
    save_guideline(store, "v2", "Other words.")
    handle = campaign(site, form=Form(aspects=("shape", "cut"), similar_from=2), guideline="v1")
    client, tasks = client_for(site), next_batch(store, NAME, "ann", 8)

    def say(number: int, value: int, **beside: Any) -> int:
        act = {**judgement(tasks[number].assignment, value, f"token-of-the-act-{number}"), **beside}
        return int(post(client, handle, [act]).status_code)

    wrong: list[dict[str, Any]] = [
        {"aspects": "colour"},
        {"aspects": "shape,"},
        {"aspects": "shape,shape"},
        {"grade": 1},  # means not similar here
        {"note": "the hem"},
        {"guideline": "v9"},
    ]
    assert [say(0, 1, **beside) for beside in wrong] == [422] * len(wrong)
    assert labels_frame(store).empty
    assert say(0, 1, aspects="shape,cut", grade=3, guideline="v1") == 200
    set_form(store, NAME, Form(aspects=("colour",), notes=True))
    put_in_force(store, NAME, "v2")
    assert say(1, 1, aspects="colour", note="the hem", guideline="v2") == 200
    assert say(2, 0, aspects="cut", grade=1, guideline="v1") == 200  # typed before the lead changed the page
    assert say(3, 1, aspects="cut,colour") == 422  # no page ever asked for both
    stored = acts_frame(store).set_index("label_id")[["aspects", "grade", "note", "guideline"]]
    assert stored.astype(object).where(stored.notna(), None).to_numpy().tolist() == [
        ["shape,cut", 3, None, "v1"],
        ["colour", None, "the hem", "v2"],
        ["cut", 1, None, "v1"],
    ]
