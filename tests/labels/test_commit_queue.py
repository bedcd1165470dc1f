"""Writers that share a commit: each gets its own answer, nobody is told "stored" before, a failure stays its own."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from eds.errors import ProjectError
from eds.labels.commit_queue import CommitQueue
from eds.labels.schema import expert
from eds.labels.store import Store
from tests.labels.stores import fresh_store


def add(name: str) -> "sa.Insert":
    return sa.insert(expert).values(name=name, role="expert", created_at=1)


def names(store: Store) -> set[str]:
    return set(store.read(lambda c: c.execute(sa.select(expert.c.name)).scalars().all()))


def together(store: Store, actions: "list[object]") -> list[object]:
    """Run the actions in one commit: they come while the first writer is held up."""
    queue, entered, go = CommitQueue(), threading.Event(), threading.Event()

    def hold(_: sa.Connection) -> None:
        entered.set()
        go.wait(10)

    def attempt(action: object) -> object:
        try:
            return queue.run(store._writer, action)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - it is the answer
            return error

    with ThreadPoolExecutor(len(actions) + 1) as pool:
        first = pool.submit(attempt, hold)
        entered.wait(10)
        rest = []
        for number, action in enumerate(actions):
            rest.append(pool.submit(attempt, action))
            while len(queue._waiting) <= number:
                pass
        go.set()
        assert first.result() is None
        return [one.result() for one in rest]


def test_each_gets_its_own_answer_and_failures_undo_only_themselves(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        commits: list[object] = []
        sa.event.listen(store._writer, "commit", commits.append)

        def broken(connection: sa.Connection) -> None:
            connection.execute(add("half"))
            raise ValueError("mine alone")

        told = together(
            store,
            [
                lambda c: c.execute(add("a")).rowcount,
                broken,
                lambda c: c.execute(add("a")).rowcount,
                lambda c: c.execute(add("b")).rowcount + 41,
            ],
        )
        assert (told[0], str(told[1]), type(told[2]), told[3]) == (1, "mine alone", sa.exc.IntegrityError, 42)
        assert names(store) == {"a", "b"}
        assert len(commits) == 2  # the one that held the queue, and one for all the others


def test_what_the_database_undid_is_done_again_one_by_one(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        told = together(
            store,
            [
                lambda c: c.execute(add("a")).rowcount,
                lambda c: c.exec_driver_sql("SELECT * FROM nothing"),
                lambda c: c.execute(add("b")).rowcount,
            ],
        )
        assert (told[0], type(told[1]), told[2]) == (1, sa.exc.OperationalError, 1)
        assert names(store) == {"a", "b"}


def test_a_commit_that_fails_is_told_to_everybody(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:

        def fail(_: sa.Connection) -> None:
            if threading.current_thread().name != "quiet":
                raise ProjectError("the disk is gone")

        held = [lambda c: c.execute(add("a")).rowcount, lambda c: c.execute(add("b")).rowcount]
        sa.event.listen(store._writer, "commit", fail)
        with pytest.raises(ProjectError):
            store.write(lambda c: c.execute(add("alone")))
        assert all(isinstance(_told(store, action), ProjectError) for action in held)
        sa.event.remove(store._writer, "commit", fail)
        assert names(store) == set()


def _told(store: Store, action: object) -> object:
    try:
        return store.write(action)  # type: ignore[arg-type]
    except ProjectError as error:
        return error
