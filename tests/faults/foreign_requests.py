"""Requests of programs for the mutations: a good body of every endpoint of the API that takes one."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator_ui.api import routes as api
from annotator_ui.api.endpoints import ENDPOINTS
from annotator_ui.app_state import Options, Site, install
from annotator_ui.auth.middleware import Gate
from eds.errors import EdsError
from eds.io.reading import CONTROL
from eds.labels.guidelines import save_guideline
from eds.project.label_store import keep_open, opened
from tests.faults.mutations import Importer
from tests.project.shops import PAIR, Design, draw_shop, make_project


@cache
def _site() -> tuple[Site, TestClient, list[Any], "TemporaryDirectory[str]"]:
    """A project with a pool, a lead's program that has a token, and two suspects; it goes with the process."""
    folder: TemporaryDirectory[str] = TemporaryDirectory()
    project = make_project(draw_shop(Design(products=12, queries=3, models=2, prevalence=0.1), 1), Path(folder.name))
    project.mine(k=4)
    project.pool(k=1)
    project.experts.add("lea", "lead")
    project.experts.add("ann")
    with opened(project) as store:
        save_guideline(store, "1", "Similar?", [], by="")
    keep_open(project)
    made = Site(project, Options(hosts=frozenset({"testserver"})))
    app = Starlette(routes=api.routes(), middleware=[Middleware(Gate, site=made)])
    token = project.experts.make_token("lea", "test").token
    client = TestClient(app, headers={"Authorization": f"Bearer {token}"})
    return made, client, project.read("suspects")[PAIR].head(2).to_dict(orient="records"), folder


def _bodies() -> dict[str, Any]:
    pairs = _site()[2]
    return {
        "/pairs": {"pairs": pairs, "agree": True},
        "/campaigns": {
            "name": "c",
            "experts": ["ann"],
            "pairs": pairs,
            "origins": ["pool"],
            "undecided": False,
            "limit": 2,
            "mode": "pair",
            "polarity": None,
            "guideline": "1",
            "experts_per_pair": 1,
            "agree": False,
        },
        "/webhooks": {"url": "https://hooks.example.com/x", "events": ["label.written"]},
    }


def _written(path: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "body.json").write_text(json.dumps(_bodies()[path]))
        return folder / "body.json"

    return write


def _sent(path: str) -> Callable[[Path], Any]:
    def send(file: Path) -> Any:
        site, client, _, _ = _site()
        install(site)
        answer = client.post(f"/api/v1{path}", content=file.read_bytes())
        if answer.status_code in (411, 413, 422):
            raise EdsError(str(answer.json()["error"]))
        if answer.status_code == 201 and path == "/webhooks":
            client.delete(f"/api/v1/webhooks/{answer.json()['number']}")
        return answer

    return send


def _bad(answer: Any) -> str:
    if answer.status_code not in (201, 409):
        return f"status {answer.status_code}: {answer.text[:200]}"
    return "control characters" if CONTROL.search(json.dumps(answer.json(), ensure_ascii=False)) else ""


REQUESTS: dict[str, Importer] = {
    f"api {one.path}": Importer(_written(one.path), _sent(one.path), _bad) for one in ENDPOINTS if one.body is not None
}
