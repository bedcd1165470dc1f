"""Stores for the tests: the same campaign on either database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import argon2
import pandas as pd

from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from tests import postgres

BACKENDS = ("sqlite", "postgresql")


@contextmanager
def fresh_url(kind: str, folder: Path) -> Iterator[str]:
    """The address of a store that does not exist yet."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'labels.db'}"
    else:
        with postgres.database() as url:
            yield url


@contextmanager
def fresh_store(kind: str, folder: Path) -> Iterator[Store]:
    """An empty store."""
    with fresh_url(kind, folder) as url:
        store = open_store(url)
        try:
            yield store
        finally:
            store.close()


def cheap() -> argon2.PasswordHasher:
    """Passwords hashed fast, for tests that are not about the cost."""
    return argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def pairs(queries: int = 3, each: int = 4, origin: str = "pool") -> pd.DataFrame:
    """Pairs of a small pool."""
    names = [(f"q{q}", f"c{q}-{c}") for q in range(queries) for c in range(each)]
    return pd.DataFrame(names, columns=["query_id", "candidate_id"]).assign(origin=origin)


def begin(
    store: Store,
    plan: Plan | None = None,
    *,
    panel: tuple[str, ...] = ("ann", "bob", "cid"),
    queries: int = 3,
    each: int = 4,
) -> str:
    """Make experts and a campaign; its name."""
    plan = plan or Plan("first")
    for name in panel:
        add_expert(store, name)
    create_campaign(store, plan, pairs(queries, each), panel)
    return plan.name


def judge_all(store: Store, campaign: str, expert: str, value: int | None = 1, batch: int = 7) -> list[tuple[str, str]]:
    """Judge until nothing is left; the pairs in the order they were asked."""
    asked, number = [], 0
    while tasks := next_batch(store, campaign, expert, batch):
        submit(
            store,
            expert,
            [Judgement(f"{campaign}/{expert}/{number + i}", task.assignment, value) for i, task in enumerate(tasks)],
        )
        number += len(tasks)
        asked += [(task.query_id, task.candidate_id) for task in tasks]
    return asked
