"""Whether one person, or a stranger, can hold up those who judge: POST p95 of ten experts at one a second, in one run.

    python -m tests.speed.hardening [--short] [PART ...]      nothing pictures full header connections strangers tasks
                                                             page; all if none is named; short: whether it runs

Every part alternates between quiet seconds and seconds with the attack, so that both see the same noise of other
programs, and says whether what was acknowledged is stored. "nothing" attacks with nothing: how far its ratio is from 1
is how exact the others are. The end is one table; a part that misses its goal is marked, and the program ends
with 1.
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from annotator_ui.app_state import Site
from annotator_ui.pictures import Size as PictureSize
from eds import tables
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert, list_experts
from eds.labels.frames import labels_frame
from eds.labels.store import open_store
from eds.project import Project
from tests.browser.annotator import Annotator, running, store_of
from tests.speed.judging.load import Person
from tests.speed.judging.stage import PAIRS, prepare

GREEDY = "ann"
HEADER = 200_000_000
SETTLE = 2.0  # seconds after an attack that count as neither


@dataclass(frozen=True)
class Size:
    """How much of everything; the tests take less."""

    experts: int = 10
    pace: float = 1.0  # seconds between two judgements of an expert
    rounds: int = 3  # of quiet seconds and busy ones
    quiet: float = 12.0  # seconds
    busy: float = 12.0  # seconds, at least
    pictures: int = 90
    photo: tuple[int, int] = (4000, 3000)
    full: int = 45
    plane: int = 7000
    connections: int = 600
    strangers: int = 20
    pairs: int = 10_000  # of a new campaign
    panel: int = 20


def crowd() -> None:
    """Experts in a process of their own: judge until stdin ends; then the tokens and the milliseconds as JSON."""
    root, port, pace = Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    project, over = Project.open(root), threading.Event()
    with store_of(project) as store:
        annotator = Annotator(project, store, [])
        annotator.port, annotator.url = port, f"http://127.0.0.1:{port}"
        people = [Person(annotator, f"expert {n}") for n in range(int(sys.argv[5]))]
    events: list[tuple[str, float, float]] = []  # token, when, milliseconds

    def work(number: int) -> None:
        due = time.monotonic() + pace * number / len(people)
        while not over.wait(max(due - time.monotonic(), 0)):
            begun = time.monotonic()
            token = people[number].judge()
            events.append((token, begun, 1000 * (time.monotonic() - begun)))
            due = max(due + pace, time.monotonic())

    with ThreadPoolExecutor(len(people)) as pool:
        done = [pool.submit(work, number) for number in range(len(people))]
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        over.set()
        for one in done:
            one.result()
    sys.stdout.write(json.dumps(events))


@dataclass(frozen=True)
class Outcome:
    """POST p95 in ms without and beside the attack, and whether all is stored."""

    quiet: float
    busy: float
    slowest: float
    acknowledged: int
    stored: bool

    @property
    def ratio(self) -> float:
        """Of the two p95."""
        return self.busy / self.quiet


def beside(annotator: Annotator, attack: Callable[[float], object], size: Size) -> Outcome:
    """Experts who judge in quiet seconds and beside an attack, in turns; `attack` is given its seconds."""
    words = ["crowd", str(annotator.project.root), str(annotator.port), str(size.pace), str(size.experts)]
    people = subprocess.Popen(
        [sys.executable, "-m", "tests.speed.hardening", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert people.stdout is not None
    assert people.stdout.readline() == "ready\n"
    attacks, pauses = [], []
    for turn in range(size.rounds + 1):
        time.sleep(SETTLE)
        pauses.append((time.monotonic(), time.monotonic() + size.quiet))
        time.sleep(size.quiet)
        if turn < size.rounds:
            begun = time.monotonic()
            attack(size.busy)
            time.sleep(max(begun + size.busy - time.monotonic(), 0))
            attacks.append((begun, time.monotonic()))
    events = json.loads(people.communicate(timeout=60)[0])
    if people.returncode:
        raise RuntimeError("an expert was refused")

    def within(spans: list[tuple[float, float]]) -> list[float]:
        return [took for _, at, took in events if any(first <= at <= last for first, last in spans)]

    quiet, busy = within(pauses), within(attacks)
    kept = set(labels_frame(annotator.store, campaign=PAIRS)["label_id"])
    stored = {token for token, _, _ in events} <= kept
    p95 = [float(np.percentile(part, 95)) for part in (quiet, busy)]
    return Outcome(p95[0], p95[1], max(busy), len(events), stored)


@contextmanager
def stage(folder: Path, size: Size, *options: str, module: str = Annotator.module) -> Iterator[Annotator]:
    """A server whose pictures are not prepared, and experts."""
    names = [GREEDY, *(f"expert {number}" for number in range(size.experts))]
    project = prepare(folder, names, pairs=1200, size=64)
    with running(project, "--no-prepare", *options, module=module) as annotator:
        yield annotator


def add_pictures(project: Project, file: Path, count: int) -> list[str]:
    """Put a picture so many times into the catalogue; the images' ids."""
    images = project.read("images")
    rows = images.iloc[[0] * count].copy()
    ids = [f"large {number:03d}" for number in range(count)]
    for name in ids:
        (project.image_root / f"{name}{file.suffix}").hardlink_to(file)
    with Image.open(file) as picture:
        width, height = picture.size
    rows = rows.assign(image_id=ids, product_id=ids, path=[f"{name}{file.suffix}" for name in ids])
    rows = rows.assign(width=width, height=height, sha256=None)
    whole = pd.concat([images, rows], ignore_index=True).astype(images.dtypes.to_dict())
    project.write(whole, "images", tables.Provenance("with large pictures"))
    return ids


