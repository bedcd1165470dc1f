"""The API: tokens act as their accounts, tasks go in, votes come out as table labels has them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openapi_spec_validator import validate
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator_ui.api import routes as api
from annotator_ui.api.endpoints import ENDPOINTS
from annotator_ui.app_state import Options, Site, install
from annotator_ui.auth.middleware import Gate
from eds.labels.judgements import Judgement
from eds.project import Project
from eds.project.label_store import keep_open
from tests.annotator.sites import client_for
from tests.project.shops import PAIR, Design, draw_shop, make_project


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A project with a pool, a lead and two experts."""
    project = make_project(
        draw_shop(Design(products=20, queries=6, models=2, prevalence=0.1), 1), tmp_path_factory.mktemp("api")
    )
    project.mine(k=8)
    project.pool(k=2)
    for name, role in (("lea", "lead"), ("ann", "expert"), ("bob", "expert")):
        project.experts.add(name, role)
    keep_open(project)
    site = Site(project, Options(hosts=frozenset({"testserver"})))
    with closing(site):
        yield site


@pytest.fixture
def site(made: Site) -> Site:
    install(made)
    return made


class Program:
    """A program that has a token."""

    def __init__(self, site: Site, name: str, **options: Any) -> None:
        app = Starlette(routes=api.routes(), middleware=[Middleware(Gate, site=site)])
        self.client = TestClient(app, follow_redirects=False)
        token = site.owner.experts.make_token(name, "test", **options).token
        self.client.headers["Authorization"] = f"Bearer {token}"

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.client.request(method, f"/api/v1{path}", json=body)
        self.status = answer.status_code
        return answer.json()


def test_tasks_go_in_and_votes_come_out(site: Site) -> None:
    lead = Program(site, "lea")
    assert lead("GET", "/me") == {"name": "lea", "role": "lead"}
    pairs = site.owner.read("suspects")[PAIR].drop_duplicates()
    images = site.owner.read("images")
    known = set(map(tuple, pairs.to_numpy()))
    query = pairs["query_id"].iloc[0]
    new = next(
        {"query_id": query, "candidate_id": other}
        for other in images.loc[images["role"] != "query", "image_id"]
        if (query, other) not in known and other != query
    )
    price = lead("POST", "/pairs", {"pairs": [new]})
    assert (lead.status, price["price"]["pairs"]) == (409, 1)
    assert len(site.owner.read("suspects")[PAIR].drop_duplicates()) == len(pairs), "only the price is given"
    assert lead("POST", "/pairs", {"pairs": [new], "agree": True})["added"] == 1
    body = {"name": "api", "experts": ["ann", "bob"], "pairs": [new]}
    assert lead("POST", "/campaigns", body)["price"]["judgements"] == 2
    assert lead.status == 409
    assert lead("GET", "/campaigns")["campaigns"] == []
    campaign = lead("POST", "/campaigns", body | {"agree": True})["campaign"]
    assert (lead.status, campaign["done"], campaign["left"]) == (201, 0, 2)
    labels = site.owner.labels
    for name, value in (("ann", 1), ("bob", 0)):
        task = labels.next_tasks("api", name)[0]
        assert (task.query_id, task.candidate_id) == (new["query_id"], new["candidate_id"])
        labels.submit(
            name, [Judgement(token=f"first-{name}-act", assignment=task.assignment, value=value, seconds=2.5)]
        )
    labels.submit("bob", [Judgement(token="second-bob-act", assignment=task.assignment, value=1, seconds=1.0)])
    votes = lead("GET", "/votes?limit=2")
    rest = lead("GET", f"/votes?limit=2&after={votes['next']}")
    assert [len(votes["votes"]), len(rest["votes"])] == [2, 1]
    came, table = pd.DataFrame(votes["votes"] + rest["votes"]), site.owner.read("labels")
    assert came["label_id"].tolist() == table["label_id"].tolist()
    for column in (*PAIR, "expert_id", "kind"):
        assert came[column].tolist() == table[column].tolist()
    assert came["value"].tolist() == table["value"].tolist() == [1, 0, 1]
    assert came["supersedes"].dropna().tolist() == table["supersedes"].dropna().tolist() == ["first-bob-act"]
    assert pd.to_datetime(came["created_at"]).tolist() == table["created_at"].tolist()
    assert lead("GET", f"/votes?after={rest['next']}") == {"votes": [], "next": rest["next"]}
    assert (lead("GET", "/campaigns/api")["done"], lead("GET", "/campaigns/api")["left"]) == (2, 0)
    expert = Program(site, "ann")
    assert [item["expert"] for item in expert("GET", "/campaigns/api")["experts"]] == ["ann"]


