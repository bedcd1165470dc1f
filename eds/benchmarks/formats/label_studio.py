"""Label Studio: configuration and annotated tasks.

config.xml, and tasks.json with a task per pair:

    task        data {query_image, candidate_image, query_id, candidate_id, kind, ...}, predictions, annotations
    prediction  model_version, score, result
    annotation  lead_time, was_cancelled, ground_truth, created_at, result with meta {text: [expert], created_at}

`data` may hold anything, so it holds the label and why the pair was asked. An import into Label Studio refuses a
completed_by that is none of its accounts, and sets its own created_at, so that both are in the result's meta, which
Label Studio shows, keeps and exports. Reading skips cancelled annotations, takes several annotations of a task as
several votes, and accepts completed_by as a number or an object; experts.json names the numbers of older exports.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import pandas as pd

from eds.benchmarks import pairs_file
from eds.benchmarks.benchmark import PAIR, Benchmark, Location
from eds.benchmarks.files import plain_arrow, read_json
from eds.benchmarks.validate import Faults, check_ids, missing_keys
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
VALUES = {text: value for value, text in ANSWERS.items()}
EXPERTS = "experts.json"
LOCAL_FILES = "/data/local-files/?d="  # where Label Studio serves its own storage; see its LOCAL_FILES_* settings


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    prefix: Annotated[str, "Address before each picture's path."] = LOCAL_FILES,
) -> list[str]:
    """Write config.xml and tasks.json; return what they cannot hold."""
    images = pairs_file.require_pairs(benchmark)
    pairs, not_held = pairs_file.pairs_frame(benchmark), []
    address = dict(zip(images["image_id"], (prefix + quote(str(path)) for path in images["path"]), strict=True))
    votes, lost = _current_votes(benchmark.votes)
    tasks = _tasks(pairs, votes)
    numbers = pd.MultiIndex.from_frame(tasks[[*PAIR, "kind"]])
    annotations: list[list[Any]] = [[] for _ in range(len(tasks))]
    for number, annotation in _annotations(votes, numbers):
        annotations[number].append(annotation)
    predictions: list[list[Any]] = [[] for _ in range(len(tasks))]
    for model, run in ((name, part) for name in benchmark.runs for part in benchmark.run_parts(name)):
        positions = numbers.get_indexer(pd.MultiIndex.from_frame(run[PAIR].assign(kind="normal")))
        for number, score in zip(positions.tolist(), run["score"].tolist(), strict=True):
            if number >= 0:
                predictions[number].append({"model_version": model, "score": score, "result": [_choice("yes")]})
    with (folder / "tasks.json").open("w", encoding="utf-8") as stream:
        parts = zip(plain_arrow(tasks).to_pylist(), predictions, annotations, strict=True)
        for number, (row, guesses, answers) in enumerate(parts):
            data = {
                "query_image": address.get(row["query_id"], ""),
                "candidate_image": address.get(row["candidate_id"], ""),
                **{name: value for name, value in row.items() if value is not None},
            }
            task = {"id": number + 1, "data": data, "predictions": guesses, "annotations": answers}
            stream.write(("[\n" if number == 0 else ",\n") + json.dumps(task, ensure_ascii=False, allow_nan=False))
        stream.write("\n]\n" if len(tasks) else "[]\n")
    (folder / "config.xml").write_text(CONFIG, encoding="utf-8")
    if benchmark.runs:
        scores = "only their scores of these pairs, as predictions"
        not_held.append(f"the lists of {len(benchmark.runs)} models: {scores}")
    return [*not_held, *lost, f"the catalogue of {len(images):,} images: only their ids and paths"]


def _current_votes(votes: pd.DataFrame | None) -> tuple[pd.DataFrame, list[str]]:
    if votes is None or not len(votes):
        return pd.DataFrame(columns=[*PAIR, "expert_id", "value", "seconds", "created_at", "kind"], dtype=object), []
    current = ~votes["vote_id"].isin(votes["supersedes"].dropna())
    lost = ["ids, sessions and guidelines of the votes"]
    if not current.all():
        lost.append(f"{int((~current).sum()):,} votes that their experts corrected: only current answers")
    if "campaign" in votes and votes["campaign"].nunique() > 1:
        lost.append("which campaign a vote belongs to")
    return votes[current], lost


def _tasks(pairs: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return a row per task: every pair, gold and repeated pairs apart, and pairs that have only votes."""
    key = [*PAIR, "kind"]
    extra = votes.loc[votes["kind"] != "normal", key].drop_duplicates()
    tasks = pd.concat([pairs.assign(kind="normal"), extra.merge(pairs, how="left", on=PAIR)], ignore_index=True)
    numbers = pd.MultiIndex.from_frame(tasks[key])
    unknown = votes.loc[numbers.get_indexer(pd.MultiIndex.from_frame(votes[key])) < 0, key].drop_duplicates()
    return pd.concat([tasks, unknown], ignore_index=True) if len(unknown) else tasks


def _annotations(votes: pd.DataFrame, numbers: pd.MultiIndex) -> Iterator[tuple[int, dict[str, Any]]]:
    tasks = numbers.get_indexer(pd.MultiIndex.from_frame(votes[[*PAIR, "kind"]])).tolist()
    rows = plain_arrow(votes[["expert_id", "value", "seconds", "created_at", "kind"]]).to_pylist()
    for number, (task, row) in enumerate(zip(tasks, rows, strict=True), 1):
        meta = {"text": [row["expert_id"]], "created_at": row["created_at"]}
        annotation = {
            "id": number,
            "lead_time": row["seconds"],
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": row["created_at"],
            "result": [{**_choice(ANSWERS[row["value"]]), "meta": meta}],
        }
        yield task, annotation


