"""Label Studio: config.xml, experts.json, and tasks.json: a task a pair, models' predictions, experts' annotations.

    task        data {query_image, candidate_image, query_id, candidate_id, kind, ...}, predictions, annotations
    prediction  model_version, score, result
    annotation  completed_by (a number; experts.json tells whose), lead_time, was_cancelled, ground_truth, created_at,
                result

`data` may hold anything, so it holds the label and why the pair was asked. Reading: cancelled annotations are passed
over, several annotations of a task are several votes, completed_by is a number or an object.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from eds.benchmarks import pairs_file, rows
from eds.benchmarks.benchmark import PAIR, Benchmark, Place
from eds.benchmarks.json_files import Faults, read_json, wrong_keys
from eds.benchmarks.text_files import arrow_of
from eds.errors import InputError

CONFIG = """<View>
  <Header value="Does the candidate show something similar to the query?"/>
  <View style="display: flex; gap: 1em">
    <Image name="query" value="$query_image"/>
    <Image name="candidate" value="$candidate_image"/>
  </View>
  <Choices name="similar" toName="candidate" choice="single-radio" required="true" showInline="true">
    <Choice value="yes" hotkey="1"/>
    <Choice value="no" hotkey="2"/>
    <Choice value="unsure" hotkey="3"/>
  </Choices>
</View>
"""
ANSWERS = {1: "yes", 0: "no", None: "unsure"}
EXPERTS = "experts.json"
VALUES = {text: value for value, text in ANSWERS.items()}
FILES = "/data/local-files/?d="  # where Label Studio serves files of its own storage; see its LOCAL_FILES_* settings


def write(benchmark: Benchmark, folder: Path, prefix: str = FILES) -> list[str]:
    """Write config.xml and tasks.json; what they cannot hold. `prefix` stands before each image's path."""
    if benchmark.images is None or (benchmark.truth is None and benchmark.suspects is None):
        raise InputError("there are no pairs", where="suspects.parquet", do="Find some first: eds suspects pool.")
    pairs, lost = pairs_file.frame_of(benchmark)
    images = benchmark.images
    address = dict(zip(images["image_id"], (prefix + quote(str(path)) for path in images["path"]), strict=True))
    votes, told = _in_force(benchmark.votes)
    planted = votes.loc[votes["kind"] != "normal", [*PAIR, "kind"]].drop_duplicates()
    tasks = pd.concat([pairs.assign(kind="normal"), planted.merge(pairs, how="left", on=PAIR)], ignore_index=True)
    key = [*PAIR, "kind"]
    numbers = pd.MultiIndex.from_frame(tasks[key])
    lonely = votes.loc[numbers.get_indexer(pd.MultiIndex.from_frame(votes[key])) < 0, key].drop_duplicates()
    tasks = pd.concat([tasks, lonely], ignore_index=True) if len(lonely) else tasks
    numbers = pd.MultiIndex.from_frame(tasks[key])
    people = {name: place + 1 for place, name in enumerate(sorted(votes["expert_id"].unique()))}
    names = {str(place): name for name, place in people.items()}
    (folder / EXPERTS).write_text(json.dumps(names, ensure_ascii=False, indent=1), encoding="utf-8")
    annotations: list[list[Any]] = [[] for _ in range(len(tasks))]
    for number, annotation in _annotations(votes, numbers, people):
        annotations[number].append(annotation)
    predictions: list[list[Any]] = [[] for _ in range(len(tasks))]
    for model, run in benchmark.runs.items():
        found = numbers.get_indexer(pd.MultiIndex.from_frame(run[PAIR].assign(kind="normal")))
        for number, score in zip(found.tolist(), run["score"].tolist(), strict=True):
            if number >= 0:
                predictions[number].append({"model_version": model, "score": score, "result": [_choice("yes")]})
    with (folder / "tasks.json").open("w", encoding="utf-8") as stream:
        parts = zip(arrow_of(tasks).to_pylist(), predictions, annotations, strict=True)
        for number, (data, guesses, answers) in enumerate(parts):
            told_of = {name: value for name, value in data.items() if value is not None}
            shown = {
                "query_image": address.get(data["query_id"], ""),
                "candidate_image": address.get(data["candidate_id"], ""),
            }
            task = {"id": number + 1, "data": {**shown, **told_of}, "predictions": guesses, "annotations": answers}
            stream.write(("[\n" if number == 0 else ",\n") + json.dumps(task, ensure_ascii=False, allow_nan=False))
        stream.write("\n]\n" if len(tasks) else "[]\n")
    (folder / "config.xml").write_text(CONFIG, encoding="utf-8")
    if benchmark.runs:
        lost.append(f"the lists of {len(benchmark.runs)} models: only their scores of the pairs asked, as predictions")
    return [*lost, *told, f"the catalogue of {len(images):,} images: only their ids and paths"]


def _in_force(votes: pd.DataFrame | None) -> tuple[pd.DataFrame, list[str]]:
    if votes is None or not len(votes):
        return pd.DataFrame(columns=[*PAIR, "expert_id", "value", "seconds", "created_at", "kind"], dtype=object), []
    stands = ~votes["vote_id"].isin(votes["supersedes"].dropna())
    lost = ["ids, sessions and guidelines of the votes"]
    if not stands.all():
        lost.append(f"{int((~stands).sum()):,} votes that their experts corrected: only answers in force")
    if "campaign" in votes and votes["campaign"].nunique() > 1:
        lost.append("which campaign a vote belongs to")
    return votes[stands], lost


