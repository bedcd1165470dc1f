"""The lines of qrels and runs, and ranx' JSON and Parquet, as frames; damaged lines are told by their number."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds.benchmarks.json_files import Faults
from eds.benchmarks.text_files import lines, unpacked
from eds.errors import InputError

QRELS = "qid 0 docno rel"
RUN = "qid Q0 docno rank score tag"


def read_qrels(file: Path, faults: Faults) -> pd.DataFrame:
    """query_id, candidate_id, value (the grade, whole); the index is the line, from 0."""
    if file.name.endswith((".parquet", ".json", ".json.gz")):
        frame = _ranx(file, faults).rename(columns={"score": "value"})
        whole = frame["value"] % 1 == 0
        faults.add(
            file,
            (f"row {row} has grade {frame['value'].loc[row]!r}: give a whole number" for row in frame.index[~whole]),
        )
        return frame.assign(value=frame["value"].where(whole, 0).astype("int64"))
    found = []
    for number, parts in _split(file, 4, QRELS, faults):
        try:
            found.append((number, parts[0], parts[2], int(parts[3])))
        except ValueError:
            faults.add(file, [f"line {number + 1} has grade {parts[3]!r}: give a whole number"])
    return _frame(found, ["query_id", "candidate_id", "value"])


def read_run(file: Path, faults: Faults) -> pd.DataFrame:
    """query_id, candidate_id, score, given (the rank as the file tells it); the index is the line, from 0."""
    if file.name.endswith((".parquet", ".json", ".json.gz")):
        return _ranx(file, faults)
    found = []
    for number, parts in _split(file, 6, RUN, faults):
        try:
            rank, score = int(parts[3]), float(parts[4])
        except ValueError:
            faults.add(file, [f"line {number + 1} has rank {parts[3]!r} and score {parts[4]!r}: give numbers"])
            continue
        if not math.isfinite(score):
            faults.add(file, [f"line {number + 1} has score {parts[4]}: give a finite number"])
        found.append((number, parts[0], parts[2], score, rank))
    return _frame(found, ["query_id", "candidate_id", "score", "given"])


def _split(file: Path, count: int, form: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    text = lines(file)
    if text and text[-1].strip():
        faults.add(
            file, [f"line {len(text)} has no line end: the file was cut off; get the whole file, or end the line"]
        )
    for number, line in enumerate(text):
        parts = line.split()
        if len(parts) == count:
            yield number, parts
        elif parts:
            more = "; ids may not hold blanks: percent-encode them" if len(parts) > count else ""
            faults.add(file, [f"line {number + 1} has {len(parts)} values, not {count} ({form}){more}"])


def _frame(found: list[tuple[Any, ...]], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(found, columns=["line", *names]).set_index("line")


def _ranx(file: Path, faults: Faults) -> pd.DataFrame:
    """JSON {qid: {docno: score}}, or Parquet with q_id, doc_id, score."""
    if file.name.endswith(".parquet"):
        try:
            frame = pq.read_table(file).to_pandas()
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"is damaged or not Parquet ({str(error).splitlines()[0]})", where=str(file),
                             do="Get the whole file again.") from error  # fmt: skip
        if lost := {"q_id", "doc_id", "score"} - set(frame.columns):
            raise InputError(f"has no column {', '.join(sorted(lost))}", where=str(file),
                             do="Give ranx' columns: q_id, doc_id, score.")  # fmt: skip
        frame = frame.rename(columns={"q_id": "query_id", "doc_id": "candidate_id"})
    else:
        frame = pd.DataFrame(_json_rows(file), columns=["query_id", "candidate_id", "score"])
    frame = frame[["query_id", "candidate_id", "score"]]
    frame = frame.assign(query_id=frame["query_id"].astype(str), candidate_id=frame["candidate_id"].astype(str))
    score = pd.to_numeric(frame["score"], errors="coerce").astype("float64")
    bad = ~score.abs().lt(math.inf)
    faults.add(
        file, (f"row {row} has score {frame['score'].loc[row]!r}: give a finite number" for row in frame.index[bad])
    )
    done: pd.DataFrame = frame.assign(score=score.where(~bad, 0.0))
    return done


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object, those that stand there twice, too."""


def _json_rows(file: Path) -> list[tuple[str, str, Any]]:
    data = unpacked(file)
    try:
        content = json.loads(data, object_pairs_hook=_Members)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no whole JSON ({error})", where=str(file), do="Get the whole file again.") from error
    if not isinstance(content, _Members) or not all(isinstance(one, _Members) for _, one in content):
        raise InputError("is not of the form {qid: {docno: score}}", where=str(file), do="Write it with ranx.")
    return [(query, document, score) for query, scores in content for document, score in scores]
