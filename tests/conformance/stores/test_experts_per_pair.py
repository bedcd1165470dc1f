"""Campaigns that ask each pair of some of the experts: even shares, who leaves hands over, who joins takes over."""

from collections import Counter
from itertools import combinations

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.campaigns import Plan, add_pairs, add_to_panel, create_campaign, leave_panel
from eds.labels.deal import PAGE
from eds.labels.experts import add_expert, disable, enable
from eds.labels.frames import labels_frame, panels
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, submit
from eds.labels.progress import expert_progress
from eds.labels.queue import list_campaigns, next_batch, progress
from eds.labels.schema import assignment
from eds.labels.store import Store
from tests.labels.stores import begin, judge_all, pairs

PANEL = ("ann", "bob", "cid", "dot", "eve")


def asked(store: Store, name: str) -> dict[tuple[str, str], set[str]]:
    """Who is asked each pair, as their queues have it."""
    found: dict[tuple[str, str], set[str]] = {}
    for expert in progress(store, name)["expert"]:
        for task in next_batch(store, name, expert, 10_000):
            found.setdefault((task.query_id, task.candidate_id), set()).add(expert)
    return found


def shares(store: Store, name: str) -> dict[str, int]:
    table = progress(store, name)
    return dict(zip(table["expert"], table["left"], strict=True))


def test_each_pair_is_asked_of_k_experts_evenly_and_every_two_share_pairs(store: Store) -> None:
    name = begin(store, Plan("some", experts_per_pair=2, seed=7), panel=PANEL, queries=30, each=8)
    of = asked(store, name)
    assert len(of) == 240
    assert {len(experts) for experts in of.values()} == {2}
    left = shares(store, name)
    assert max(left.values()) - min(left.values()) <= PAGE
    meetings = Counter(two for experts in of.values() for two in combinations(sorted(experts), 2))
    assert set(meetings) == set(combinations(PANEL, 2))
    by_query: dict[str, set[frozenset[str]]] = {}
    for (query, _), experts in of.items():
        by_query.setdefault(query, set()).add(frozenset(experts))
    assert all(len(groups) == 1 for groups in by_query.values())  # a query's page stays together
    assert panels(store, name).sizes["panel"].tolist() == [2] * 240
    mine = expert_progress(store, name, "ann")
    assert (mine.total, mine.left) == (left["ann"], left["ann"])
    assert list_campaigns(store)["experts_per_pair"].tolist() == [2]


def test_gold_and_repeats_are_asked_of_the_experts_of_their_pairs(store: Store) -> None:
    add_gold(store, pd.DataFrame({"query_id": "q0", "candidate_id": [f"g{n}" for n in range(4)], "value": [1, 0] * 2}))
    plan = Plan("mixed", experts_per_pair=2, gold_share=0.05, repeat_share=0.25)
    name = begin(store, plan, panel=PANEL, queries=10, each=8)
    for expert in PANEL:
        judge_all(store, name, expert)
    labels = labels_frame(store)
    assert labels["kind"].value_counts().to_dict() == {"normal": 160, "repeat": 40, "gold": 8}
    of = {
        kind: part.groupby(["query_id", "candidate_id"])["expert_id"].agg(frozenset)
        for kind, part in labels.groupby("kind")
    }
    assert (of["repeat"] == of["normal"].reindex(of["repeat"].index)).all()
    assert of["gold"].map(len).eq(2).all()


def test_who_leaves_hands_over_what_is_not_judged(store: Store) -> None:
    name = begin(store, Plan("some", experts_per_pair=3), panel=PANEL, queries=20, each=5)
    before = asked(store, name)
    first, *_ = next_batch(store, name, "ann", 10)
    submit(store, "ann", [Judgement("kept", first.assignment, 1)])
    leave_panel(store, name, "ann")
    after = asked(store, name)
    judged = (first.query_id, first.candidate_id)
    assert after.pop(judged) == before.pop(judged) - {"ann"}  # her vote stays
    assert {len(experts) for experts in after.values()} == {3}
    for pair, experts in after.items():
        assert experts >= before[pair] - {"ann"}  # nothing that the others have is taken away
    assert shares(store, name)["ann"] == 0
    left = [count for expert, count in shares(store, name).items() if expert != "ann"]
    assert max(left) - min(left) <= PAGE
    with pytest.raises(InputError, match="'ann' is not on the panel"):
        leave_panel(store, name, "ann")
    for expert in ("bob", "cid"):
        leave_panel(store, name, expert)
    assert {len(experts) for experts in asked(store, name).values()} == {2}  # two are left: they judge everything
    for expert in ("dot", "eve"):
        judge_all(store, name, expert)
    sizes = panels(store, name).sizes
    assert sizes.loc[sizes["panel"] == 3, ["query_id", "candidate_id"]].to_numpy().tolist() == [list(judged)]


