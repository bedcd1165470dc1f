"""What one server stands: 50 people at one label a second, 32 writers at full speed, 20,000 labels in a row."""

import http.client
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from eds.labels.frames import labels_frame
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch
from tests.browser.annotator import Annotator
from tests.speed.judging.stage import (
    PAIRS,
    chromium,
    cpu_seconds,
    open_campaign,
    pressed,
    resident,
    served,
    told,
)

CLIENTS, WRITERS, SECONDS = 50, 32, 10.0
CROWD = "tests.speed.judging.crowd"


class Person:
    """An expert's browser without the browser: one connection, the cookie, and what the page would send."""

    def __init__(self, annotator: Annotator, name: str) -> None:
        self.name, self.turn = name, 0
        self.port = annotator.port
        self.headers = {
            "Cookie": f"eds_session={annotator.token(name)}",
            "X-EDS": "1",
            "Content-Type": "application/json",
        }
        self.home = f"/api/campaigns/{expert_progress(annotator.store, PAIRS, name).handle}"
        self.numbers = [task.assignment for task in next_batch(annotator.store, PAIRS, name, 10_000)]
        self.connection = http.client.HTTPConnection("127.0.0.1", annotator.port, timeout=30)
        self.bytes = 0

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """One request; anything but 200 is an error."""
        self.connection.request(method, path, body, self.headers)
        answer = self.connection.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {found[:200]!r}")
        self.bytes += len(body or b"") + len(found)
        return found

    def judge(self) -> str:
        """One label; the token that the server confirmed."""
        token = f"{self.name}-{self.turn}"
        number = self.numbers[self.turn % len(self.numbers)]
        act = {
            "token": token,
            "assignment": number,
            "value": self.turn % 2,
            "seconds": 1.0,
            "mode": "pair",
            "guideline": "1",
        }
        self.turn += 1
        content = {"tab": "t", "expert": self.name, "judgements": [act]}
        found = json.loads(self.ask("POST", f"{self.home}/judgements", json.dumps(content).encode()))
        return str(found["stored"][0])

    def look(self) -> None:
        """What a page fetches beside labels: ten pairs ahead, and their pictures (the query's is there already)."""
        tasks = json.loads(self.ask("GET", f"{self.home}/next?count=10"))["tasks"]
        for task in tasks:
            before = self.bytes
            self.ask("GET", f"/pictures/large/{task['candidate']}")
            self.bytes = before


def clients(folder: Path) -> None:
    """50 people at one label a second each; a browser beside them; the server's share of a core."""
    names = [f"expert {number:02d}" for number in range(CLIENTS)]
    with served(folder, ["ann", *names], pairs=1200, size=512) as annotator, chromium() as browser:
        warm_pictures(annotator)
        with annotator.page(browser, "ann", viewport={"width": 1280, "height": 720}) as page:
            open_campaign(page, annotator, PAIRS, "ann", "pair")
            keys = ["s", "d"] * 30
            alone = pressed(page, keys, 300)
            assert annotator.process is not None
            arguments = [sys.executable, "-m", CROWD, str(annotator.project.root), str(annotator.port), "26"]
            crowd = subprocess.Popen(
                arguments, stdout=subprocess.PIPE, text=True
            )  # not in this process: it presses keys
            assert crowd.stdout is not None
            crowd.stdout.readline()
            time.sleep(2)
            before, start = cpu_seconds(annotator.process.pid), time.monotonic()
            among = pressed(page, keys, 300)
            share = (cpu_seconds(annotator.process.pid) - before) / (time.monotonic() - start)
            said = crowd.communicate(timeout=60)[0].strip()
        print(told("browser alone", alone))
        print(told(f"browser among {CLIENTS}", among))
        ratio = np.percentile(among, 95) / np.percentile(alone, 95)
        print(f"  p95 ratio {ratio:.2f} (goal 1.25); server {100 * share:.1f} % of a core (goal 15); {said}")


def writers(folder: Path) -> None:
    """32 writers over HTTP as fast as they can."""
    names = [f"writer {number:02d}" for number in range(WRITERS)]
    with served(folder, names, pairs=1200, size=64) as annotator:
        crowd = subprocess.run(
            [sys.executable, "-m", CROWD, str(annotator.project.root), str(annotator.port), str(SECONDS), "full"],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        print(f"  {crowd.stdout.strip().splitlines()[-1]} (goal 300 labels/s, p95 60 ms)")


def memory(folder: Path) -> None:
    """20,000 labels in a row: memory, bytes and the server's processor time for each."""
    names = [f"writer {number}" for number in range(8)]
    with served(folder, names, pairs=2400, size=64) as annotator:
        people = [Person(annotator, name) for name in names]
        assert annotator.process is not None
        sizes = []
        cpu = cpu_seconds(annotator.process.pid)
        with ThreadPoolExecutor(len(people)) as pool:
            for _ in range(10):
                list(pool.map(lambda one: [one.judge() for _ in range(250)], people))
                sizes.append(resident(annotator.process.pid))
        each = (cpu_seconds(annotator.process.pid) - cpu) / 20_000
        growth = sizes[-1] - sizes[1]
        size = sum(one.bytes for one in people) / 20_000
        print(
            f"  memory after 2,000 .. 20,000 labels: {sizes[0]:.0f} .. {sizes[-1]:.0f} MB; {growth:+.1f} from 4,000 on"
        )
        print(f"  server {1000 * each:.2f} ms of processor a label; {size:.0f} bytes of content")
        stored = labels_frame(annotator.store, campaign=PAIRS)
        print(f"  stored {len(stored):,} of 20,000")


def warm_pictures(annotator: Annotator) -> None:
    """Wait until the pictures are made, as they are some minutes after a server's start."""
    folder = annotator.project.root / ".eds"
    deadline, before = time.monotonic() + 90, -1
    while time.monotonic() < deadline:
        now = sum(1 for _ in folder.rglob("*.webp"))
        if now == before and now > 0:
            return
        before = now
        time.sleep(1.5)
