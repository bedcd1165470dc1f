"""Votes out and in again, by every format, on both databases; contradictions told by row, all or nothing."""

import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds import tables
from eds.errors import InputError
from eds.labels import vote_files
from eds.labels.experts import list_experts
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store
from eds.labels.transfer import export_votes, import_votes
from tests.labels.stores import BACKENDS, begin, fresh_store

ODD = ['a,"b"\n', " x ", "%7C|", "ünï👗", "1", "NA", "\\N"]

NOTES = ["=1+1", "'=2", "''-x", "it's", "@sum", None, "'"]


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def some_votes() -> pd.DataFrame:
    """Votes with odd names, an unsure one, a revision, gold and a repeat."""
    rows = [
        ("v1", "q", ODD[0], "ann", 1, 1.25, None, "normal"),
        ("v2", "q", ODD[1], "ann", 0, None, None, "normal"),
        ("v3", "q", ODD[1], "ann", 1, 3.0, "v2", "normal"),
        ("v4", ODD[3], ODD[2], "bob", None, 0.1, None, "normal"),
        ("v5", ODD[4], ODD[5], "bob", 0, 7.0, None, "gold"),
        ("v6", "q", ODD[0], "ann", 0, 7.0, None, "repeat"),
        (ODD[6], ODD[6], "c", "ann", 1, 2.0, None, "normal"),
    ]
    names = ["vote_id", "query_id", "candidate_id", "expert_id", "value", "seconds", "supersedes", "kind"]
    frame = pd.DataFrame(rows, columns=names)
    frame["value"] = frame["value"].astype("Int64")
    frame["created_at"] = pd.Timestamp("2026-03-01T10:00:00.123456Z") + pd.to_timedelta(np.arange(len(rows)), unit="s")
    return frame.assign(session_id="s 1", guideline="v1", note=pd.Series(NOTES), aspects=pd.Series(NOTES[::-1]))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_goes_out_comes_in_again(store: Store, tmp_path: Path, kind: str) -> None:
    assert import_votes(store, some_votes(), "first", add_missing=True).added == 7
    before = labels_frame(store)
    tables.check(before, tables.LABELS)
    assert before.drop(columns="label_id").to_dict("list")["candidate_id"] == [*ODD[:2], *ODD[1:3], ODD[5], ODD[0], "c"]
    path = tmp_path / f"votes.{kind}"
    assert export_votes(store, path) == 7
    again = vote_files.read(path, kind)
    report = import_votes(store, again, "first")
    assert (report.added, report.already, report.dropped) == (0, 7, ("campaign",))
    with fresh_store("sqlite", tmp_path / "other") as other:
        assert import_votes(other, again, "moved", add_missing=True).added == 7
        pd.testing.assert_frame_equal(labels_frame(other), before)
    assert list_experts(store)["labels"].tolist() == [5, 2]


def test_no_note_is_a_formula_to_a_spreadsheet(store: Store, tmp_path: Path) -> None:
    import_votes(store, some_votes(), "first", add_missing=True)
    export_votes(store, tmp_path / "votes.csv")
    with (tmp_path / "votes.csv").open(encoding="utf-8", newline="") as stream:
        cells = [row["note"] for row in csv.DictReader(stream)]
    assert cells == ["'=1+1", "''=2", "'''-x", "it's", "'@sum", "", "'"]


def test_crowdkit_columns(store: Store, tmp_path: Path) -> None:
    import_votes(store, some_votes(), "first", add_missing=True)
    path = tmp_path / "votes.csv"
    export_votes(store, path, "crowdkit")
    text = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert list(text.columns) == ["task", "worker", "label"]
    assert text.to_numpy().tolist() == [['q|a,"b"%0A', "ann", "1"], ["q| x ", "ann", "1"], ["\\N|c", "ann", "1"]]
    back = vote_files.read(path, "csv")
    assert back["candidate_id"].tolist() == [ODD[0], ODD[1], "c"]
    report = import_votes(store, back, "crowd", add_missing=True)
    assert (report.added, import_votes(store, back, "crowd").already) == (3, 3)  # names follow from what they say
    with pytest.raises(InputError, match="row 1: task 'b'"):
        vote_files.from_crowdkit(pd.DataFrame({"task": ["a|b", "b", "a|b|c"], "worker": "w", "label": 1}), "f")


def test_a_vote_for_a_task_of_the_queue_answers_it(store: Store) -> None:
    name = begin(store)
    task = next_batch(store, name, "ann")[0]
    frame = pd.DataFrame(
        {"query_id": [task.query_id], "candidate_id": [task.candidate_id], "expert_id": ["ann"], "value": [1]}
    )
    assert import_votes(store, frame, name).added == 1
    assert task.assignment not in {one.assignment for one in next_batch(store, name, "ann", 99)}
    first = labels_frame(store)["label_id"][0]
    revision = frame.assign(vote_id="r", value=0, supersedes=first)
    assert import_votes(store, revision, name).added == 1
    assert labels_frame(store)["supersedes"].tolist()[1] == first
    submit(store, "ann", [Judgement("page", task.assignment, 1)])
    assert labels_frame(store)["supersedes"].tolist()[2] == "r"
    assert progress(store, name)["done"].tolist() == [1, 0, 0]