def test_an_expert_reaches_their_own_progress_only(site: Site) -> None:
    expert = Program(site, "bob")
    for endpoint in ENDPOINTS:
        path = endpoint.path.format(campaign="none", number="1")
        expert(endpoint.method, path, {} if endpoint.body else None)
        assert (expert.status == 403) == (endpoint.role == "lead"), endpoint.path


def test_only_a_valid_token_counts(site: Site) -> None:
    experts = site.owner.experts
    program, client = Program(site, "ann"), client_for(site, "lea")
    assert client.get("/api/v1/me", headers={"Accept": "application/json"}).status_code == 401, (
        "a cookie is not a token"
    )
    number = int(experts.tokens("ann")["number"].iloc[-1])
    for refused in ("", "Bearer", "Bearer eds_wrong", "Basic YTpi"):
        program.client.headers["X"] = "y"
        answer = program.client.get("/api/v1/me", headers={"Authorization": refused})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    program("GET", "/me")
    assert program.status == 200
    experts.revoke_token("ann", number)
    program("GET", "/me")
    assert program.status == 401
    again = Program(site, "ann")
    experts.sign_out_everywhere("ann")
    again("GET", "/me")
    assert again.status == 401
    last = Program(site, "bob")
    experts.disable("bob")
    last("GET", "/me")
    experts.enable("bob")
    assert last.status == 401
    assert "eds_" not in str(site.owner.labels.audit())


def test_bad_requests_are_one_clear_answer(site: Site) -> None:
    lead = Program(site, "lea")
    for method, path, body, status in (
        ("POST", "/campaigns", {"name": "x", "experts": ["nobody"], "agree": True}, 422),
        ("POST", "/campaigns", {"name": "x", "expert": []}, 422),
        ("POST", "/campaigns", [], 422),
        ("POST", "/pairs", {"pairs": [{"query_id": "ghost", "candidate_id": "gone"}], "agree": True}, 422),
        ("POST", "/webhooks", {"url": "https://127.0.0.1/x"}, 422),
        ("GET", "/votes?limit=0", None, 422),
        ("GET", "/campaigns/none", None, 404),
        ("GET", "/nothing", None, 404),
        ("GET", "/", None, 404),
        ("PUT", "/campaigns", {}, 404),
        ("DELETE", "/webhooks/9", None, 422),
        ("DELETE", "/webhooks/one", None, 404),
        ("DELETE", "/webhooks/²", None, 404),
        ("DELETE", f"/webhooks/{2**63}", None, 404),
        ("GET", f"/votes?after={2**63}", None, 422),
        ("GET", f"/votes?after={'9' * 5000}", None, 422),
    ):
        answer = lead(method, path, body)
        assert (lead.status, bool(answer["error"])) == (status, True), path
    assert lead.client.post("/api/v1/pairs", content=b"{", headers={"Content-Length": "1"}).status_code == 422
    assert lead.client.post("/api/v1/pairs", content=b"x" * 300_000).status_code == 413


def test_the_document_has_every_endpoint_and_its_page_no_script(site: Site) -> None:
    lead = Program(site, "lea")
    document = lead("GET", "/openapi.json")
    assert {(path, method.upper()) for path, methods in document["paths"].items() for method in methods} == {
        (one.path, one.method) for one in ENDPOINTS
    }
    validate(document)
    for name in ("NewPairs", "NewCampaign", "NewWebhook"):
        fields = document["components"]["schemas"][name]["properties"]
        assert [field for field, what in fields.items() if "description" not in what] == []
    names = set(document["components"]["schemas"])
    text = str(document)
    assert all(f"#/components/schemas/{name}" in text for name in names)
    page = lead.client.get("/api/v1")
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    assert all(one.path in page.text for one in ENDPOINTS)
    assert client_for(site).get("/api/v1").status_code == 401, "strangers see nothing"
    assert client_for(site, "ann").get("/api/v1").status_code != 401


def test_a_token_ends_after_its_days(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = Program(site, "ann", days=1)
    program("GET", "/me")
    assert program.status == 200
    store = site.owner.store
    assert store is not None
    now = store.now()
    monkeypatch.setattr(type(store), "now", lambda self: now + 86_401 * 1_000_000)
    program("GET", "/me")
    assert program.status == 401
    assert isinstance(site.owner, Project)
