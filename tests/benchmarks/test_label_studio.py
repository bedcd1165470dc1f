"""Label Studio's structure, held by a strict checker of our own: stricter than its SDK (test_label_studio_sdk.py)."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from eds.benchmarks.formats import label_studio
from eds.errors import InputError
from tests.benchmarks.cases import benchmark

ANNOTATION: dict[str, Any] = {
    "id": int,
    "lead_time": (float, int, type(None)),
    "was_cancelled": bool,
    "ground_truth": bool,
    "created_at": str,
    "result": list,
}


def strictly(config: str, tasks: Any) -> None:
    """Assert what Label Studio demands of a configuration and its tasks."""
    root = ElementTree.fromstring(config)
    images = {one.get("name"): one.get("value") for one in root.iter("Image")}
    choices = {one.get("name"): one for one in root.iter("Choices")}
    assert images == {"query": "$query_image", "candidate": "$candidate_image"}
    assert choices["similar"].get("toName") in images
    values = [one.get("value") for one in choices["similar"]]
    keys = [one.get("hotkey") for one in choices["similar"]]
    assert len(set(values)) == len(set(keys)) == 3
    assert None not in keys
    assert [task["id"] for task in tasks] == list(range(1, len(tasks) + 1))
    for task in tasks:
        assert set(task) == {"id", "data", "predictions", "annotations"}
        assert {"query_image", "candidate_image", "query_id", "candidate_id"} <= set(task["data"])
        for one in task["annotations"]:
            assert set(one) == set(ANNOTATION)
            assert all(isinstance(one[name], kind) for name, kind in ANNOTATION.items())
            _result(one["result"], values)
        for one in task["predictions"]:
            assert set(one) == {"model_version", "score", "result"}
            assert isinstance(one["model_version"], str)
            assert isinstance(one["score"], float)
            _result(one["result"], values)
    assert len({one["id"] for task in tasks for one in task["annotations"]}) == sum(
        len(t["annotations"]) for t in tasks
    )


def _result(result: list[dict[str, Any]], values: list[str | None]) -> None:
    (one,) = result
    one = {name: part for name, part in one.items() if name != "meta"}
    assert {**one, "value": 0} == {"from_name": "similar", "to_name": "candidate", "type": "choices", "value": 0}
    assert list(one["value"]) == ["choices"]
    assert len(one["value"]["choices"]) == 1
    assert one["value"]["choices"][0] in values


def test_config_and_tasks_have_the_documented_structure(tmp_path: Path) -> None:
    given = benchmark()
    label_studio.write(given, tmp_path)
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    strictly((tmp_path / "config.xml").read_text(), tasks)
    assert given.votes is not None
    assert sum(len(task["annotations"]) for task in tasks) == len(given.votes) - 1  # without the corrected vote
    assert {one["model_version"] for task in tasks for one in task["predictions"]} == {"one", "two"}


def test_votes_come_back_as_label_studio_exports_them(tmp_path: Path) -> None:
    """Label Studio 1.23 refuses a completed_by that it does not know; of an import it keeps the result with its meta,
    and sets its own account and date."""
    given = benchmark()
    label_studio.write(given, tmp_path)
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    annotations = [one for task in tasks for one in task["annotations"]]
    assert not any("completed_by" in one for one in annotations)
    own = {"completed_by": 1, "created_at": "2026-11-20T04:49:02.295952Z", "updated_by": None}
    for one in annotations:
        one.update(own)
    changed = annotations[0]
    changed.update({"updated_by": 2, "updated_at": "2026-11-21T04:49:02.295952Z"})
    was = changed["result"][0]["meta"]
    changed["result"][0]["value"]["choices"] = ["unsure"]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    found = label_studio.read(tmp_path / "export.json").votes
    assert given.votes is not None
    assert found is not None
    columns = ["query_id", "candidate_id", "expert_id", "created_at"]
    current = given.votes[~given.votes["vote_id"].isin(given.votes["supersedes"].dropna())]
    wanted, came = (
        {(*row[:3], pd.Timestamp(row[3])) for row in votes[columns].to_numpy().tolist()} for votes in (current, found)
    )
    (gone,), (new,) = wanted - came, came - wanted
    assert gone[2:] == (was["text"][0], pd.Timestamp(was["created_at"]))
    assert new[2:] == ("2", pd.Timestamp(changed["updated_at"]))


def foreign(annotations: list[Any]) -> list[Any]:
    return [{"data": {"query_id": "q", "candidate_id": "c"}, "annotations": annotations}]


def answer(word: str, **more: Any) -> dict[str, Any]:
    choice = {"from_name": "similar", "to_name": "candidate", "type": "choices", "value": {"choices": [word]}}
    return {"completed_by": 7, "was_cancelled": False, "result": [choice], **more}


def test_reading_skips_cancelled_and_takes_each_annotation_as_a_vote(tmp_path: Path) -> None:
    file = tmp_path / "project.json"
    told = [
        answer("yes"),
        answer("no", was_cancelled=True),
        answer("no", completed_by={"id": 3, "email": "zoë@x"}),
        answer("unsure", completed_by={"id": 4}),
    ]
    file.write_text(json.dumps(foreign(told)))
    found = label_studio.read(file)
    assert found.votes is not None
    assert found.votes[["expert_id", "value"]].to_numpy().tolist() == [["7", 1], ["zoë@x", 0], ["4", None]]
    assert found.notes == ("1 annotations were cancelled: skipped",)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"tasks": []}, "is not a list of tasks"),
        ([{"annotations": []}], "task 0 is not an object with 'data'"),
        ([{"data": {"query": "q", "candidate_id": "c"}}], "task 0 has no 'query_id'"),
        (foreign([answer("perhaps")]), "answers [[\"perhaps\"]] to 'similar': give one of yes, no, unsure"),
        (foreign([answer("yes", completed_by=None)]), "has no completed_by"),
        ([{"data": {"query_id": " ", "candidate_id": "c"}}], "task 0 has query_id ' ': it is blank"),
        ([{"data": {"query_id": "q", "candidate_id": "c", "value": v}} for v in (1, 0)], "keep one"),
    ],
)
def test_faults_are_told_by_task(tmp_path: Path, content: Any, told: str) -> None:
    file = tmp_path / "project.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        label_studio.read(file)
    assert told in str(caught.value)
    assert str(file) in str(caught.value)