class Greedy:
    """One person who asks for all of these pictures at once, and again for those refused as too many."""

    def __init__(self, annotator: Annotator, paths: list[str]) -> None:
        self.port, self.left = annotator.port, list(paths)
        self.headers = {"Cookie": f"eds_session={annotator.token(GREEDY)}"}

    def ask(self, seconds: float) -> None:
        """Ask for what is left, and leave after so many seconds."""
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(len(self.left) or 1) as pool:
            done = list(pool.map(lambda path: self._came(path, until), self.left))
        self.left = [path for path, came in zip(self.left, done, strict=True) if not came]

    def _came(self, path: str, until: float) -> bool:
        while (seconds := until - time.monotonic()) > 0:
            with closing(HTTPConnection("127.0.0.1", self.port, timeout=seconds)) as connection:
                try:
                    connection.request("GET", path, headers=self.headers)
                    answer = connection.getresponse()
                    answer.read()
                except TimeoutError:
                    return False
            if answer.status == 200:
                return True
            if answer.status != 503:
                raise RuntimeError(f"{path}: {answer.status}")
            time.sleep(1)
        return False


def greed(annotator: Annotator, file: Path, count: int, picture: PictureSize, size: Size) -> Outcome:
    """One person opens a picture so many times, each time as another image."""
    ids = add_pictures(annotator.project, file, count)
    names = Site(annotator.project).pictures
    greedy = Greedy(annotator, [names.url(GREEDY, one, picture) for one in ids])
    outcome = beside(annotator, greedy.ask, size)
    sys.stdout.write(f"  {count - len(greedy.left)} of {count} pictures came in that time\n")
    return outcome


