"""Campaigns of many tasks are written in portions: others write meanwhile, and nobody sees one that is not complete."""

import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import schema
from eds.labels.campaigns import Plan, add_to_panel, create_campaign
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame, panels
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import list_campaigns, next_batch, progress
from eds.labels.store import Store
from tests.labels.stores import begin, pairs

PANEL = tuple(f"expert {number}" for number in range(12))
MAKE = """
import sys
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.store import open_store
from tests.labels.stores import pairs
panel = [f"expert {number}" for number in range(12)]
create_campaign(open_store(sys.argv[1]), Plan("large", experts_per_pair=int(sys.argv[2]) or None), pairs(30, 30), panel)
"""


def count(store: Store, table: sa.Table) -> int:
    return store.read(lambda connection: int(connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0))


def test_others_judge_while_a_large_campaign_is_made_and_see_none_or_all_of_it(store: Store) -> None:
    name = begin(store, panel=PANEL, queries=10, each=10)
    tasks = [task.assignment for task in next_batch(store, name, PANEL[0], 100)]
    made: list[int] = []
    maker = threading.Thread(target=lambda: made.append(create_campaign(store, Plan("large"), pairs(30, 30), PANEL)))
    maker.start()
    seen, judged = [], 0
    while maker.is_alive():
        if judged < len(tasks):
            submit(store, PANEL[0], [Judgement(f"act {judged}", tasks[judged], 1)])
            judged += 1
        listed = list_campaigns(store).set_index("name")["items"].get("large", 0)
        seen.append((listed, progress(store)["total"].sum()))
    maker.join()
    assert made == [900 * len(PANEL)]
    assert {items for items, _ in seen} <= {0, 900}
    assert {total for _, total in seen} <= {100 * len(PANEL), 1000 * len(PANEL)}
    assert judged > 3  # between portions
    assert len(labels_frame(store)) == judged
    assert progress(store, "large")["left"].tolist() == [900] * len(PANEL)


@pytest.mark.parametrize("of_some", [0, 3])
def test_what_an_interrupted_making_left_is_seen_by_nobody_and_the_same_again_makes_it(
    store: Store, of_some: int
) -> None:
    for name in (*PANEL, "ann", "bob"):
        add_expert(store, name)
    words = [sys.executable, "-c", MAKE, store.url.render_as_string(hide_password=False), str(of_some)]
    with subprocess.Popen(words) as maker:
        while not count(store, schema.assignment) and maker.poll() is None:
            time.sleep(0.005)
        maker.kill()
    assert 0 < count(store, schema.assignment) < 900 * (of_some or len(PANEL))
    assert list_campaigns(store).empty
    assert progress(store).empty
    assert panels(store).sizes.empty
    with pytest.raises(InputError, match="unknown campaign"):
        add_to_panel(store, "large", ["ann"])
    create_campaign(store, Plan("other"), pairs(30, 30), ["bob"])
    plan = Plan("large", experts_per_pair=of_some or None)
    asked = create_campaign(store, plan, pairs(30, 30), PANEL)
    assert asked == 900 * (of_some or len(PANEL))
    assert progress(store, "large")["left"].sum() == asked
    assert count(store, schema.assignment) == asked + 900  # nothing of the interrupted one is left
    assert count(store, schema.item) == 2 * 900
    assert count(store, schema.pair) == 900
    create_campaign(store, Plan("again", experts_per_pair=of_some or None), pairs(30, 30), PANEL)
    first, again = (next_batch(store, name, PANEL[3], 999) for name in ("large", "again"))
    assert [(task.query_id, task.candidate_id) for task in first] == [
        (task.query_id, task.candidate_id) for task in again
    ]


def test_a_rehearsal_counts_and_writes_nothing(store: Store) -> None:
    name = begin(store)
    asked = create_campaign(store, Plan("large"), pairs(20, 20), ["ann", "bob"], rehearse=True)
    assert asked == 800
    assert list_campaigns(store)["name"].tolist() == [name]
    assert count(store, schema.pair) == 12


def test_an_expert_who_joins_a_large_campaign_is_asked_all_of_it(store: Store) -> None:
    for name in ("ann", "bob"):
        add_expert(store, name)
    create_campaign(store, Plan("large"), pairs(40, 40), ["ann"])
    add_to_panel(store, "large", ["bob"])
    tasks = next_batch(store, "large", "bob", 2000)
    assert len({(task.query_id, task.candidate_id) for task in tasks}) == len(tasks) == 1600
    assert panels(store).sizes["panel"].eq(2).all()