def _choice(text: str) -> dict[str, Any]:
    return {"from_name": "similar", "to_name": "candidate", "type": "choices", "value": {"choices": [text]}}


def read(source: Path) -> Benchmark:
    """Read an exported folder, or a file of tasks as Label Studio exports it (JSON)."""
    file = source / "tasks.json" if source.is_dir() else source
    content = read_json(file, exact=True)
    names = read_json(source / EXPERTS, exact=True) if (source / EXPERTS).is_file() else {}
    if not isinstance(names, dict):
        raise InputError("is not an object of numbers and names", where=str(source / EXPERTS), hint="Export again.")
    if not isinstance(content, list):
        hint = "Export from Label Studio as JSON (not JSON-MIN)."
        raise InputError("is not a list of tasks", where=str(file), hint=hint)
    failed, hint = "the tasks cannot be imported", "Nothing was imported. Tasks count from 0:"
    faults, at = Faults(), Location(file, "task")
    pairs: dict[int, dict[str, Any]] = {}
    votes: list[tuple[int, dict[str, Any]]] = []
    cancelled = 0
    for number, task in enumerate(content):
        wrong, found, skipped = _read_task(task, names)
        faults.add(file, (f"task {number} {fault}" for fault in wrong))
        cancelled += skipped
        if isinstance(task, dict) and isinstance(task.get("data"), dict):
            pairs[number] = task["data"]
        votes += [(number, vote) for vote in found]
    faults.raise_any(failed, hint)
    frame = pd.DataFrame(list(pairs.values()), index=list(pairs), dtype=object)
    check_ids(frame, PAIR, at, faults)
    faults.raise_any(failed, hint)
    normal = frame["kind"].fillna("normal") == "normal" if "kind" in frame else frame[PAIR[0]].notna()
    rows = frame[normal.to_numpy(bool)]
    truth, suspects, notes = pairs_file.tables_from_pairs(rows, at, "imported label-studio", faults)
    faults.raise_any(failed, hint)
    notes = [f"{cancelled:,} annotations were cancelled: skipped", *notes] if cancelled else notes
    answers = pd.DataFrame([vote for _, vote in votes], index=[number for number, _ in votes], dtype=object)
    locations = dict.fromkeys(("votes", "truth", "suspects"), at)
    return Benchmark(None, truth, suspects, answers if len(answers) else None, notes=tuple(notes), locations=locations)


def _read_task(task: Any, names: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]], int]:
    """Return the faults of a task, its votes, and how many annotations were cancelled."""
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        return ["is not an object with 'data'"], [], 0
    data, votes, cancelled = task["data"], [], 0
    faults = [f"has {missing} in data" for missing in missing_keys(data, PAIR)]
    annotations = task.get("annotations", [])
    if not isinstance(annotations, list):
        return [*faults, "has annotations that are not a list"], [], 0
    for number, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            faults.append(f"has annotation {number} that is not an object")
            continue
        if annotation.get("was_cancelled"):
            cancelled += 1
            continue
        parts = [part for part in annotation.get("result") or [] if _is_choice(part)]
        choices = [part["value"]["choices"] for part in parts]
        who, created_at = _expert_and_date(annotation, parts)
        who = str(names.get(who, who))
        answer = choices[0][0] if len(choices) == 1 and len(choices[0]) == 1 else None
        if answer not in VALUES:
            shown = json.dumps(choices, ensure_ascii=False)
            faults.append(f"annotation {number} answers {shown} to 'similar': give one of {', '.join(VALUES)}")
        elif not who:
            faults.append(f"annotation {number} has no completed_by: give a number, or an object with id or email")
        else:
            vote = {name: data.get(name) for name in PAIR}
            vote |= {"expert_id": who, "value": VALUES[answer], "seconds": annotation.get("lead_time")}
            vote |= {"created_at": created_at, "kind": data.get("kind", "normal")}
            votes.append(vote)
    return faults, votes, cancelled


def _is_choice(part: Any) -> bool:
    value = part.get("value") if isinstance(part, dict) and part.get("from_name") == "similar" else None
    return isinstance(value, dict) and isinstance(value.get("choices"), list)


def _expert_and_date(annotation: dict[str, Any], parts: list[dict[str, Any]]) -> tuple[str, Any]:
    """Who gave an answer, and when: what our export says in its meta, unless somebody changed it there."""
    meta = parts[0].get("meta") if parts else None
    named = meta.get("text") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or not (isinstance(named, list) and len(named) == 1 and isinstance(named[0], str)):
        return _expert(annotation.get("completed_by")), annotation.get("created_at")
    if annotation.get("updated_by") is not None:
        return _expert(annotation["updated_by"]), annotation.get("updated_at")
    return named[0], meta.get("created_at", annotation.get("created_at"))


def _expert(completed_by: Any) -> str:
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("username") or completed_by.get("id")
    return str(completed_by) if isinstance(completed_by, (str, int)) and not isinstance(completed_by, bool) else ""
