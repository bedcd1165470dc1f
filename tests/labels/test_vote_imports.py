"""Imports as batches: void votes count nowhere and are kept, corrected ones come in; pairs taken back from a queue."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels import audit
from eds.labels.backup import back_up, restore
from eds.labels.frames import labels_frame, panels
from eds.labels.judgements import Judgement, submit
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch, progress
from eds.labels.rehearsal import Rehearsal
from eds.labels.store import Store, open_store
from eds.labels.transfer import import_votes
from eds.labels.vote_imports import count_older, list_imports, void_import
from eds.labels.withdrawal import give_back, undo_campaign, withdraw_pairs
from tests.labels.stores import BACKENDS, begin, fresh_store


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def votes(*values: int, expert: str = "ann") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": "q0",
            "candidate_id": [f"c0-{i}" for i in range(len(values))],
            "expert_id": expert,
            "value": values,
        }
    )


def test_void_votes_count_nowhere_and_count_again(store: Store, tmp_path: Path) -> None:
    first = import_votes(store, votes(1, 0, expert="bob"), "old", add_missing=True, where="good.csv")
    second = import_votes(store, votes(0, 1), "old", add_missing=True, where="wrong.csv")
    assert first.number is not None
    assert second.number is not None
    assert import_votes(store, votes(0, 1), "old").number is None  # nothing new: no batch
    before, asked = labels_frame(store), panels(store).sizes["panel"].tolist()
    assert void_import(store, second.number, note="wrong file").changed
    assert labels_frame(store)["expert_id"].tolist() == ["bob", "bob"]
    assert panels(store).sizes["panel"].tolist() == [1, 1]
    assert not void_import(store, second.number).changed
    listed = list_imports(store)
    assert listed[["source", "votes", "void"]].to_numpy().tolist() == [["good.csv", 2, False], ["wrong.csv", 2, True]]
    back_up(store, tmp_path / "kept.zip")
    restore(tmp_path / "kept.zip", tmp_path / "again.db")
    with_void = open_store(tmp_path / "again.db")
    void_import(with_void, second.number, void=False)
    assert labels_frame(with_void).equals(before)  # nothing was deleted
    with_void.close()
    void_import(store, second.number, void=False)
    assert labels_frame(store).equals(before)
    assert panels(store).sizes["panel"].tolist() == asked
    with pytest.raises(InputError, match="no import '9'"):
        void_import(store, 9)


def test_after_a_void_the_corrected_file_comes_in(store: Store) -> None:
    wrong = import_votes(store, votes(0, 1, 1), "old", add_missing=True).number
    with pytest.raises(InputError, match="judged this pair otherwise"):
        import_votes(store, votes(1, 1, 0).assign(vote_id=["x", "y", "z"]), "old")
    assert wrong is not None
    void_import(store, wrong)
    for turn in range(3):  # whether the same values or others
        done = import_votes(store, votes(1, 1, turn % 2), "old")
        assert (done.added, done.already) == (3, 0)
        assert labels_frame(store)["value"].tolist() == [1, 1, turn % 2]
        assert done.number is not None
        void_import(store, done.number)
    named = votes(1).assign(vote_id="mine")
    held = import_votes(store, named, "old").number
    assert held is not None
    void_import(store, held)
    with pytest.raises(InputError, match="vote 'mine' came with an import that is void"):
        import_votes(store, named, "old")


def test_a_void_opens_the_tasks_that_only_it_answered(store: Store) -> None:
    name = begin(store)
    number = import_votes(store, votes(1), name).number
    assert number is not None
    assert progress(store, name)[["done", "left"]].to_numpy().tolist() == [[1, 11], [0, 12], [0, 12]]
    void_import(store, number)
    assert progress(store, name)[["done", "left"]].to_numpy().tolist() == [[0, 12]] * 3
    task = next(task for task in next_batch(store, name, "ann", 99) if task.candidate_id == "c0-0")
    submit(store, "ann", [Judgement("mine", task.assignment, 0)])
    void_import(store, number, void=False)
    assert labels_frame(store)[["value", "supersedes"]].astype(object).to_numpy()[-1, 0] == 0  # the later act holds


def test_pairs_taken_back_are_asked_no_more_and_late_answers_are_kept(store: Store) -> None:
    name = begin(store)
    tasks = {task.candidate_id: task for task in next_batch(store, name, "ann", 99)}
    submit(store, "ann", [Judgement("begun", tasks["c0-1"].assignment, 1)])
    back = pd.DataFrame({"query_id": "q0", "candidate_id": ["c0-0", "c0-1"], "kind": "normal"})
    assert withdraw_pairs(store, back) == 3  # what somebody has judged stays
    assert {task.candidate_id for task in next_batch(store, name, "bob", 99)} == set(tasks) - {"c0-0"}
    assert progress(store, name)[["total", "left"]].to_numpy().tolist() == [[11, 10], [11, 11], [11, 11]]
    for expert, left in (("ann", 10), ("bob", 11)):
        mine = expert_progress(store, name, expert)
        assert (mine.left, mine.total) == (left, 11)
    assert len(panels(store).sizes) == 11
    submit(store, "ann", [Judgement("late", tasks["c0-0"].assignment, 1)])  # was on its way
    assert len(labels_frame(store)) == 2
    assert len(panels(store).sizes) == 12
    assert withdraw_pairs(store, back, begun=True) == 2
    assert give_back(store, back) == 4
    assert len(next_batch(store, name, "bob", 99)) == 12


def test_undoing_a_campaign_keeps_what_was_judged(store: Store) -> None:
    name = begin(store)
    task = next_batch(store, name, "ann")[0]
    submit(store, "ann", [Judgement("t", task.assignment, 1)])
    rehearsal = Rehearsal(store)
    seen = undo_campaign(rehearsal, name)
    assert progress(rehearsal, name)["left"].tolist() == [0, 1, 1], "it reads what it wrote"
    assert rehearsal.changes().acts == [("undo campaign", name)]
    rehearsal.end()
    assert (seen.withdrawn, seen.begun, seen.tasks) == (11, 1, 33)
    assert progress(store, name)["left"].tolist() == [11, 12, 12]
    assert undo_campaign(store, name) == seen
    assert progress(store, name)["left"].tolist() == [0, 1, 1]
    assert len(labels_frame(store)) == 1


def test_votes_that_were_imported_before_imports_were_numbered_are_told(store: Store) -> None:
    name = begin(store)
    task = next_batch(store, name, "ann")[0]
    submit(store, "ann", [Judgement("t", task.assignment, 1)])
    assert count_older(store) == 0
    store.write(lambda connection: audit.note(connection, store.now(), "lead", "import votes", name, votes=1))
    assert count_older(store) == 1
    with pytest.raises(InputError) as caught:
        void_import(store, 1)
    assert "1 votes" in caught.value.hint
