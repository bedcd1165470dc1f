"""Acts after the grace period of a closed campaign, or of an expert who left: kept, marked, exported, not counted."""

from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import vote_files
from eds.labels.campaigns import Plan
from eds.labels.expert_activity import expert_acts
from eds.labels.flags import open_flags
from eds.labels.frames import acts_frame, control_pairs, count_late, labels_frame, panels
from eds.labels.judgements import GRACE, Judgement, flag_task, submit, withdraw_flag
from eds.labels.queue import next_batch, progress
from eds.labels.schema import campaign, expert, panel
from eds.labels.store import Store
from eds.labels.transfer import export_votes, import_votes
from tests.labels.stores import begin, fresh_store

NOW = 1_800_000_000_000_000


@pytest.fixture
def at(store: Store, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(store, "now", lambda: NOW)
    return monkeypatch


def end(store: Store, what: str) -> None:
    """Close the campaign, or let ann leave, now."""
    if what == "closed":
        store.write(lambda held: held.execute(sa.update(campaign).values(closed_at=NOW)))
        return
    ann = sa.select(expert.c.id).where(expert.c.name == "ann").scalar_subquery()
    store.write(lambda held: held.execute(sa.update(panel).where(panel.c.expert == ann).values(left_at=NOW)))


@pytest.mark.parametrize("what", ["closed", "left"])
def test_acts_count_within_the_grace_period_and_not_after_it(
    store: Store, at: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    name = begin(store)
    tasks = next_batch(store, name, "ann", 99)
    submit(store, "ann", [Judgement("in time", tasks[0].assignment, 1)])
    end(store, what)
    at.setattr(store, "now", lambda: NOW + GRACE)
    submit(store, "ann", [Judgement("in grace", tasks[1].assignment, 1)])
    before = labels_frame(store), panels(store).sizes
    at.setattr(store, "now", lambda: NOW + GRACE + 10)
    receipts = submit(
        store, "ann", [Judgement("late", tasks[2].assignment, 1), Judgement("turned", tasks[0].assignment, 0)]
    )
    assert [one.already for one in receipts] == [False, False]
    after = labels_frame(store), panels(store).sizes
    pd.testing.assert_frame_equal(after[0], before[0])
    pd.testing.assert_frame_equal(after[1], before[1])
    assert set(acts_frame(store)["label_id"]) == {"in time", "in grace"}
    assert (count_late(store), count_late(store, name)) == (2, 2)
    assert export_votes(store, tmp_path / "v.csv") == 4
    votes = vote_files.read(tmp_path / "v.csv", "csv")
    assert dict(zip(votes["vote_id"], votes["late"], strict=True)) == {
        "in time": "0",
        "in grace": "0",
        "late": "1",
        "turned": "1",
    }
    with fresh_store("sqlite", tmp_path / "other") as other:
        assert import_votes(other, votes, "moved", add_missing=True).added == 4
        assert (count_late(other), len(labels_frame(other))) == (2, 2)
    export_votes(store, tmp_path / "c.csv", "crowdkit")
    assert len(vote_files.read(tmp_path / "c.csv", "csv")) == 2


def test_a_late_revision_takes_nothing_from_early_stop_progress_or_flags(store: Store, at: pytest.MonkeyPatch) -> None:
    name = begin(store, Plan("stopping", early_stop=True, control_share=1e-9), queries=1, each=4)
    tasks = {(one.query_id, one.candidate_id): one.assignment for one in next_batch(store, name, "ann", 99)}
    always = set(control_pairs(store, name).itertuples(index=False, name=None))
    pair, other = [one for one in tasks if one not in always][:2]
    first, second = tasks[pair], tasks[other]
    submit(store, "ann", [Judgement("in time", first, 1), Judgement("unsure", second, None)])
    flag_task(store, "ann", first, "dark", "flag")
    end(store, "left")
    at.setattr(store, "now", lambda: NOW + GRACE + 10)
    before = progress(store, name).set_index("expert").loc["ann"].to_dict()
    acts = expert_acts(store, "ann")
    submit(store, "ann", [Judgement("turned", first, None), Judgement("no more", second, 0)])
    assert progress(store, name).set_index("expert").loc["ann"].to_dict() == before
    assert (before["unsure"], len(expert_acts(store, "ann"))) == (1, len(acts))
    assert open_flags(store, name)[["judged", "value"]].to_numpy().tolist() == [[True, 1]]
    for expert_name in ("bob", "cid"):  # one more similar makes two of three: nobody else is asked
        numbers = {(one.query_id, one.candidate_id): one.assignment for one in next_batch(store, name, expert_name, 99)}
        if pair in numbers:
            submit(store, expert_name, [Judgement(f"of {expert_name}", numbers[pair], 1)])
    votes = labels_frame(store)
    given = votes[(votes["query_id"] == pair[0]) & (votes["candidate_id"] == pair[1])]
    assert given["value"].tolist() == [1, 1]


def test_numbers_out_of_range_are_faults_and_not_crashes(store: Store) -> None:
    task = next_batch(store, begin(store), "ann")[0]
    for act in (
        Judgement("t", task.assignment, 1, seconds=10**400),
        Judgement("t", task.assignment, 1, seconds=float("nan")),
        Judgement("t", task.assignment, 1, seconds=float("inf")),
        Judgement("t", 10**30, 1),
        Judgement("t", 10**5000, 1),
    ):
        with pytest.raises(InputError):
            submit(store, "ann", [act])
    with pytest.raises(InputError):
        flag_task(store, "ann", 10**30, "", "flag")
    with pytest.raises(InputError):
        withdraw_flag(store, "ann", 10**30, "flag")
    assert labels_frame(store).empty
