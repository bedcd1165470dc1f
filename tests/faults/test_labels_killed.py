"""Writers killed with -9 under load from 8 processes: no acknowledged label lost, none doubled, database intact.

EDS_FAULT_KILLS sets how many are killed on each database (10; the full run is 50).
"""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from eds.errors import EdsError
from eds.labels.campaigns import Plan
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from tests import postgres
from tests.labels.stores import begin

KILLS = int(os.environ.get("EDS_FAULT_KILLS", "10"))
WRITERS = 8
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.faults.test_labels_killed"])


def write(url: str, expert: str, acknowledged: str) -> None:
    """Judge for ever; note each token once the store has said that it is kept."""
    store = open_store(url)
    number = 0
    with Path(acknowledged).open("a", buffering=1) as notes:
        while tasks := next_batch(store, "load", expert, random.randint(1, 4)):
            batch = [Judgement(f"{expert}/{os.getpid()}/{number + i}", t.assignment, 1) for i, t in enumerate(tasks)]
            submit(store, expert, batch)
            notes.write("".join(f"{one.token}\n" for one in batch))
            number += len(batch)
    Path(acknowledged).with_suffix(".done").touch()  # everything is judged: a writer that ends otherwise has failed
    while True:
        time.sleep(1)


def start(url: str, expert: str, folder: Path) -> BaseProcess:
    process = CONTEXT.Process(target=write, args=(url, expert, str(folder / f"{expert}.txt")), daemon=True)
    process.start()
    return process


def kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def noted(folder: Path) -> list[str]:
    """Tokens of whole lines: a line that the kill cut was not yet believed by anybody."""
    return [
        line
        for path in folder.glob("*.txt")
        for line in path.read_text().splitlines(keepends=False)
        if line.count("/") == 2
    ]


def verify(store: Store, folder: Path) -> int:
    frame = labels_frame(store)
    tokens = noted(folder)
    missing = set(tokens) - set(frame["label_id"])
    notes = [path.read_text() for path in folder.glob("*.txt")]
    torn = {text.splitlines()[-1] for text in notes if text and not text.endswith("\n")}
    assert missing <= torn
    assert not frame.duplicated(["query_id", "candidate_id", "expert_id"]).any()  # nothing was asked twice
    assert frame["supersedes"].isna().all()
    events = store.read(lambda c: c.exec_driver_sql("SELECT SUM(events) FROM assignment").scalar())
    assert events == len(frame)
    if store.sqlite:
        assert store.read(lambda c: c.exec_driver_sql("PRAGMA integrity_check").scalar()) == "ok"
        assert store.read(lambda c: c.exec_driver_sql("PRAGMA foreign_key_check").first()) is None
    return len(tokens)


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    made = postgres.Server()  # durable: it is going to be hurt
    yield made
    made.remove()


def wait_for(folder: Path, count: int, running: dict[str, BaseProcess]) -> None:
    """Until so many judgements are acknowledged; writers that all ended would be waited for in vain."""
    while len(noted(folder)) < count:
        assert any(process.is_alive() for process in running.values())
        time.sleep(0.05)


def killing(store: Store, url: str, folder: Path) -> None:
    experts = tuple(f"e{i}" for i in range(WRITERS))
    begin(store, Plan("load"), panel=experts, queries=max(80, 8 * KILLS), each=50)
    chance = random.Random(0)
    running = {expert: start(url, expert, folder) for expert in experts}
    wait_for(folder, 100, running)
    for turn in range(KILLS):
        time.sleep(chance.uniform(0.02, 0.3))
        victim = chance.choice(experts)
        kill(running[victim])
        running[victim] = start(url, victim, folder)
        if turn % 10 == 0:  # readers go on meanwhile, and see what was acknowledged
            acknowledged = len(noted(folder))
            assert len(labels_frame(store)) >= acknowledged > 0
    time.sleep(0.3)
    assert not list(folder.glob("*.done"))  # the load never ended
    for process in running.values():
        kill(process)
    assert verify(store, folder) > 100
    submit(store, "e0", [Judgement("after", next_batch(store, "load", "e0")[0].assignment, 0)])


def test_writers_of_sqlite(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'labels.db'}"
    store = open_store(url)
    killing(store, url, tmp_path)
    store.close()


def test_writers_of_postgresql(server: postgres.Server, tmp_path: Path) -> None:
    with postgres.database(server.url) as url:
        store = open_store(url)
        killing(store, url, tmp_path)
        store.close()


def test_postgresql_stopped_killed_and_started_again_under_load(server: postgres.Server, tmp_path: Path) -> None:
    with postgres.database(server.url) as url:
        store = open_store(url)
        experts = tuple(f"e{i}" for i in range(WRITERS))
        begin(store, Plan("load"), panel=experts, queries=100, each=50)
        running = {expert: start(url, expert, tmp_path) for expert in experts}
        for how in ("fast", "immediate", "kill"):
            before = len(noted(tmp_path))
            wait_for(tmp_path, before + 50, running)
            if how == "kill":
                server.kill()
            else:
                server.stop(how)
            time.sleep(0.3)
            server.start()
            stopped = len(noted(tmp_path))
            deadline = time.monotonic() + 20
            while len(noted(tmp_path)) < stopped + 50 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(noted(tmp_path)) >= stopped + 50, how  # they waited, and went on
            assert all(process.is_alive() for process in running.values()), how
        for process in running.values():
            kill(process)
        assert verify(store, tmp_path) > 300
        # Whoever has no patience is told clearly, and nothing half is there.
        hasty = Store(store.url, patience=0.3)
        task = next_batch(store, "load", "e0")[0]
        server.stop("immediate")
        with pytest.raises(EdsError, match="cannot be reached"):
            submit(hasty, "e0", [Judgement("lost", task.assignment, 1)])
        server.start()
        submit(store, "e0", [Judgement("lost", task.assignment, 1)])
        assert "lost" in set(labels_frame(store)["label_id"])
        hasty.close()
        store.close()
