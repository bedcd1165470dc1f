"""A real annotator process over a small drawn project, for the tests that look at its pages.

    def test_home(browser, annotator):                       # one server for the module's tests
        with annotator.page(browser, "ann") as page:         # signed in as the expert ann, by cookie
            page.goto(annotator.url + "/")
            annotator.store ...                              # the same database, to compare with

`fresh_annotator` is a server of its own for one test, which may be killed and started again. Both belong to
conftest.py. `running(folder, "--base-path", "/eds")` starts one with other options.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from eds import tables
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert, invite
from eds.labels.sessions import sign_in_vouched
from eds.labels.store import Store, open_store
from eds.project import Project
from eds.synthetic.catalogue import draw_catalogue

PASSWORD = "correct horse battery"
PEOPLE = {"ann": "expert", "bob": "expert", "cid": "expert", "lea": "lead", "ada": "administrator"}
PAIRS, GRID = "Dresses in pairs", "Dresses in a grid"  # 150 pairs each, 6 queries
ONE = 1e-6  # a share that makes one pair, which is the least that a grid asks again
START = 30  # seconds that a server may take, on a machine under load


def prepare(folder: Path, *, campaigns: bool = True, labels: str = "") -> Project:
    """A project with 66 drawn images, five people without passwords, and two campaigns of ann, bob and cid.

    Judgements are kept in the project, or in the database `labels`.
    """
    project = Project.create(folder, {"project.name": "Drawn garments", "labels.url": labels})
    images = draw_catalogue(project.image_root, products=30, views=2, wild=6, size=192, workers=1)
    project.write(images, "images", tables.Provenance("drawn for a test"))
    with store_of(project) as store:
        for name, role in PEOPLE.items():
            add_expert(store, name, role)
        if campaigns:
            add_campaign(store, images, Plan(PAIRS, guideline="1"))
            add_campaign(store, images, Plan(GRID, "grid", "similar", guideline="1", repeat_share=ONE))
    return project


def add_campaign(store: Store, images: pd.DataFrame, plan: Plan, *, queries: int = 6, each: int = 25) -> None:
    """A campaign of ann, bob and cid on the first queries, with `each` candidates."""
    wild = images["image_id"].str.startswith("wild")
    asked, shown = images.loc[wild, "image_id"].tolist()[:queries], images.loc[~wild, "image_id"].tolist()
    pairs = [
        (query, shown[(7 * number + place) % len(shown)]) for number, query in enumerate(asked) for place in range(each)
    ]
    create_campaign(store, plan, pd.DataFrame(pairs, columns=["query_id", "candidate_id"]), ["ann", "bob", "cid"])


@contextmanager
def store_of(project: Project) -> Iterator[Store]:
    """The project's store, for the length of a block."""
    store = open_store(project.config.labels.url or project.path("labels"))
    try:
        yield store
    finally:
        store.close()


class Annotator:
    """A server process, and what tests want of it."""

    module = "annotator_ui"  # what is run

    def __init__(self, project: Project, store: Store, options: Sequence[str]) -> None:
        self.project, self.store, self.options = project, store, options
        self.port, self.url = 0, ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the server (on the port of before, if it was started already); back when it is ready."""
        words = [sys.executable, "-m", self.module, "--project", str(self.project.root), "--port", str(self.port)]
        log = (self.project.root / "server.log").open("a")
        self.process = subprocess.Popen([*words, *self.options], stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        deadline, lines = time.monotonic() + START, []
        assert self.process.stdout is not None
        while time.monotonic() < deadline and (line := self.process.stdout.readline()):
            lines.append(line)
            if found := re.search(r"ready: (http://\S+:(\d+)\S*)/", line):
                self.url, self.port = found[1], int(found[2])
                return
        said = (self.project.root / "server.log").read_text()
        pytest.fail(f"the annotator did not start: {''.join(lines)}{said}")

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        """End the server; SIGKILL for the hard way."""
        if self.process is not None:
            self.process.send_signal(with_signal)
            try:
                self.process.wait(15)
            finally:
                self.process.kill()
                self.process.wait()
                if self.process.stdout is not None:
                    self.process.stdout.close()
                self.process = None

    def log(self) -> str:
        """What the server wrote to stderr so far."""
        return (self.project.root / "server.log").read_text()

    def token(self, name: str) -> str:
        """A new session of this person."""
        return sign_in_vouched(self.store, name, by="test")

    def invitation(self, name: str) -> str:
        """An invitation link."""
        return f"{self.url}/invitation/{invite(self.store, name)}"

    def sign_in(self, context: BrowserContext, name: str) -> None:
        """Put a session's cookie into a browser context."""
        path = re.sub(r"^http://[^/]+", "", self.url) or "/"
        context.add_cookies(
            [{"name": "eds_session", "value": self.token(name), "domain": "127.0.0.1", "path": path, "httpOnly": True}]
        )

    @contextmanager
    def page(self, browser: Browser, name: str | None = None, **options: Any) -> Iterator[Page]:
        """A page in a browser context of its own, signed in where a name is given."""
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        try:
            if name is not None:
                self.sign_in(context, name)
            yield context.new_page()
        finally:
            context.close()


@contextmanager
def running(project: Project, *options: str, module: str = Annotator.module) -> Iterator[Annotator]:
    """A server over a project, ended at the end of the block."""
    with store_of(project) as store:
        found = Annotator(project, store, options)
        found.module = module
        try:
            found.start()
            yield found
        finally:
            found.stop()


@pytest.fixture(scope="module")
def annotator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """One server for all tests of a module."""
    with running(prepare(tmp_path_factory.mktemp("annotator") / "shop")) as found:
        yield found


@pytest.fixture
def fresh_annotator(tmp_path: Path) -> Iterator[Annotator]:
    """A server of its own, over a project of its own."""
    with running(prepare(tmp_path / "shop")) as found:
        yield found


def axe_faults(page: Page, *, exclude: Sequence[str] = ()) -> list[str]:
    """What axe-core finds on the page as it stands: rule, impact and the elements."""
    source = Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"
    if "axe" not in page.evaluate("Object.keys(window)"):
        page.evaluate(source.read_text(encoding="utf-8"))
    found = page.evaluate(
        "exclude => axe.run({exclude: exclude.map(one => [one])}, {resultTypes: ['violations']})", list(exclude)
    )
    return [
        f"{one['id']} ({one['impact']}): {[node['target'] for node in one['nodes']]}" for one in found["violations"]
    ]


def foreign_requests(page: Page, own: str) -> list[str]:
    """A list that fills with every request to another host than `own`, from now on."""
    asked: list[str] = []
    host = re.sub(r"^(http://[^/]+).*", r"\1", own)
    page.on(
        "request",
        lambda request: (
            asked.append(request.url)
            if not request.url.startswith((host, host.replace("http", "ws", 1), "data:", "blob:"))
            else None
        ),
    )
    return asked


def is_running(process: int) -> bool:
    """Whether a process is still there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