BAD: dict[str, dict[str, object]] = {
    "row 0: value is not 1, 0 or nothing": {"value": "yes"},
    "row 0: value is not 1, 0 or nothing but '2'": {"value": 2},
    "row 0: seconds is not a number": {"seconds": -1.0},
    "row 0: created_at is not a time": {"created_at": "soon"},
    "row 0: kind is not normal, gold or repeat": {"kind": "odd"},
    "row 0: query and candidate are the same": {"candidate_id": "q0"},
    "row 0: expert_id is empty": {"expert_id": None},
    "row 0: query_id .* 1,200 bytes": {"query_id": "x" * 1200},
    "row 0: candidate_id 'a.x00' holds the character NUL": {"candidate_id": "a\0"},
    "row 0: unknown expert 'eve'": {"expert_id": "eve"},
    "row 0: 'q0' 'nothing'": {"candidate_id": "nothing"},
    "row 0: supersedes 'nothing'": {"supersedes": "nothing"},
    "row 0: vote 'held' is stored, and says otherwise": {"vote_id": "held"},
    "row 0: vote 'far' is an act of another campaign": {"vote_id": "far"},
    "row 0: supersedes itself, by a circle": {"vote_id": "me", "supersedes": "me"},
}


def test_every_bad_row_is_told_and_keeps_the_whole_import_out(store: Store) -> None:
    name = begin(store)
    base: dict[str, object] = {"query_id": "q0", "candidate_id": "c0-0", "expert_id": "ann", "value": 1}
    import_votes(store, pd.DataFrame([{**base, "candidate_id": "c0-3", "vote_id": "held"}]), name)
    import_votes(store, pd.DataFrame([{**base, "vote_id": "far"}]), "other", add_missing=True)
    good = {**base, "candidate_id": "c0-1"}
    for told, change in BAD.items():
        frame = pd.DataFrame([{**base, **change}, good], dtype=object)
        with pytest.raises(InputError, match=told):
            import_votes(store, frame, name)
    with pytest.raises(InputError, match="column value is missing"):
        import_votes(store, pd.DataFrame({"query_id": ["q"], "candidate_id": ["c"], "expert_id": ["e"]}), name)
    with pytest.raises(InputError, match="unknown campaign 'none'"):
        import_votes(store, pd.DataFrame([base]), "none")
    assert labels_frame(store)["label_id"].tolist() == ["held", "far"]


def test_contradictory_rows_are_told_and_equal_ones_count_once(store: Store) -> None:
    name = begin(store)
    base: dict[str, object] = {"query_id": "q0", "candidate_id": "c0-0", "expert_id": "ann", "value": 1}
    twice = pd.DataFrame([{**base, "vote_id": "a"}, {**base, "vote_id": "b"}, {**base, "vote_id": "a"}])
    for other, told in (
        ({"vote_id": "c", "value": 0}, "row 3: 'ann' judged this pair otherwise in row 0"),
        ({"vote_id": "a", "value": 0}, "row 3: says otherwise than row 0"),
    ):
        with pytest.raises(InputError, match=told):
            import_votes(store, pd.concat([twice, pd.DataFrame([{**base, **other}])]), name)
    assert labels_frame(store).empty
    report = import_votes(store, twice, name)
    assert (report.added, report.already, report.repeated) == (1, 0, 2)
    with pytest.raises(InputError, match="judged this pair otherwise in the store"):
        import_votes(store, pd.DataFrame([{**base, "vote_id": "d", "value": 0}]), name)
    fork = pd.DataFrame([{**base, "vote_id": x, "supersedes": "a", "value": 0} for x in "ef"])
    with pytest.raises(InputError, match="row 1: several acts supersede the same one"):
        import_votes(store, fork, name)


@settings(max_examples=10)
@given(st.permutations(range(5)))
def test_a_chain_of_corrections_may_stand_in_any_order(order: list[int]) -> None:
    rows = [
        {
            "vote_id": f"v{i}",
            "query_id": "q",
            "candidate_id": "c",
            "expert_id": "ann",
            "value": i % 2,
            "supersedes": f"v{i - 1}" if i else None,
        }
        for i in range(5)
    ]
    with TemporaryDirectory() as folder, fresh_store("sqlite", Path(folder)) as store:
        import_votes(store, pd.DataFrame([rows[i] for i in order]), "c", add_missing=True)
        frame = labels_frame(store).set_index("label_id")
        assert {name: frame.loc[name, "supersedes"] for name in frame.index if name != "v0"} == {
            f"v{i}": f"v{i - 1}" for i in range(1, 5)
        }


def test_files_that_are_none(tmp_path: Path) -> None:
    bad = tmp_path / "votes.parquet"
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        vote_files.read(bad, "parquet")
    with pytest.raises(InputError, match="is not a format of votes"):
        vote_files.format_of(Path("votes.xlsx"))
    with pytest.raises(InputError, match="there is no such file"):
        vote_files.read(tmp_path / "absent.csv", "csv")
