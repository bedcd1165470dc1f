"""Many at once lose nothing, double nothing, and leave one order."""

import threading
from concurrent.futures import ThreadPoolExecutor

from eds.errors import EdsError
from eds.labels.campaigns import (
    Plan,
    create_campaign,
)
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import list_campaigns, next_batch
from eds.labels.store import Store
from tests.labels.stores import begin, pairs


def test_many_threads_lose_nothing_and_double_nothing(store: Store) -> None:
    panel = tuple(f"e{i}" for i in range(8))
    name = begin(store, panel=panel, queries=5, each=4)
    acknowledged: list[str] = []
    guard = threading.Lock()

    def work(expert: str) -> None:
        number = 0
        while tasks := next_batch(store, name, expert, 3):
            batch = [Judgement(f"{expert}/{number + i}", task.assignment, i % 2) for i, task in enumerate(tasks)]
            submit(store, expert, batch)
            receipts = submit(store, expert, batch)  # as if the first answer had been lost
            assert all(receipt.already for receipt in receipts)
            number += len(tasks)
            with guard:
                acknowledged.extend(one.token for one in batch)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, panel))
    assert sorted(labels_frame(store)["label_id"]) == sorted(acknowledged)
    assert len(acknowledged) == 8 * 20


def test_the_same_token_from_many_threads_at_once_is_one_act(store: Store) -> None:
    name = begin(store)
    number = next_batch(store, name, "ann")[0].assignment
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: submit(store, "ann", [Judgement("t", number, 1)])[0], range(24)))
    assert [receipt.already for receipt in receipts].count(False) == 1
    assert len(labels_frame(store)) == 1


def test_revisions_from_two_devices_at_once_all_stay_in_one_order(store: Store) -> None:
    name = begin(store, Plan("e", early_stop=True))
    numbers = {expert: [t.assignment for t in next_batch(store, name, expert, 12)] for expert in ("ann", "bob", "cid")}

    def work(job: tuple[str, int]) -> None:
        expert, turn = job
        batch = [Judgement(f"{expert}/{turn}/{n}", n, turn % 2) for n in numbers[expert]]
        submit(store, expert, batch if turn % 2 else batch[::-1])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [(expert, turn) for turn in range(6) for expert in numbers]))
    frame = labels_frame(store)
    assert len(frame) == 3 * 6 * 12
    assert frame["supersedes"].isna().sum() == 36
    assert frame["supersedes"].dropna().is_unique


def test_two_at_once_make_one_expert_and_one_campaign(store: Store) -> None:
    begin(store)

    def attempt(act: int) -> str:
        try:
            if act % 2:
                add_expert(store, "new")
            else:
                create_campaign(store, Plan("new"), pairs(), ["ann"])
        except EdsError as error:
            return str(error)
        return "made"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(attempt, range(8)))
    assert told.count("made") == 2
    assert all("already" in text for text in told if text != "made")
    assert list_campaigns(store)["items"].tolist() == [12, 12]
