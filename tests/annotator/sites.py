"""A small site for tests in one process: our own routes behind the gate, without Streamlit and without a server."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from annotator_ui import health, icon, pictures, reports
from annotator_ui.app_state import Options, Site, install
from annotator_ui.auth import accounts
from annotator_ui.auth.middleware import Gate
from annotator_ui.looking import routes as looking
from annotator_ui.sending import routes as sending
from eds import tables
from eds.labels.experts import accept, add_expert, invite
from eds.labels.store import Store, open_store
from eds.project import Project
from eds.project.label_store import keep_open

PASSWORD = "correct horse battery"
PEOPLE = {"ann": "expert", "bob": "expert", "lea": "lead", "ada": "administrator"}
NAME = "<script>alert(1)</script> & Shop"
PAGE = {"Accept": "text/html"}


@contextmanager
def fresh_site(folder: Path, options: Options | None = None) -> Iterator[Site]:
    """A copy of a project with five pictures and four people, installed as the site."""
    shutil.copytree(Path(_template().name) / "shop", folder / "shop")
    project = Project.open(folder / "shop")
    with closing(project):
        keep_open(project)
        site = Site(project, replace(options or Options(), hosts=frozenset({"testserver"})))
        install(site)
        with closing(site):
            yield site


def store_of(project: Project) -> Store:
    """The label store that the site keeps open."""
    assert project.store is not None
    return project.store


@cache
def _template() -> "TemporaryDirectory[str]":
    """The project that every test gets a copy of; it goes with the process."""
    folder: TemporaryDirectory[str] = TemporaryDirectory()
    project = Project.create(Path(folder.name) / "shop", {"project.name": NAME})
    project.write(_pictures(project.image_root), "images", tables.Provenance("test"))
    store = open_store(project.path("labels"))
    for person, role in PEOPLE.items():
        add_expert(store, person, role)
        accept(store, invite(store, person), PASSWORD)
    store.close()
    return folder


def client_for(site: Site, who: str | None = None, *, address: str = "10.1.1.1", **options: Any) -> TestClient:
    """A browser that talks to the site from an address, signed in where a name is given."""
    base = site.base
    routes = [
        *health.routes(base),
        *accounts.routes(base),
        *pictures.routes(base),
        *reports.routes(base),
        *looking.routes(base),
        *sending.routes(base),
        *icon.routes(base),
        WebSocketRoute(f"{base}/_stcore/stream", _socket),
        Route(f"{base}/{{rest:path}}", _seen, methods=["GET", "POST", "PUT", "DELETE"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Gate, site=site)])
    client = TestClient(app, client=(address, 4000), follow_redirects=False, **options)
    if who is not None:
        token = site.owner.experts.sign_in_vouched(who, by="test")
        for name in ("eds_session", "__Host-eds_session"):  # the latter over https
            client.cookies.set(name, token, domain="testserver.local")
    return client


async def _seen(request: Request) -> Response:
    """What a route behind the gate sees."""
    viewer, client = request.scope.get("eds.viewer"), request.scope["eds.client"]
    return JSONResponse(
        {
            "viewer": None if viewer is None else [viewer.name, viewer.role],
            "address": client.address,
            "https": client.https,
            "headers": dict(request.headers),
        }
    )


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_json(
        {"session": socket.headers.getlist("x-eds-session"), "name": socket.scope["eds.viewer"].name}
    )
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        await socket.send_bytes(message["bytes"])


def _pictures(root: Path) -> pd.DataFrame:
    """Five pictures: a large JPEG, a transparent PNG, one with a box, a damaged one, a missing one."""
    root.mkdir()
    Image.radial_gradient("L").resize((3000, 2000)).convert("RGB").save(root / "large.jpg", quality=60)
    Image.new("RGBA", (200, 100), (255, 0, 0, 0)).save(root / "clear.png")
    halves = Image.new("RGB", (400, 400), (0, 0, 255))
    halves.paste((0, 255, 0), (200, 0, 400, 400))
    halves.save(root / "halves.png")
    (root / "damaged.jpg").write_bytes(b"\xff\xd8no picture")
    rows = [
        ("model-x/large", "large.jpg", None),
        ("model-x/clear", "clear.png", None),
        ("model-x/right half", "halves.png", (200, 0, 400, 400)),
        ("model-x/damaged", "damaged.jpg", None),
        ("model-x/missing", "missing.jpg", None),
    ]
    frame = pd.DataFrame(rows, columns=["image_id", "path", "box"])
    for place, edge in enumerate(("box_left", "box_top", "box_right", "box_bottom")):
        frame[edge] = pd.array([None if box is None else box[place] for box in frame["box"]], dtype="Int64")
    digests = [f"{number:064x}" for number in range(len(frame))]
    empty = pd.array([None] * len(frame), dtype="Int64")
    return frame.drop(columns="box").assign(
        product_id=frame["image_id"], category=None, role="both", phase=None, width=empty, height=empty, sha256=digests
    )