def test_who_joins_takes_over_from_the_ends_of_the_queues(store: Store) -> None:
    name = begin(store, Plan("some", experts_per_pair=2), panel=PANEL[:3], queries=120, each=5)
    heads = {expert: [task.assignment for task in next_batch(store, name, expert, 100)] for expert in PANEL[:3]}
    add_expert(store, "dot")
    add_to_panel(store, name, ["dot"])
    assert {len(experts) for experts in asked(store, name).values()} == {2}
    left = shares(store, name)
    assert sum(left.values()) == 1200
    assert max(left.values()) - min(left.values()) <= 2 * PAGE
    for expert, head in heads.items():
        assert [task.assignment for task in next_batch(store, name, expert, 100)] == head
    judge_all(store, name, "dot", batch=500)
    leave_panel(store, name, "bob")
    add_to_panel(store, name, ["bob"])  # comes back: to a share of what is left
    assert {len(experts) for experts in asked(store, name).values()} <= {1, 2}
    open_rows = sa.select(sa.func.count()).where(assignment.c.events == 0)
    assert store.read(lambda c: c.execute(open_rows).scalar()) == sum(shares(store, name).values())
    for expert in PANEL[:3]:
        judge_all(store, name, expert, batch=500)
    assert panels(store, name).sizes["panel"].tolist() == [2] * 600


def test_a_locked_account_hands_over_and_takes_part_again_when_it_is_open(store: Store) -> None:
    name = begin(store, Plan("some", experts_per_pair=2), panel=PANEL[:4], queries=150, each=4)
    before = shares(store, name)
    disable(store, "ann")
    assert {len(experts) for experts in asked(store, name).values()} == {2}
    enable(store, "ann")
    after = shares(store, name)
    assert {len(experts) for experts in asked(store, name).values()} == {2}
    assert sum(after.values()) == sum(before.values())
    assert max(after.values()) - min(after.values()) <= 2 * PAGE
    enable(store, "ann")  # open already: nothing changes
    assert shares(store, name) == after


def test_later_pairs_are_dealt_too_and_early_stop_asks_no_more(store: Store) -> None:
    plan = Plan("some", experts_per_pair=3, early_stop=True, control_share=0.2)
    name = begin(store, plan, panel=PANEL, queries=10, each=4)
    assert add_pairs(store, name, pairs(20, 4)) == 40
    assert {len(experts) for experts in asked(store, name).values()} == {3}
    for expert in PANEL:
        judge_all(store, name, expert)
    votes = labels_frame(store).groupby(["query_id", "candidate_id"]).size()
    assert set(votes) == {2, 3}  # two alike of three are enough, but for control pairs
    assert (votes == 3).sum() >= 16


def test_more_experts_per_pair_than_there_are_is_refused(store: Store) -> None:
    add_expert(store, "ann")
    with pytest.raises(InputError, match="2 experts per pair of a panel of 1"):
        create_campaign(store, Plan("some", experts_per_pair=2), pairs(), ["ann"])
    with pytest.raises(InputError, match="experts_per_pair is 0"):
        create_campaign(store, Plan("some", experts_per_pair=0), pairs(), ["ann"])
    assert list_campaigns(store).empty


def test_a_member_without_a_pair_is_listed(store: Store) -> None:
    name = begin(store, Plan("few", experts_per_pair=1), panel=PANEL[:3], queries=1, each=2)
    table = progress(store, name)
    assert table["expert"].tolist() == list(PANEL[:3])
    assert sorted(table["total"]) == sorted(table["left"]) == [0, 0, 2]
    add_expert(store, "dot")
    add_to_panel(store, name, ["dot"])  # there is nothing to take over
    assert sorted(progress(store, name)["left"]) == [0, 0, 0, 2]