def _annotations(
    votes: pd.DataFrame, numbers: pd.MultiIndex, people: dict[str, int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    found = numbers.get_indexer(pd.MultiIndex.from_frame(votes[[*PAIR, "kind"]])).tolist()
    plain = arrow_of(votes[["expert_id", "value", "seconds", "created_at", "kind"]]).to_pylist()
    for place, (number, row) in enumerate(zip(found, plain, strict=True)):
        yield (
            number,
            {
                "id": place + 1,
                "completed_by": people[row["expert_id"]],
                "lead_time": row["seconds"],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": row["created_at"],
                "result": [_choice(ANSWERS[row["value"]])],
            },
        )


def _choice(text: str) -> dict[str, Any]:
    return {"from_name": "similar", "to_name": "candidate", "type": "choices", "value": {"choices": [text]}}


def read(place: Path) -> Benchmark:
    """An exported folder, or a file of tasks as Label Studio exports it (JSON)."""
    file = place / "tasks.json" if place.is_dir() else place
    content = read_json(file, exact=True)
    names = read_json(place / EXPERTS, exact=True) if (place / EXPERTS).is_file() else {}
    if not isinstance(names, dict):
        raise InputError("is no object of numbers and names", where=str(place / EXPERTS), do="Export again.")
    if not isinstance(content, list):
        raise InputError("is no list of tasks", where=str(file), do="Export from Label Studio as JSON (not JSON-MIN).")
    faults, where = Faults(), Place(file, "task")
    pairs: list[tuple[int, dict[str, Any]]] = []
    votes: list[tuple[int, dict[str, Any]]] = []
    skipped = 0
    for number, task in enumerate(content):
        told, found, cancelled = _task(task, names)
        faults.add(file, (f"task {number} {one}" for one in told))
        skipped += cancelled
        if isinstance(task, dict) and isinstance(task.get("data"), dict):
            pairs.append((number, task["data"]))
        votes += [(number, vote) for vote in found]
    faults.refuse("the tasks cannot be imported", "Nothing was imported. Tasks count from 0:")
    asked = pd.DataFrame([data for _, data in pairs], index=[number for number, _ in pairs], dtype=object)
    rows.ids(asked, PAIR, where, faults)
    faults.refuse("the tasks cannot be imported", "Nothing was imported. Tasks count from 0:")
    notes = [f"{skipped:,} annotations were cancelled: skipped"] if skipped else []
    normal = asked["kind"].fillna("normal") == "normal" if "kind" in asked else asked[PAIR[0]].notna()
    truth, suspects, told_of = pairs_file.tables_of(
        asked[normal.to_numpy(bool)], where, "imported label-studio", faults
    )
    notes += told_of
    faults.refuse("the tasks cannot be imported", "Nothing was imported. Tasks count from 0:")
    acts = pd.DataFrame([vote for _, vote in votes], index=[number for number, _ in votes], dtype=object)
    return Benchmark(None, truth, suspects, acts if len(acts) else None, notes=tuple(notes),
                     places={"votes": where, "truth": where, "suspects": where})  # fmt: skip


def _task(task: Any, names: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]], int]:
    """The faults of a task, its votes, and how many annotations were cancelled."""
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        return ["is no object with 'data'"], [], 0
    data, told, found, cancelled = task["data"], [], [], 0
    told += [f"has {one} in data" for one in wrong_keys(data, PAIR)]
    annotations = task.get("annotations", [])
    if not isinstance(annotations, list):
        return [*told, "has annotations that are no list"], [], 0
    for place, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            told.append(f"has annotation {place} that is no object")
            continue
        if annotation.get("was_cancelled"):
            cancelled += 1
            continue
        choices = [one["value"]["choices"] for one in annotation.get("result") or [] if _is_choice(one)]
        who = _who(annotation.get("completed_by"))
        who = str(names.get(who, who))
        answer = choices[0][0] if len(choices) == 1 and len(choices[0]) == 1 else None
        if answer not in VALUES:
            shown = json.dumps(choices, ensure_ascii=False)
            told.append(f"annotation {place} answers {shown} to 'similar': give one of {', '.join(VALUES)}")
        elif not who:
            told.append(f"annotation {place} does not tell completed_by: give a number, or an object with id or email")
        else:
            found.append({**{name: data.get(name) for name in PAIR}, "expert_id": who, "value": VALUES[answer],
                          "seconds": annotation.get("lead_time"), "created_at": annotation.get("created_at"),
                          "kind": data.get("kind", "normal")})  # fmt: skip
    return told, found, cancelled


def _is_choice(one: Any) -> bool:
    value = one.get("value") if isinstance(one, dict) and one.get("from_name") == "similar" else None
    return isinstance(value, dict) and isinstance(value.get("choices"), list)


def _who(given: Any) -> str:
    if isinstance(given, dict):
        given = given.get("email") or given.get("username") or given.get("id")
    return str(given) if isinstance(given, (str, int)) and not isinstance(given, bool) else ""
