"""What leads and other stages ask of the store, on every database: flags, decisions, panels, what is new."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels.adjudication import adjudicate, adjudications
from eds.labels.audit import read_audit
from eds.labels.backup import back_up, restore
from eds.labels.campaigns import Plan, add_gold, create_campaign, leave_panel
from eds.labels.events import Judgement, flag_task, submit
from eds.labels.experts import add_expert, disable
from eds.labels.fingerprints import fingerprint, holds_acts
from eds.labels.flags import open_flags, resolve_flag
from eds.labels.frames import control_pairs, gold_pairs, labels_frame, panel_sizes
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store, open_store
from eds.labels.transfer import export_votes
from tests.labels.stores import BACKENDS, begin, fresh_store, judge_all, pairs


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def test_open_flags_are_listed_with_the_answer_and_resolved_once(store: Store) -> None:
    name = begin(store)
    first, second = next_batch(store, name, "ann", 2)
    submit(store, "ann", [Judgement("a", first.assignment, 0)])
    flag_task(store, "ann", first.assignment, "cut off", "f1")
    flag_task(store, "ann", second.assignment, "", "f2")
    found = open_flags(store)
    assert found[["campaign", "expert", "reason", "judged"]].to_numpy().tolist() == [
        [name, "ann", "cut off", True],
        [name, "ann", "", False],
    ]
    assert found["candidate_id"].tolist() == [first.candidate_id, second.candidate_id]
    assert found["value"].fillna(-1).tolist() == [0, -1]
    assert open_flags(store, "none").empty
    number = int(found["flag"][0])
    assert resolve_flag(store, number, by="lea")
    assert not resolve_flag(store, number, by="max")
    assert open_flags(store, name)["flag"].tolist() == found["flag"].tolist()[1:]
    last = read_audit(store).iloc[-1]
    assert (last["actor"], last["act"], last["subject"]) == ("lea", "resolve flag", str(number))
    assert json.loads(last["detail"]) == {"again": False}
    assert progress(store).set_index("expert").loc["ann", "flagged"] == 1
    assert len(labels_frame(store)) == 1
    for wrong in (0, -1, 10**9, 2**64):
        with pytest.raises(InputError, match="there is no flag"):
            resolve_flag(store, wrong, by="lea")


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_task_that_was_flagged_twice_can_be_asked_again(store: Store, early_stop: bool) -> None:
    name = begin(store, Plan("f", early_stop=early_stop, control_share=1e-9), queries=1, each=2)
    control = set(control_pairs(store, name)["candidate_id"]) if early_stop else set()
    task = next(task for task in next_batch(store, name, "ann", 9) if task.candidate_id not in control)
    for token in ("f1", "f2"):
        flag_task(store, "ann", task.assignment, "broken", token)
    assert task.assignment not in [one.assignment for one in next_batch(store, name, "ann", 9)]
    first, second = open_flags(store)["flag"].tolist()
    assert resolve_flag(store, first, by="lea")
    assert task.assignment not in [one.assignment for one in next_batch(store, name, "ann", 9)]
    if early_stop:  # the others agree meanwhile: nothing is left to ask
        for expert in ("bob", "cid"):
            judge_all(store, name, expert)
    assert resolve_flag(store, second, by="lea", again=True)
    asked = [one.assignment for one in next_batch(store, name, "ann", 9)]
    assert (task.assignment in asked) == (not early_stop)


def test_a_leads_decision_is_kept_beside_the_votes(store: Store, tmp_path: Path) -> None:
    name = begin(store)
    for person, role in (("lea", "lead"), ("max", "administrator")):
        add_expert(store, person, role)
    for expert in ("ann", "bob"):
        judge_all(store, name, expert, 1)
    votes, sizes, before = labels_frame(store), panel_sizes(store), fingerprint(store)
    assert not adjudicate(store, name, "q0", "c0-1", 0, by="lea", token="l1", note="other sleeves").already
    assert adjudicate(store, name, "q0", "c0-1", 0, by="lea", token="l1").already
    adjudicate(store, name, "q1", "c1-0", 1, by="lea", token="l2")
    now = datetime.now(UTC)
    adjudicate(store, name, "q1", "c1-0", 0, by="max", token="l3")  # the last word counts
    adjudicate(store, name, "q2", "c2-0", 0, by="max", token="l4")
    adjudicate(store, name, "q2", "c2-0", None, by="max", token="l5")  # taken back
    assert labels_frame(store).equals(votes)
    assert panel_sizes(store).equals(sizes)
    assert export_votes(store, tmp_path / "v.csv") == len(votes)
    assert fingerprint(store) != before
    found = adjudications(store)
    assert found[["campaign", "query_id", "candidate_id", "value", "expert", "note"]].to_numpy().tolist() == [
        [name, "q0", "c0-1", 0, "lea", "other sleeves"],
        [name, "q1", "c1-0", 0, "max", ""],
    ]
    assert adjudications(store, name).equals(found)
    assert adjudications(store, "none").empty
    assert adjudications(store, as_of=now)["value"].tolist() == [0, 1]
    own = labels_frame(store, campaign=f"{name} (adjudicated)")
    assert own["label_id"].tolist() == ["l1", "l2", "l3", "l4", "l5"]
    assert own["supersedes"].dropna().tolist() == ["l4"]
    assert next_batch(store, f"{name} (adjudicated)", "lea") == []


def test_only_leads_decide_and_only_what_is_asked(store: Store) -> None:
    name = begin(store)
    add_expert(store, "lea", "lead")
    wrong = (
        ({"by": "ann"}, "'ann' is expert, not lead"),
        ({"by": "eve"}, "no expert 'eve'"),
        ({"candidate_id": "c9"}, "does not ask"),
        ({"campaign_name": "none"}, "does not ask"),
        ({"value": True}, "value is True"),
        ({"token": "a\0"}, "NUL"),
        ({"note": "x" * 10_001}, "bytes"),
    )
    usual = {"campaign_name": name, "query_id": "q0", "candidate_id": "c0-1", "value": 1, "by": "lea", "token": "t"}
    for change, told in wrong:
        with pytest.raises(InputError, match=told):
            adjudicate(store, **{**usual, **change})  # type: ignore[arg-type]
    adjudicate(store, **usual)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="names another act"):
        adjudicate(store, **{**usual, "value": 0})  # type: ignore[arg-type]
    create_campaign(store, Plan("own"), pairs(), ["ann"])
    create_campaign(store, Plan("own (adjudicated)"), pairs(), ["ann"])
    with pytest.raises(InputError, match="a campaign of its own already"):
        adjudicate(store, **{**usual, "campaign_name": "own", "token": "t2"})  # type: ignore[arg-type]
    disable(store, "lea")
    with pytest.raises(InputError, match="'lea' is disabled"):
        adjudicate(store, **{**usual, "token": "t3"})  # type: ignore[arg-type]
    assert adjudications(store)["label_id"].tolist() == ["t"]


def test_decisions_of_many_at_once_all_stay(store: Store) -> None:
    name = begin(store)
    for place in range(4):
        add_expert(store, f"lead {place}", "lead")

    def work(turn: int) -> None:
        adjudicate(store, name, "q0", "c0-1", turn % 2, by=f"lead {turn % 4}", token=f"t{turn}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    own = labels_frame(store, campaign=f"{name} (adjudicated)")
    assert sorted(own["label_id"]) == sorted(f"t{turn}" for turn in range(24))
    assert own["supersedes"].isna().sum() == 4
    assert len(adjudications(store)) == 1


def test_panels_are_those_who_answered_and_those_who_still_will(store: Store) -> None:
    name = begin(store, queries=1, each=3)
    sizes = {"c0-0": 3, "c0-1": 3, "c0-2": 3}

    def found(campaign: str | None = None) -> dict[str, int]:
        return dict(panel_sizes(store, campaign)[["candidate_id", "panel"]].to_numpy().tolist())

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
    assert found() == {"c0-0": 2, "c0-1": 1, "c0-2": 1}  # cid is one expert, asked in two campaigns


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