def pictures(folder: Path, size: Size) -> Outcome:
    """One opens many photos of 12 megapixels that are not prepared."""
    noise = np.random.default_rng(0).integers(0, 255, (size.photo[1] // 4, size.photo[0] // 4, 3), dtype=np.uint8)
    with stage(folder, size) as annotator:
        file = folder / "photo.jpg"
        Image.fromarray(noise).resize(size.photo, Image.Resampling.BICUBIC).save(file, quality=92)
        return greed(annotator, file, size.pictures, "large", size)


def full(folder: Path, size: Size) -> Outcome:
    """One asks for many pictures at full size: PNGs of 49 megapixels in 0.7 MB."""
    with stage(folder, size) as annotator:
        file = folder / "plane.png"
        Image.linear_gradient("L").resize((size.plane, size.plane)).convert("RGB").save(file)
        return greed(annotator, file, size.full, "full", size)


def nothing(folder: Path, size: Size) -> Outcome:
    """No attack at all."""
    with stage(folder, size) as annotator:
        return beside(annotator, lambda _: None, size)


def strangers(folder: Path, size: Size) -> Outcome:
    """Many sign in at once with wrong passwords, from networks of their own, again and again."""
    with stage(folder, size, "--proxy", "127.0.0.1") as annotator:
        statuses: list[int] = []
        turns = count()

        def guess(number: int, until: float) -> None:
            while time.monotonic() < until:
                turn = next(turns)
                headers = {"X-Forwarded-For": f"10.{number}.{turn % 250}.1", "Host": "127.0.0.1"}
                connection = HTTPConnection("127.0.0.1", annotator.port, timeout=60)
                with suppress(OSError, HTTPException):
                    connection.request("GET", "/sign-in", headers=headers)
                    page = connection.getresponse()
                    text = page.read().decode()
                    cookie = (page.headers["Set-Cookie"] or "").split(";")[0]
                    token = text.split('name="token" value="')[1].split('"')[0]
                    body = f"token={token}&name=expert+{number % size.experts}&password=guess{turn}"
                    kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
                    connection.request("POST", "/sign-in", body, headers | kind)
                    answer = connection.getresponse()
                    answer.read()
                    statuses.append(answer.status)
                connection.close()
                time.sleep(1)  # as long as a person needs at least

        def attack(seconds: float) -> None:
            until = time.monotonic() + seconds
            with ThreadPoolExecutor(size.strangers) as pool:
                list(pool.map(lambda number: guess(number, until), range(size.strangers)))

        outcome = beside(annotator, attack, size)
        counts = {status: statuses.count(status) for status in sorted(set(statuses))}
        sys.stdout.write(f"  answers to strangers: {counts}\n")
        return outcome


def make_campaign(file: Path, name: str, pairs: int, panel: int) -> None:
    """A campaign of so many pairs for so many experts of its own."""
    experts = [f"judge {number}" for number in range(panel)]
    rows = np.arange(pairs)
    frame = pd.DataFrame({"query_id": [f"q{row % 200}" for row in rows], "candidate_id": [f"c{row}" for row in rows]})
    with closing(open_store(file)) as store:
        there = set(list_experts(store)["name"])
        for expert in experts:
            if expert not in there:
                add_expert(store, expert)
        create_campaign(store, Plan(name), frame, experts)


def tasks(folder: Path, size: Size, *, module: str = Annotator.module) -> tuple[Outcome, list[float]]:
    """Campaigns of 200,000 tasks are made, one after the other, in a program beside the server or in the server."""
    with stage(folder, size, module=module) as annotator:
        seconds: list[float] = []

        def attack(busy: float) -> None:
            over = time.monotonic() + busy
            while time.monotonic() < over:
                begun, name = time.monotonic(), f"large {len(seconds)}"
                given = [str(annotator.store.path), name, str(size.pairs), str(size.panel)]
                if module == Annotator.module:
                    subprocess.run([sys.executable, "-m", "tests.speed.hardening", "make", *given], check=True)
                else:
                    file = folder / "make"
                    file.with_suffix(".new").write_text(json.dumps(given))
                    file.with_suffix(".new").replace(file)
                    while file.exists():
                        time.sleep(0.05)
                seconds.append(time.monotonic() - begun)

        return beside(annotator, attack, size), seconds


def served_with_maker() -> None:
    """A server that makes the campaign which a file beside its project names, in a thread as a page does."""
    from annotator_ui.__main__ import main as serve

    file = Path(sys.argv[sys.argv.index("--project") + 1]).parent / "make"

    def make() -> None:
        while True:
            time.sleep(0.05)
            if file.exists():
                place, name, pairs, panel = json.loads(file.read_text())
                make_campaign(Path(place), name, int(pairs), int(panel))
                file.unlink()

    threading.Thread(target=make, daemon=True).start()
    serve()


def processor(process: int) -> float:
    """Seconds of processor that all threads of a process have had, to the microsecond."""
    return (
        sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{process}/task").iterdir()) / 1e9
    )


def header(folder: Path, size: Size) -> float:
    """Milliseconds of processor that a header of 200 MB costs."""
    with stage(folder, replace(size, experts=1)) as annotator:
        assert annotator.process is not None
        time.sleep(3)
        idle = processor(annotator.process.pid)
        time.sleep(2)
        idle = processor(annotator.process.pid) - idle
        before, begun = processor(annotator.process.pid), time.monotonic()
        piece, sent = b"a" * 65536, 0
        with suppress(ConnectionError), socket.create_connection(("127.0.0.1", annotator.port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            while sent < HEADER:
                sent += connection.send(piece)
        time.sleep(max(begun + 2 - time.monotonic(), 0))
        return 1000 * (processor(annotator.process.pid) - before - idle)


def connections(folder: Path, size: Size) -> tuple[Outcome, float]:
    """Half-open connections beside experts, and after how many seconds the last of them is gone."""
    with stage(folder, size) as annotator:
        gone: list[float] = []

        def attack(_: float) -> None:
            begun = time.monotonic()
            with ExitStack() as stack:
                lazy = []
                for number in range(size.connections):
                    one = stack.enter_context(socket.create_connection(("127.0.0.1", annotator.port)))
                    one.sendall(b"GET / HTTP/1.1\r\nX:"[: 18 * (number % 2)])
                    lazy.append(one)
                for one in lazy:
                    one.settimeout(60)
                    with suppress(ConnectionError):
                        while one.recv(4096):
                            pass
                gone.append(time.monotonic() - begun)

        return beside(annotator, attack, size), max(gone)


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, what it was held against, and whether it is good."""

    part: str
    measured: str
    goal: str
    good: bool
    more: str = ""

    def __str__(self) -> str:
        verdict = "met" if self.good else "MISSED"
        return f"{self.part:12} {self.measured:58} {self.goal:10} {verdict:7} {self.more}".rstrip()


HEAD = f"{'part':12} {'POST p95 of the experts':58} {'goal':10} {'':7} and"


def judged(part: str, outcome: Outcome, goal: float, more: str = "", *, good: bool = True) -> Row:
    """The line of an outcome."""
    measured = f"{outcome.quiet:.0f} ms quiet, {outcome.busy:.0f} beside it (slowest {outcome.slowest:.0f})"
    measured += f": {outcome.ratio:.2f}x"
    stored = f"{outcome.acknowledged} acknowledged, {'all' if outcome.stored else 'NOT ALL'} stored"
    fine = outcome.ratio <= goal and outcome.stored and good
    return Row(part, measured, f"{goal:g}x", fine, f"{stored}{'; ' if more else ''}{more}")


def part(name: str, folder: Path, size: Size) -> Row:
    """Measure one part."""
    if name == "header":
        cost = header(folder, size)
        return Row(name, f"{cost:.1f} ms of processor for a header of 200 MB", "50 ms", cost < 50)
    if name == "connections":
        outcome, gone = connections(folder, size)
        more = f"{size.connections} half-open connections are gone after {gone:.1f} s (goal 20, and 2 to notice)"
        return judged(name, outcome, 2, more, good=gone < 22)
    if name in ("tasks", "page"):
        outcome, seconds = tasks(folder, size, module=Annotator.module if name == "tasks" else __spec__.name)
        more = f"{size.pairs * size.panel:,} tasks made in {', '.join(f'{one:.1f}' for one in seconds)} s"
        return judged(name, outcome, 2, more)
    if name == "strangers":
        return judged(name, strangers(folder, size), 1.5)
    return judged(name, {"nothing": nothing, "pictures": pictures, "full": full}[name](folder, size), 2)


SHORT = Size(
    experts=4, rounds=1, quiet=3, busy=3, pictures=10, full=4, connections=100, strangers=6, pairs=500, panel=5
)
PARTS = ("nothing", "pictures", "full", "header", "connections", "strangers", "tasks", "page")


def main() -> None:
    """The parts that are named, or all."""
    if sys.argv[1:2] == ["crowd"]:
        crowd()
        return
    if sys.argv[1:2] == ["make"]:
        make_campaign(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    if sys.argv[1:2] == ["--project"]:
        served_with_maker()
        return
    short, names = "--short" in sys.argv, [name for name in sys.argv[1:] if name != "--short"]
    rows = []
    for name in names or PARTS:
        if name not in PARTS:
            sys.exit(f"unknown: {name}; there are {', '.join(PARTS)}")
        folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
        sys.stdout.write(f"{name} ...\n")
        sys.stdout.flush()
        rows.append(part(name, folder, SHORT if short else Size()))
        shutil.rmtree(folder)
    sys.stdout.write("\n".join([HEAD, *map(str, rows)]) + "\n")
    sys.exit(not all(row.good for row in rows))


if __name__ == "__main__":
    main()
