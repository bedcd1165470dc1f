"""Leads' decisions stand beside the votes; only leads decide, and only what is asked."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eds.errors import InputError
from eds.labels.adjudication import adjudicate, adjudications
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert, disable
from eds.labels.fingerprints import fingerprint
from eds.labels.frames import labels_frame, panels
from eds.labels.queue import next_batch
from eds.labels.store import Store
from eds.labels.transfer import export_votes
from tests.labels.stores import begin, judge_all, pairs


def test_a_leads_decision_is_kept_beside_the_votes(store: Store, tmp_path: Path) -> None:
    name = begin(store)
    for person, role in (("lea", "lead"), ("max", "administrator")):
        add_expert(store, person, role)
    for expert in ("ann", "bob"):
        judge_all(store, name, expert, 1)
    votes, sizes, before = labels_frame(store), panels(store).sizes, fingerprint(store)
    assert not adjudicate(store, name, "q0", "c0-1", 0, by="lea", token="l1", note="other sleeves").already
    assert adjudicate(store, name, "q0", "c0-1", 0, by="lea", token="l1").already
    adjudicate(store, name, "q1", "c1-0", 1, by="lea", token="l2")
    now = datetime.now(UTC)
    adjudicate(store, name, "q1", "c1-0", 0, by="max", token="l3")  # the last word counts
    adjudicate(store, name, "q2", "c2-0", 0, by="max", token="l4")
    adjudicate(store, name, "q2", "c2-0", None, by="max", token="l5")  # taken back
    assert labels_frame(store).equals(votes)
    assert panels(store).sizes.equals(sizes)
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
        ({"by": "eve"}, "unknown expert 'eve'"),
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
