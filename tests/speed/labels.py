"""What the label store stands: 32 writers at once, a queue of 270,850 tasks, exports and imports of many votes.

Both databases, both with durable commits; beside them a bare reference in the same run: one INSERT and one
commit on the same disk, with no queue and no checks. `python -m tests.speed.labels [sqlite|postgresql] [--small]`
"""

import sqlite3
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg

from eds.labels.backup import back_up
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store, open_store
from eds.labels.transfer import export_votes, import_votes
from tests import postgres

WRITERS, SECONDS = 32, 8.0


def pool_pairs(pairs: int, queries: int) -> pd.DataFrame:
    """Distinct pairs with names as long as DeepFashion's paths."""
    number = np.arange(pairs)
    return pd.DataFrame(
        {
            "query_id": [f"img/WOMEN/Sweaters/id_{q:08d}/01_1_front.jpg" for q in number % queries],
            "candidate_id": [f"img/WOMEN/Dresses/id_{c:08d}/02_3_back.jpg" for c in number],
        }
    )


def writers(store: Store, name: str, experts: list[str]) -> float:
    """Everybody judges as fast as they can: next, then submit, one at a time."""
    deadline = time.perf_counter() + SECONDS
    acknowledged: list[list[str]] = []
    waits: list[list[float]] = []

    def work(expert: str) -> None:
        mine: list[str] = []
        took: list[float] = []
        while time.perf_counter() < deadline:
            start = time.perf_counter()
            task = next_batch(store, name, expert, 1)[0]
            submit(store, expert, [Judgement(f"{name}/{expert}/{len(mine)}", task.assignment, len(mine) % 2, 1.5)])
            took.append(time.perf_counter() - start)
            mine.append(f"{name}/{expert}/{len(mine)}")
        acknowledged.append(mine)
        waits.append(took)

    with ThreadPoolExecutor(len(experts)) as pool:
        list(pool.map(work, experts))
    sent = sorted(token for part in acknowledged for token in part)
    stored = sorted(labels_frame(store, campaign=name)["label_id"])
    both = np.concatenate([np.array(part) for part in waits]) * 1000
    rate = len(sent) / SECONDS
    print(
        f"  {len(experts)} writers: {rate:,.0f} durable labels/s (goal 300), next + submit median "
        f"{np.median(both):.1f} ms, p95 {np.percentile(both, 95):.1f} ms (goal 60), "
        f"slowest {both.max():.0f} ms; lost or doubled: {'none' if sent == stored else 'SOME'}"
    )
    return rate


def bare(kind: str, url: str) -> float:
    """Durable rows/s of WRITERS threads that do nothing but insert and commit."""
    deadline = time.perf_counter() + SECONDS / 2
    lock, counts = threading.Lock(), []

    def into_sqlite(_: int) -> None:
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30, isolation_level=None)
        connection.execute("PRAGMA synchronous=FULL")
        count = 0
        while time.perf_counter() < deadline:
            with lock:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO bare VALUES (?)", (count,))
                connection.execute("COMMIT")
            count += 1
        connection.close()
        counts.append(count)

    def into_postgresql(_: int) -> None:
        with psycopg.connect(url) as connection:
            count = 0
            while time.perf_counter() < deadline:
                connection.execute("INSERT INTO bare VALUES (%s)", (count,))
                connection.commit()
                count += 1
        counts.append(count)

    start = time.perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(into_sqlite if kind == "SQLite" else into_postgresql, range(WRITERS)))
    return sum(counts) / (time.perf_counter() - start)


def queue(store: Store, small: bool) -> None:
    """The queue of the paper's catalogue with five experts."""
    frame = pool_pairs(5_417 if small else 54_170, 2000)
    experts = [f"judge {i}" for i in range(5)]
    for expert in experts:
        add_expert(store, expert)
    start = time.perf_counter()
    create_campaign(store, Plan("catalogue"), frame, experts)
    print(f"  campaign of {len(frame):,} pairs x 5 experts made in {time.perf_counter() - start:.1f} s")
    took = []
    for turn in range(300):
        start = time.perf_counter()
        tasks = next_batch(store, "catalogue", experts[turn % 5], 20)
        took.append((time.perf_counter() - start) * 1000)
        submit(store, experts[turn % 5], [Judgement(f"{turn}/{t.assignment}", t.assignment, 1) for t in tasks])
    start = time.perf_counter()
    progress(store, "catalogue")
    print(f"  progress of everybody: {time.perf_counter() - start:.2f} s")
    print(f"  next 20 of it: median {np.median(took):.2f} ms, p95 {np.percentile(took, 95):.2f} ms (goal 10)")


def traffic(store: Store, folder: Path, small: bool) -> None:
    """A million acts in, and the paper's votes out."""
    pairs, votes = (20_000, 100_000) if small else (200_000, 1_000_000)
    frame = pool_pairs(pairs, 2000)
    frame = pd.concat([frame.assign(expert_id=f"voter {i}") for i in range(votes // pairs)], ignore_index=True)
    frame = frame.assign(value=np.arange(len(frame)) % 2, seconds=1.5, session_id="s")
    frame["vote_id"] = [f"vote-{i:09d}" for i in range(len(frame))]
    frame["created_at"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.arange(len(frame)), unit="s")
    start = time.perf_counter()
    import_votes(store, frame, "million", add_missing=True)
    print(f"  import of {len(frame):,} acts: {time.perf_counter() - start:.1f} s (goal 60)")
    paper = frame[frame["candidate_id"].isin(frame["candidate_id"][: 11_822 if small else 118_216])]
    import_votes(store, paper[paper["expert_id"] < "voter 3"].drop(columns="vote_id"), "paper", add_missing=True)
    for ending in ("parquet", "csv", "jsonl"):
        start = time.perf_counter()
        count = export_votes(store, folder / f"votes.{ending}", only="paper")
        print(f"  export of {count:,} acts as {ending}: {time.perf_counter() - start:.2f} s (goal 2)")
    start = time.perf_counter()
    manifest = back_up(store, folder / "backup.zip")
    print(f"  backup of {manifest.labels:,} acts: {time.perf_counter() - start:.1f} s")


def measure(kind: str, url: str, small: bool) -> None:
    """All figures of one database."""
    print(f"{kind}:")
    store = open_store(url)
    queue(store, small)
    experts = [f"writer {i:02d}" for i in range(WRITERS)]
    for expert in experts:
        add_expert(store, expert)
    for count in (1, 8, WRITERS):
        create_campaign(store, Plan(f"load {count}"), pool_pairs(20_000, 1000), experts[:count])
        rate = writers(store, f"load {count}", experts[:count])
    with tempfile.TemporaryDirectory() as folder:
        traffic(store, Path(folder), small)
    store.write(lambda connection: connection.exec_driver_sql("CREATE TABLE bare (number INTEGER)"))
    reference = bare(kind, url)
    print(f"  bare reference, {WRITERS} threads: {reference:,.0f} rows/s; ours / bare = {rate / reference:.2f}")
    store.close()


def main() -> None:
    """Both databases, or the one that is named."""
    small = "--small" in sys.argv
    named = [word for word in sys.argv[1:] if not word.startswith("-")] or ["sqlite", "postgresql"]
    if "sqlite" in named:
        with tempfile.TemporaryDirectory(dir=Path.cwd().anchor + "var/tmp") as folder:
            measure("SQLite", f"sqlite:///{folder}/labels.db", small)
    if "postgresql" in named:
        server = postgres.Server()
        try:
            measure("PostgreSQL", server.url, small)
        finally:
            server.remove()


if __name__ == "__main__":
    main()
