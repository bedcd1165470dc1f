"""What other stages ask of the store: panels, controls, known pairs, and whether there is anything new."""

from pathlib import Path

import pandas as pd

from eds.labels.backup import back_up, restore
from eds.labels.campaigns import Plan, add_to_panel, create_campaign, leave_panel
from eds.labels.experts import add_expert, disable
from eds.labels.fingerprints import fingerprint, holds_acts
from eds.labels.frames import control_pairs, gold_pairs, panels
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from tests.labels.stores import begin, judge_all, pairs


def test_panels_are_those_who_answered_and_those_who_still_will(store: Store) -> None:
    name = begin(store, queries=1, each=3)
    sizes = {"c0-0": 3, "c0-1": 3, "c0-2": 3}

    def found(campaign: str | None = None) -> dict[str, int]:
        sizes = panels(store, campaign).sizes
        return {
            row["candidate_id"]: row["panel"]
            for row in sizes[sizes["campaign"] == (campaign or name)].to_dict("records")
        }

    assert found() == found(name) == sizes
    tasks = {task.candidate_id: task.assignment for task in next_batch(store, name, "ann", 9)}
    submit(store, "ann", [Judgement("a0", tasks["c0-0"], 1)])
    for token in ("f1", "f2"):
        flag_task(store, "ann", tasks["c0-1"], "", token)
    assert found() == {**sizes, "c0-1": 2}  # flagged twice: nobody waits for ann there
    leave_panel(store, name, "ann")
    assert found() == {"c0-0": 3, "c0-1": 2, "c0-2": 2}
    disable(store, "bob")
    assert found() == {"c0-0": 2, "c0-1": 1, "c0-2": 1}
    create_campaign(store, Plan("second"), pairs(1, 1), ["cid"])
    assert found("second") == {"c0-0": 1}
    assert len(panels(store).sizes) == 4  # a pair has a row for each campaign that asks it


def test_experts_who_join_later_are_a_wave_of_their_own(store: Store) -> None:
    name = begin(store, queries=1, each=2)
    for person in ("dot", "eve"):
        add_expert(store, person)
    add_to_panel(store, name, ["eve"])  # nobody has judged yet
    assert set(panels(store, name).members["wave"]) == {0}
    leave_panel(store, name, "eve")
    judge_all(store, name, "ann")
    add_to_panel(store, name, ["dot"])
    found = panels(store, name)
    assert sorted(found.members[["expert_id", "wave"]].to_numpy().tolist()) == [
        ["ann", 0],
        ["bob", 0],
        ["cid", 0],
        ["dot", 1],
        ["eve", 0],
    ]
    assert found.sizes[["wave", "panel", "stopped"]].to_numpy().tolist() == [[0, 3, 0], [1, 1, 0]] * 2
    leave_panel(store, name, "bob")
    assert found.sizes["panel"].sum() - panels(store, name).sizes["panel"].sum() == 2
    add_to_panel(store, name, ["bob"])  # who comes back is waited for as somebody who joins
    sizes = panels(store, name).sizes
    assert sizes[["wave", "panel"]].to_numpy().tolist() == [[0, 2], [1, 1], [2, 1]] * 2


def test_controls_of_several_campaigns_and_gold(store: Store) -> None:
    begin(store, Plan("all"), queries=1, each=4)
    assert len(control_pairs(store)) == 4
    create_campaign(store, Plan("early", early_stop=True, control_share=0.5), pairs(1, 6), ["ann"])
    early = set(control_pairs(store, "early")["candidate_id"])
    assert len(early) == 3
    assert len(control_pairs(store, "all")) == 4
    assert set(control_pairs(store)["candidate_id"]) == early  # every pair of the other campaign is in this one, too
    gold = pd.DataFrame({"query_id": "q0", "candidate_id": ["g0", "g1"], "value": [1, 0]})
    add_gold(store, gold)
    assert gold_pairs(store).to_numpy().tolist() == gold.to_numpy().tolist()


def test_the_fingerprint_tells_acts_and_nothing_else(store: Store, tmp_path: Path) -> None:
    url = store.url.render_as_string(hide_password=False)
    assert not holds_acts(url, tmp_path / "no.db")
    name = begin(store)
    empty = fingerprint(store)
    assert not holds_acts(url, tmp_path / "no.db")
    first, second = next_batch(store, name, "ann", 2)
    seen = {empty}
    for token, number in (("a", first.assignment), ("b", first.assignment), ("c", second.assignment)):
        submit(store, "ann", [Judgement(token, number, 1)])
        assert fingerprint(store) not in seen
        seen.add(fingerprint(store))
    last = fingerprint(store)
    add_expert(store, "dot")
    flag_task(store, "ann", first.assignment, "", "f")
    assert fingerprint(store) == last
    assert holds_acts(url, tmp_path / "no.db")
    back_up(store, tmp_path / "b.zip")
    restore(tmp_path / "b.zip", tmp_path / "moved.db")
    moved = open_store(tmp_path / "moved.db")
    assert fingerprint(moved) == last  # the same labels, wherever they are
    moved.close()
