"""Webhooks: what is judged arrives once confirmed, signed and in order, whatever fails; never in a private network."""

import ipaddress
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import webhooks as stored
from eds.labels.judgements import Judgement
from eds.labels.schema import webhook
from eds.labels.store import Store
from eds.project import Project, webhook_target
from eds.project.label_store import keep_open
from eds.project.webhook_target import DeliveryError, check_url, is_public, resolve, send, sign, verify
from eds.project.webhooks import Webhooks
from tests.privileges import needed
from tests.project.shops import Design, draw_shop, make_project


@dataclass
class Receiver:
    """A real server that keeps what it gets, and answers as it is asked to."""

    statuses: list[int] = field(default_factory=list)  # of the next answers; then 200
    got: list[tuple[str, str, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                if status == 200:
                    receiver.got.append((self.headers["EDS-Event"], self.headers["EDS-Signature"], body))
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def labels(self) -> list[str]:
        """The ids of the labels that came, in their order."""
        bodies = [json.loads(body) for event, _, body in self.got if event == "label.written"]
        return [label["label_id"] for body in bodies for label in body["labels"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    needed("httpx")
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a campaign of one expert."""
    folder = tmp_path_factory.mktemp("webhooks")
    made = make_project(draw_shop(Design(products=20, queries=6, models=2, prevalence=0.1), 1), folder)
    made.mine(k=8)
    made.pool(k=2)
    made.experts.add("ann")
    made.experts.add("lea", "lead")
    made.campaigns.create("first", ["ann"], limit=3)
    return made.root


@pytest.fixture
def project(template: Path, tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A copy of it that may send to the receiver."""
    made = Project.open(shutil.copytree(template, tmp_path / "shop"))
    made.config = made.config.model_copy(
        update={
            "annotator": made.config.annotator.model_copy(update={"webhook_hosts": (f"127.0.0.1:{receiver.port}",)})
        }
    )
    keep_open(made)
    monkeypatch.setattr(stored, "SETTLED", 0)
    with closing(made):
        yield made


def judge(project: Project, count: int = 1) -> None:
    for task in project.labels.next_tasks("first", "ann", count):
        token = f"{task.assignment}-{time.monotonic_ns()}"
        project.labels.submit("ann", [Judgement(token=token, assignment=task.assignment, value=1, seconds=2.0)])


def later(project: Project, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = Store.now
    monkeypatch.setattr(Store, "now", lambda self: now(self) + round(seconds * 1e6))


def test_labels_arrive_once_in_order_signed_and_the_end_of_a_campaign_too(project: Project, receiver: Receiver) -> None:
    judge(project)
    made = project.webhooks.add(f"http://127.0.0.1:{receiver.port}/hook")
    assert project.webhooks.deliver() == 0, "what was before is not sent"
    judge(project)
    assert project.webhooks.deliver() == 1
    left = project.campaigns.progress("first")["left"].sum()
    judge(project, int(left))
    assert project.webhooks.deliver() == 2
    assert project.webhooks.deliver() == 0
    assert receiver.labels() == project.read("labels")["label_id"].tolist()[1:]
    last = json.loads(receiver.got[-1][2])
    assert (last["event"], last["campaign"]) == ("campaign.finished", "first")
    for _, signature, body in receiver.got:
        assert verify(made.secret, body, signature)
        assert not verify(made.secret, body + b" ", signature)
        assert not verify("another", body, signature)
        assert not verify(made.secret, body, signature, now=time.time() + 301)
    for signature in ("", "t=²,v1=x", "t=" + "9" * 5000, f"t={time.time():.0f},v1=ä"):
        assert not verify(made.secret, body, signature)
    assert made.secret not in str(project.webhooks.list().to_dict())


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_confirmed_comes_again_later(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/hook", ["label.written"])
    receiver.statuses = [status, status]
    judge(project)
    assert project.webhooks.deliver() == 0
    (row,) = project.webhooks.list().to_dict(orient="records")
    assert (row["failures"], row["problem"]) == (1, f"status {status}")
    assert project.webhooks.deliver() == 0, "not before its time"
    assert receiver.statuses == [status]
    later(project, 6, monkeypatch)
    assert project.webhooks.deliver() == 0
    later(project, 11, monkeypatch)
    judge(project)
    assert project.webhooks.deliver() == 1
    assert receiver.labels() == project.read("labels")["label_id"].tolist()
    assert project.webhooks.list()["failures"].tolist() == [0]


def test_a_receiver_that_is_gone_holds_up_nobody(project: Project, receiver: Receiver) -> None:
    receiver.server.shutdown()
    receiver.server.server_close()
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/hook")
    judge(project)
    assert project.webhooks.deliver() == 0
    assert "ConnectError" in project.webhooks.list()["problem"].iloc[0]


def test_an_address_that_may_be_used_no_longer_stops_no_delivery_to_others(
    project: Project, receiver: Receiver
) -> None:
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/hook", ["label.written"])
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/other", ["label.written"])
    store = project.store
    assert store is not None
    for number, url in ((1, "http://127.0.0.1:9/gone"), (2, f"http://127.0.0.1:{receiver.port}/\x00")):
        change = sa.update(webhook).where(webhook.c.id == number).values(url=url)
        store.write(partial(sa.Connection.execute, statement=change))
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/third", ["label.written"])
    judge(project)
    assert project.webhooks.deliver() == 1
    assert project.webhooks.list()["failures"].tolist() == [1, 1, 0]


def test_a_receiver_that_answers_byte_by_byte_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    needed("httpx")
    monkeypatch.setattr(webhook_target, "LONGEST", 1.0)
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not over.wait(0.1):
                connection.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        threading.Thread(target=lambda: drip(listener.accept()[0]), daemon=True).start()
        with pytest.raises(DeliveryError, match="no answer within 1 s"):
            send(f"http://127.0.0.1:{port}/", b"{}", "key", "label.written", [f"127.0.0.1:{port}"])
        over.set()


def test_many_labels_go_in_portions_and_a_claimed_webhook_is_nobody_elses(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_ACTS", 2)
    project.webhooks.add(f"http://127.0.0.1:{receiver.port}/hook", ["label.written"])
    judge(project, 3)
    store = project.store
    assert store is not None
    (claimed,) = stored.claim(store)
    assert stored.claim(store) == []
    assert Webhooks(project)._deliver(store, claimed) == 2
    assert len(receiver.labels()) == 3


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/x",
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://10.0.0.8/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://[64:ff9b::a00:1]/x",
        "https://printer/x",
        "https://db.internal/x",
        "https://user:secret@hooks.example.com/x",
        "ftp://hooks.example.com/x",
        "https://hooks.example.com:port/x",
        "https://hooks.example.com/\x00",
        "https://hooks.example.com/\x1b[31m",
        "https://hooks.example.com/\r\nX: y",
        "https://hooks.example.com/a b",
        "hooks",
        "",
    ],
)
def test_no_webhook_leads_into_a_private_network(url: str) -> None:
    with pytest.raises(InputError):
        check_url(url, ())


def test_a_name_that_leads_to_a_private_address_is_refused_when_it_is_looked_up() -> None:
    with pytest.raises(InputError):
        resolve("localhost", 443, checked=True)
    assert resolve("localhost", 443, checked=False) in ("127.0.0.1", "::1")
    public, private = (
        ("1.1.1.1", "2606:4700::1111"),
        ("192.168.1.1", "100.64.0.1", "fe80::1", "fd00::1", "2002:7f00:1::"),
    )
    assert all(is_public(ipaddress.ip_address(address)) for address in public)
    assert not any(is_public(ipaddress.ip_address(address)) for address in private)


def test_a_signature_is_the_documented_one() -> None:
    """Computed with: printf '7.{}' | openssl dgst -sha256 -hmac key."""
    assert sign("key", b"{}", 7) == "t=7,v1=77bc83bd1f40422311e47918b203449aecf84b02c1568bb1b570ac2a474cc2d8"


def test_only_leads_add_and_remove_webhooks(project: Project, receiver: Receiver) -> None:
    url = f"http://127.0.0.1:{receiver.port}/hook"
    with pytest.raises(InputError):
        project.acting_as("ann", accounts_only=True).webhooks.add(url)
    made = project.acting_as("lea", accounts_only=True).webhooks.add(url)
    with pytest.raises(InputError):
        project.acting_as("ann", accounts_only=True).webhooks.remove(made.number)
    project.acting_as("lea", accounts_only=True).webhooks.remove(made.number)
    with pytest.raises(InputError):
        project.webhooks.remove(made.number)
