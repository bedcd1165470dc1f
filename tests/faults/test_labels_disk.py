"""A full disk under PostgreSQL: told clearly, nothing torn, nothing acknowledged lost, and work goes on with new space.

The disk is a small file system in memory, which only root may mount.
"""

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from eds.errors import ProjectError
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import list_campaigns, next_batch
from eds.labels.store import Store, open_store
from tests import postgres
from tests.labels.stores import begin, pairs
from tests.privileges import small_disk

NOISE = random.Random(0)


def batches(store: Store, name: str) -> Iterator[list[Judgement]]:
    """Batches of acts, each of some 350 KB that cannot be compressed."""
    tasks = next_batch(store, name, "ann", 5000)
    for start in range(0, len(tasks), 50):
        part = tasks[start : start + 50]
        yield [Judgement(f"t{t.assignment}", t.assignment, 1, guideline=NOISE.randbytes(3500).hex()) for t in part]


def fill(store: Store, name: str, words: str) -> tuple[list[str], list[Judgement]]:
    """Judge until the disk is full, which must be told in these words; the acknowledged tokens, the refused batch."""
    kept: list[str] = []
    batch: list[Judgement] = []
    with pytest.raises(ProjectError, match=words):  # noqa: PT012 - nobody knows which of many acts it is
        for batch in batches(store, name):
            submit(store, "ann", batch)
            kept += [one.token for one in batch]
    return kept, batch


def test_tables_that_cannot_grow() -> None:
    with small_disk("24m") as disk:
        server = postgres.Server(durable=False)
        try:
            space = disk / "space"
            space.mkdir()
            if server.root:
                shutil.chown(space, server.user)
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
                connection.execute("CREATE DATABASE labels TEMPLATE template0 TABLESPACE small")
            store = open_store(server.url.replace("/postgres?", "/labels?"))
            name = begin(store, queries=100, each=50)
            kept, refused = fill(store, name, "no space is left for the label database")
            assert len(kept) > 100
            assert sorted(labels_frame(store)["label_id"]) == sorted(kept)  # whole batches, and all acknowledged ones
            with pytest.raises(ProjectError, match="no space is left"):
                create_campaign(store, Plan("second"), pairs(400, 50), ["ann", "bob"])
            assert list_campaigns(store)["name"].tolist() == [name]
            subprocess.run(["mount", "-o", "remount,size=96m", disk], check=True)
            submit(store, "ann", refused)
            assert sorted(labels_frame(store)["label_id"]) == sorted([*kept, *(one.token for one in refused)])
            create_campaign(store, Plan("second"), pairs(40, 50), ["ann", "bob"])
            store.close()
        finally:
            server.remove()


def test_a_log_that_cannot_grow_ends_the_server_and_loses_nothing() -> None:
    with small_disk("64m") as disk:
        server = postgres.Server()
        try:
            log = server.data / "pg_wal"
            server.stop()
            subprocess.run(["cp", "-a", log, disk / "log"], check=True)
            shutil.rmtree(log)
            log.symlink_to(disk / "log")
            server.start()
            store = open_store(server.url, patience=2)
            name = begin(store, queries=100, each=50)
            ballast = disk / "ballast"
            with suppress(OSError), ballast.open("wb", buffering=0) as stream:
                while stream.write(bytes(1 << 16)):
                    pass
            kept, refused = fill(store, name, "the database cannot be reached")
            assert len(kept) > 100
            assert "No space left on device" in (server.folder / "log").read_text()
            ballast.unlink()
            with suppress(subprocess.CalledProcessError):
                server.stop("immediate")  # it may have ended by itself
            server.start()
            submit(store, "ann", refused)
            assert sorted(labels_frame(store)["label_id"]) == sorted([*kept, *(one.token for one in refused)])
            store.close()
        finally:
            server.remove()
