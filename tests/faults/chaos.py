"""Everything at once, in an order drawn by a seed: what was acknowledged to eight clients is stored, once.

    python -m tests.faults.chaos [SECONDS] [sqlite|postgresql] [--seed N]       180 seconds of both, and any seed

The server is killed, the database is killed (PostgreSQL) or its file replaced by a copy (SQLite), the disk is full, the
clock is moved, the network is cut. Clients send every act again, as the page does, until it is answered.
"""

import argparse
import json
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from eds import tables
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch
from eds.labels.sessions import sign_in_vouched
from eds.labels.store import Store, open_store
from eds.project import Project
from eds.synthetic.catalogue import draw_catalogue
from tests.postgres import Server, database
from tests.privileges import small_disk

CLIENTS = [f"client {number}" for number in range(8)]
CAMPAIGN = "chaos"
SETTLED = 60  # seconds in which everything must work again after the last fault


class Relay:
    """The network: a port that passes on to the server, and can be cut."""

    def __init__(self) -> None:
        self.target = 0
        self.cut = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            if self.cut:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            self._open |= {client, server}
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            self._open.discard(one)

    def sever(self) -> None:
        """End every connection as a pulled cable does: answers on their way are lost."""
        self.cut = True
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Listen no more."""
        self.sever()
        self._listener.close()


class World:
    """A server over a project on a small disk, and its database."""

    def __init__(
        self, disk: Path, folder: Path, url: str, server: Server | None, dice: random.Random, products: int
    ) -> None:
        self.disk, self.folder, self.server, self.dice = disk, folder, server, dice
        self.root = (folder if url else disk) / "shop"
        self.relay = Relay()
        self.clock = folder / "clock"
        self.clock.write_text("0")
        self.project = Project.create(self.root, {"project.name": "Chaos", "labels.url": url})
        images = draw_catalogue(self.project.image_root, products=products, views=2, wild=0, size=32, workers=1)
        self.project.write(images, "images", tables.Provenance("drawn for a test"))
        names = images["image_id"].tolist()
        third = len(names) // 3
        pairs = [(a, b) for a in names[:third] for b in names[third:]]
        with closing(self.open()) as store:
            for name in CLIENTS:
                add_expert(store, name)
            frame = tables.SUSPECTS.empty()[["query_id", "candidate_id"]].astype(object)
            frame = frame.reindex(range(len(pairs)))
            frame["query_id"], frame["candidate_id"] = [a for a, _ in pairs], [b for _, b in pairs]
            create_campaign(store, Plan(CAMPAIGN, guideline="1"), frame, CLIENTS)
            self.tokens = {name: sign_in_vouched(store, name, by="test") for name in CLIENTS}
            self.tasks = {
                name: [task.assignment for task in next_batch(store, CAMPAIGN, name, 10_000)] for name in CLIENTS
            }
            self.handle = expert_progress(store, CAMPAIGN, CLIENTS[0]).handle
        self.process: subprocess.Popen[str] | None = None
        self.log = (folder / "server.log").open("a")
        self.start()

    def open(self) -> Store:
        """The store, as another program opens it."""
        return open_store(self.project.config.labels.url or self.project.path("labels"))

    def start(self) -> None:
        """Start the server, with a clock that can be moved; on any port."""
        words = [sys.executable, "-m", "tests.faults.moved_clock", str(self.clock), "--project", str(self.root)]
        deadline = time.monotonic() + SETTLED
        while time.monotonic() < deadline:  # as systemd does: a start that fails (the disk is full) is tried again
            more = ["--port", "0", "--no-prepare", "--json"]
            self.process = subprocess.Popen([*words, *more], stdout=subprocess.PIPE, stderr=self.log, text=True)
            assert self.process.stdout is not None
            if line := self.process.stdout.readline():
                self.relay.target = int(json.loads(line)["address"].rstrip("/").rpartition(":")[2])
                return
            self.kill()
            time.sleep(0.3)
        raise RuntimeError("the server does not start")

    def kill(self) -> None:
        """End the server with -9."""
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    # The faults; each leaves a world that works.

    def server_killed(self) -> None:
        """kill -9, and a start."""
        self.kill()
        self.start()

    def database_killed(self) -> None:
        """PostgreSQL: its first process is killed. SQLite has none; another program holds the file instead."""
        if self.server is not None:
            self.server.kill()
            time.sleep(self.dice.uniform(0, 1))
            self.server.start()
            return
        with closing(sqlite3.connect(self.project.path("labels"), timeout=30, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(self.dice.uniform(0.5, 2))
            other.execute("ROLLBACK")

    def file_replaced(self) -> None:
        """SQLite: a copy of the very file takes its place, as a sync tool does. PostgreSQL: every session is ended."""
        if self.server is not None:
            self.server.stop("fast")
            self.server.start()
            return
        path = self.project.path("labels")
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as source:
            source.execute("BEGIN IMMEDIATE")  # nothing is written between the copy and its coming
            copy = path.with_name("copy.db")
            with closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(copy)) as target:
                reader.backup(target)
            for end in ("-wal", "-shm"):
                path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
                copy.with_name(f"{copy.name}{end}").unlink(missing_ok=True)
            copy.replace(path)

    def disk_filled(self) -> None:
        """No byte is left for a moment."""
        ballast = self.disk / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as stream:
            while stream.write(bytes(1 << 16)):
                pass
        time.sleep(self.dice.uniform(0.3, 1.5))
        ballast.unlink(missing_ok=True)
        if self.server is not None:  # it ends itself when its log cannot grow
            with suppress(subprocess.CalledProcessError):
                self.server.stop("immediate")
            self.server.start()

    def clock_moved(self) -> None:
        """Back by days, or forward by hours."""
        new = self.clock.with_suffix(".new")
        new.write_text(str(self.dice.choice([-86400 * 3, -3600, -5, 0, 60, 7200])))
        new.replace(self.clock)

    def network_cut(self) -> None:
        """Every connection ends, and none can be made for a moment."""
        self.relay.sever()
        time.sleep(self.dice.uniform(0.1, 1))
        self.relay.cut = False

    def close(self) -> None:
        """End what was started."""
        self.kill()
        self.relay.close()
        self.log.close()


FAULTS = ("server_killed", "database_killed", "file_replaced", "disk_filled", "clock_moved", "network_cut")


class Client:
    """An expert's page without the page: an outbox, from which acts go when they are answered with 200."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.acknowledged: list[str] = []
        self.statuses: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._connection: HTTPConnection | None = None

    def run(self, over: threading.Event) -> None:
        """Judge until the end, and hang up."""
        try:
            self._judge(over)
        finally:
            if self._connection is not None:
                self._connection.close()

    def _judge(self, over: threading.Event) -> None:
        """Judge task after task; go on with an act until it is stored, after the end for SETTLED at most."""
        for number, task in enumerate(self.world.tasks[self.name]):
            if over.is_set():
                return
            token, until = f"{self.name.replace(' ', '-')}-{number}", None
            while not self._sent(token, task, number % 2):
                if over.is_set():
                    until = until or time.monotonic() + SETTLED
                    if time.monotonic() > until:
                        self.wrong.append(f"{token} was not stored within {SETTLED} s after the last fault")
                        return
                time.sleep(0.05)
            self.acknowledged.append(token)

    def _sent(self, token: str, task: int, value: int) -> bool:
        act = {"token": token, "assignment": task, "value": value, "seconds": 1.0, "mode": "pair", "guideline": "1"}
        body = json.dumps({"tab": None, "expert": self.name, "judgements": [act]})
        headers = {"Cookie": f"eds_session={self.world.tokens[self.name]}", "X-EDS": "1"}
        try:
            if self._connection is None:
                self._connection = HTTPConnection("127.0.0.1", self.world.relay.port, timeout=40)
            path = f"/api/campaigns/{self.world.handle}/judgements"
            self._connection.request("POST", path, body, headers | {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException) as error:
            self.statuses[type(error).__name__] += 1
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return False
        self.statuses[str(answer.status)] += 1
        if answer.status == 200:
            return bool(json.loads(text)["stored"] == [token])
        if answer.status not in (503,):  # the page would give such an act up, or sign out
            self.wrong.append(f"an act was answered {answer.status} {text[:200]!r}")
        return False


@contextmanager
def world_of(kind: str, dice: random.Random, products: int) -> Iterator[World]:
    """A world on a small disk; of PostgreSQL the log is on it, of SQLite the project."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk("96m" if kind == "postgresql" else "48m"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="eds-chaos-")))
        server, url = None, ""
        if kind == "postgresql":
            server = Server()
            stack.callback(server.remove)
            server.stop()
            subprocess.run(["cp", "-a", server.data / "pg_wal", disk / "log"], check=True)
            shutil.rmtree(server.data / "pg_wal")
            (server.data / "pg_wal").symlink_to(disk / "log")
            server.start()
            url = stack.enter_context(database(server.url))
        world = World(disk, folder, url, server, dice, products)
        stack.callback(world.close)
        yield world


def run(
    kind: str, seconds: float, seed: int, say: Callable[[str], object] = lambda _: None, *, products: int = 60
) -> tuple[int, list[str]]:
    """Chaos for so many seconds; how many acts were acknowledged, and everything that was wrong.

    The square of `products`, nearly, is how many tasks each client has.
    """
    dice = random.Random(f"{seed} {kind}")
    with world_of(kind, dice, products) as world:
        clients, over = [Client(world, name) for name in CLIENTS], threading.Event()
        threads = [threading.Thread(target=one.run, args=(over,)) for one in clients]
        for one in threads:
            one.start()
        begun, done = time.monotonic(), Counter[str]()
        while time.monotonic() - begun < seconds:
            if not done or len(done) == len(FAULTS):
                name = dice.choice(FAULTS)
            else:  # each once before any comes twice
                name = dice.choice([one for one in FAULTS if one not in done])
            time.sleep(dice.uniform(0.2, 1.5))
            say(
                f"{time.monotonic() - begun:6.1f} s  {name}  ({sum(len(one.acknowledged) for one in clients):,} so far)"
            )
            getattr(world, name)()
            done[name] += 1
        over.set()
        for one in threads:
            one.join()
        wrong = [fault for one in clients for fault in one.wrong]
        tokens = [token for one in clients for token in one.acknowledged]
        with closing(world.open()) as store:
            frame = labels_frame(store)  # and its chain of digests holds
        stored = Counter(frame["label_id"])
        wrong += [f"{token} was acknowledged and is not stored" for token in tokens if token not in stored]
        wrong += [f"{token} is stored {times} times" for token, times in stored.items() if times > 1]
        again = frame.duplicated(["query_id", "candidate_id", "expert_id"]).sum()
        wrong += [f"{again} tasks are answered twice"] if again else []
        if world.project.path("labels").exists():
            with closing(sqlite3.connect(world.project.path("labels"))) as file:
                (held,) = file.execute("PRAGMA integrity_check").fetchone()
            wrong += [] if held == "ok" else [f"integrity: {held}"]
        log = (world.folder / "server.log").read_text()
        _, traceback, rest = log.partition("Traceback")
        wrong = [f"a traceback in the server's log: {rest[:6000]}", *wrong] if traceback else wrong
        answers = sum((one.statuses for one in clients), Counter())
        say(f"{kind}: {len(tokens):,} acknowledged, {len(frame):,} stored; {sum(done.values())} faults {dict(done)}")
        say(f"    answers {dict(answers)}; {'everything holds' if not wrong else f'{len(wrong)} WRONG'}")
        return len(tokens), wrong


def main() -> None:
    """Both databases, or the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=180)
    parser.add_argument("kind", choices=["sqlite", "postgresql"], nargs="?")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    say(f"seed {options.seed}")
    faults = []
    for kind in [options.kind] if options.kind else ["sqlite", "postgresql"]:
        faults += run(kind, options.seconds, options.seed, say)[1]
    for fault in list(dict.fromkeys(faults))[:20]:
        say(f"WRONG: {fault}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
