"""What a campaign asks, and who is on its panel, from its first pairs to its end."""

from collections import Counter

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import schema
from eds.labels.campaigns import (
    Plan,
    add_pairs,
    add_to_panel,
    close_campaign,
    create_campaign,
    leave_panel,
)
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store
from tests.labels.stores import begin, judge_all, pairs


def test_pairs_and_experts_that_come_later_and_one_who_leaves(store: Store) -> None:
    name = begin(store)
    before = [task.assignment for task in next_batch(store, name, "ann", 99)]
    judge_all(store, name, "bob")
    assert add_pairs(store, name, pair := pairs(5)) == 8
    assert add_pairs(store, name, pair) == 0
    after = [task.assignment for task in next_batch(store, name, "ann", 99)]
    assert [number for number in after if number in before] == before  # nothing that was handed out moved
    assert len(next_batch(store, name, "bob", 99)) == 8
    add_expert(store, "dot")
    add_to_panel(store, name, ["dot"])
    assert len(judge_all(store, name, "dot")) == 20
    leave_panel(store, name, "ann")
    assert next_batch(store, name, "ann") == []
    add_to_panel(store, name, ["ann"])
    assert [task.assignment for task in next_batch(store, name, "ann", 99)] == after
    close_campaign(store, name)
    assert next_batch(store, name, "ann") == []
    submit(store, "ann", [Judgement("late", after[0], 1)])  # was on its way: an expert's attention is not thrown away
    assert "late" in set(labels_frame(store)["label_id"])


def test_gold_and_repeats_are_mixed_in_at_their_shares(store: Store) -> None:
    add_expert(store, "ann")
    gold = pd.DataFrame({"query_id": "q0", "candidate_id": [f"g{i}" for i in range(9)], "value": [0, 1, 0] * 3})
    assert add_gold(store, gold) == 9
    assert add_gold(store, gold) == 0
    with pytest.raises(InputError, match="was 0"):
        add_gold(store, gold.head(1).assign(value=1))
    with pytest.raises(InputError, match="gold pairs are to be mixed in, 9 are known"):
        create_campaign(store, Plan("too many", gold_share=1.0), pairs(), ["ann"])
    create_campaign(store, Plan("g", gold_share=0.5, repeat_share=0.25), pairs(), ["ann"])
    asked = judge_all(store, "g", "ann")
    frame = labels_frame(store, campaign="g")
    assert frame["kind"].value_counts().to_dict() == {"normal": 12, "gold": 6, "repeat": 3}
    repeats = frame[frame["kind"] == "repeat"]
    for pair in zip(repeats["query_id"], repeats["candidate_id"], strict=True):
        first, second = (place for place, seen in enumerate(asked) if seen == pair)
        assert second > first
    assert frame[frame["kind"] == "gold"]["query_id"].eq("q0").all()
    assert frame["supersedes"].isna().all()  # a repeat is asked anew, it corrects nothing


def test_a_pair_from_two_origins_is_one_question(store: Store) -> None:
    add_expert(store, "ann")
    both = pd.concat([pairs(), pairs(1, origin="random")])
    create_campaign(store, Plan("o"), both, ["ann"])
    rows = store.read(lambda c: c.execute(sa.select(schema.item.c.origin)).scalars().all())
    assert Counter(rows) == {"pool": 8, "pool;random": 4}
