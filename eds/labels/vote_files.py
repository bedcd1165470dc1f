"""Votes as files: CSV, JSONL, Parquet, and crowd-kit's task,worker,label. Reading, writing, checking rows.

A file's columns are the labels table's, with `vote_id` for `label_id`, and campaign, mode, polarity behind.
crowd-kit's `task` is `query|candidate`, each with %, | and line ends percent-encoded. What experts write in their own
words has an apostrophe before it in CSV where a spreadsheet would take it for a formula; reading removes it. Not here:
the store.
"""

import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from eds.choices import VoteFormat
from eds.errors import InputError
from eds.io.files import replacing
from eds.io.reading import reading
from eds.labels import json_lines, schema
from eds.labels.form import GRADES
from eds.labels.validation import MOST_SECONDS, fault_of, refuse, short
from eds.labels.vote_columns import ALIASES, COLUMNS, NEEDED, plain, sniff

FORMATS: tuple[str, ...] = get_args(VoteFormat)
KNOWN = {*COLUMNS, "label_id", "task", "worker", "label"}
HEAD = 65_536  # bytes of a CSV file that its delimiter is guessed from
FREE = ("aspects", "note")  # in the experts' own words
FORMULA = r"('*[=+\-@\t\r])"  # how such a text begins
SPECIAL = re.compile(r"[%|\x00-\x1f\x7f]")


def format_of(path: Path, named: str | None = None) -> str:
    """The format by name, or by the file's ending."""
    result = named or path.suffix.lstrip(".").lower()
    if result not in FORMATS:
        raise InputError(
            f"{result or 'no ending'!r} is not a format of votes",
            where=str(path),
            hint=f"Choose one of {', '.join(FORMATS)}.",
        )
    return result


def write(votes: pa.Table, path: Path, kind: str) -> None:
    """Write votes (label_id already called vote_id): whole or not at all."""
    if kind == "parquet":
        with replacing(path) as temporary:
            pq.write_table(votes, temporary, compression="zstd")
        return
    if kind == "jsonl":
        with replacing(path) as temporary, temporary.open("wb") as stream:
            for portion in json_lines.lines(votes):
                stream.write(portion)
        return
    if kind == "crowdkit":
        votes = _as_crowdkit(votes.filter(pc.equal(votes["late"], 0)) if "late" in votes.column_names else votes)
    else:
        moments = pc.strftime(votes["created_at"], format=json_lines.TIME)
        votes = votes.set_column(votes.column_names.index("created_at"), "created_at", moments)
        for name in {*FREE} & {*votes.column_names}:
            texts = pc.replace_substring_regex(votes[name], f"^{FORMULA}", r"'\1")
            votes = votes.set_column(votes.column_names.index(name), name, texts)
    with replacing(path) as temporary:
        pa_csv.write_csv(votes, temporary, pa_csv.WriteOptions(eol="\r\n"))  # RFC 4180


def read(path: Path, kind: str, names: Collection[str] = ()) -> pd.DataFrame:
    """A file of votes as a frame; of CSV every value is text. crowd-kit's columns get our names.

    The delimiter of a CSV file, and whether it has a header, are guessed (`dialect`); `names` are columns it has.
    """
    with reading(path, f"cannot be read as {kind}"):
        if kind == "parquet":
            frame = _read_parquet(path)
        elif kind == "jsonl":
            frame = _read_jsonl(path, names)
        else:
            frame = _read_csv(path, names)
    return from_crowdkit(frame, str(path)) if {"task", "worker", "label"} <= set(frame.columns) else frame


def from_crowdkit(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """task, worker, label as query_id, candidate_id, expert_id, value; other columns stay."""
    tasks = frame["task"].astype(str)
    parts: pd.Series[Any] = tasks.str.split("|")
    wrong = np.flatnonzero(tasks.str.count(r"\|").to_numpy() != 1)
    if len(wrong):
        shown = [f"row {row}: task {short(tasks.iloc[row])}" for row in wrong[:20].tolist()]
        raise InputError(
            f"{len(wrong):,} tasks are not of the form query|candidate",
            where=where,
            faults=shown,
            hint="Write each task as query|candidate, with % and | percent-encoded.",
        )
    frame = frame.rename(columns={"worker": "expert_id", "label": "value"}).drop(columns="task")
    return frame.assign(query_id=parts.str[0].map(unquote), candidate_id=parts.str[1].map(unquote))


def parse(frame: pd.DataFrame, now: int) -> tuple[pd.DataFrame, list[str]]:
    """The votes with every column in its kind (created_at in microseconds), and all faults by row.

    Rows with a fault of their own are still there; the caller refuses them. Missing columns get what a
    foreign file means by their absence: kind normal, mode pair, now.
    """
    faults = [f"column {name} is missing" for name in NEEDED if name not in frame.columns]
    if faults:
        return frame, faults
    clean = pd.DataFrame(index=pd.RangeIndex(len(frame)))
    for name in ("query_id", "candidate_id", "expert_id"):
        clean[name] = _texts(frame, name, faults, needed=True)
    for name in ("vote_id", "session_id", "supersedes", "guideline", "polarity", "aspects", "note"):
        long = name in ("guideline", "aspects", "note")
        clean[name] = _texts(frame, name, faults, longest=schema.LONGEST_TEXT if long else None)
    clean["kind"] = _texts(frame, "kind", faults).fillna("normal")
    clean["mode"] = _texts(frame, "mode", faults).fillna("pair")
    for name, allowed in (("kind", schema.KINDS), ("mode", schema.MODES), ("polarity", schema.POLARITIES)):
        _tell(faults, clean[name], ~(clean[name].isin(allowed) | clean[name].isna()), f"{name} is not {_or(allowed)}")
    values = frame["value"].reset_index(drop=True)
    clean["value"] = _values(values)
    _tell(faults, values, clean["value"].isna() & ~_absent(values), "value is not 1, 0 or nothing")
    clean["seconds"], bad = _numbers(frame, "seconds")
    _tell(faults, frame.get("seconds"), bad, f"seconds is not a number from 0 to {MOST_SECONDS:.0e}")
    clean["late"], bad = _numbers(frame, "late")
    clean["late"] = clean["late"].fillna(0)
    _tell(faults, frame.get("late"), bad | ~clean["late"].isin((0, 1)), "late is not 1, 0 or nothing")
    clean["grade"], bad = _numbers(frame, "grade")
    _tell(
        faults, frame.get("grade"), bad | ~(clean["grade"].isin(GRADES) | clean["grade"].isna()), "grade is not 0 to 3"
    )
    clean["created_at"], bad = _moments(frame, now)
    _tell(faults, frame.get("created_at"), bad, "created_at is not a time")
    _tell(faults, clean["query_id"], clean["query_id"] == clean["candidate_id"], "query and candidate are the same")
    return clean, faults


def _or(allowed: tuple[str, ...]) -> str:
    return " or ".join([", ".join(allowed[:-1]), allowed[-1]])


def _tell(faults: list[str], series: "pd.Series[Any] | None", bad: "pd.Series[bool]", what: str) -> None:
    rows = np.flatnonzero(bad.to_numpy())
    values = series.reset_index(drop=True) if series is not None else None
    for row in rows[:20].tolist():
        faults.append(f"row {row}: {what}" + (f" but {short(str(values[row]))}" if values is not None else ""))
    if len(rows) > 20:
        faults.append(f"and {len(rows) - 20:,} more rows where {what}")


def _absent(series: "pd.Series[Any]") -> "pd.Series[bool]":
    return series.isna() | (series.astype(object) == "")


def _texts(
    frame: pd.DataFrame, name: str, faults: list[str], *, needed: bool = False, longest: int | None = None
) -> "pd.Series[Any]":
    if name not in frame.columns:
        return pd.Series([None] * len(frame), dtype=object)
    codes, distinct = pd.factorize(frame[name].astype(object).to_numpy(), use_na_sentinel=True)
    text = [fault_of(value, longest or schema.LONGEST_ID, empty=True) for value in distinct]
    values = np.append(np.array([value if value != "" else None for value in distinct], dtype=object), [None])
    series = pd.Series(values[codes], dtype=object)
    bad = np.append(np.array([bool(fault) for fault in text], dtype=bool), [False])[codes]
    for row in np.flatnonzero(bad)[:20].tolist():
        faults.append(f"row {row}: {name} {text[codes[row]]}")
    if needed:
        _tell(faults, None, series.isna(), f"{name} is empty")
    return series


def _values(given: "pd.Series[Any]") -> "pd.Series[Any]":
    meaning: dict[object, int] = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, 1: 1, 0: 0}
    known: Callable[[object], object] = lambda value: None if isinstance(value, bool) else meaning.get(value)  # noqa: E731
    codes, distinct = pd.factorize(given.astype(object).to_numpy(), use_na_sentinel=True)
    table = np.append(np.array([known(value) for value in distinct], dtype=object), [None])
    return pd.Series(table[codes], dtype="Int64")


def _numbers(frame: pd.DataFrame, name: str) -> "tuple[pd.Series[Any], pd.Series[Any]]":
    if name not in frame.columns:
        return pd.Series(np.full(len(frame), np.nan)), pd.Series(np.zeros(len(frame), bool))
    values = frame[name].reset_index(drop=True)
    result = pd.to_numeric(values, errors="coerce").astype("float64")
    bad = (result.isna() & ~_absent(values)) | (result < 0) | (result > MOST_SECONDS)
    return result, bad.astype(bool)


def _moments(frame: pd.DataFrame, now: int) -> "tuple[pd.Series[Any], pd.Series[Any]]":
    if "created_at" not in frame.columns:
        return pd.Series(np.full(len(frame), now, np.int64)), pd.Series(np.zeros(len(frame), bool))
    values = frame["created_at"].reset_index(drop=True)
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        result = values
    else:
        result = pd.to_datetime(values.where(~_absent(values)), utc=True, format="ISO8601", errors="coerce")
    bad = result.isna() & ~_absent(values)
    micro = result.dt.as_unit("us").astype("int64").where(result.notna(), now)
    return micro.astype("int64"), bad


def _as_crowdkit(votes: pa.Table) -> pa.Table:
    """The answers in force to normal questions; unsure is not a label."""
    superseded = pc.is_in(votes["vote_id"], votes["supersedes"].combine_chunks().drop_null())
    kept = pc.and_(pc.equal(votes["kind"], "normal"), pc.and_(pc.is_valid(votes["value"]), pc.invert(superseded)))
    votes = votes.filter(kept)
    sides = [_encoded(votes[name]) for name in ("query_id", "candidate_id")]
    return pa.table(
        {
            "task": pc.binary_join_element_wise(*sides, "|"),
            "worker": votes["expert_id"],
            "label": votes["value"],
        }
    )


def _encoded(texts: pa.ChunkedArray) -> pa.Array:
    coded = texts.combine_chunks().dictionary_encode()
    distinct = [SPECIAL.sub(lambda sign: f"%{ord(sign.group()):02X}", text) for text in coded.dictionary.to_pylist()]
    return pa.array(distinct, pa.string()).take(coded.indices)


def _read_jsonl(path: Path, names: Collection[str]) -> pd.DataFrame:
    """One object a line; nothing is guessed of its values."""
    rows, faults, answers = [], [], {"value", *ALIASES["value"]}
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream):
            try:
                row = json.loads(line, parse_int=_number)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                faults.append(f"row {number}: is not a JSON object")
                continue
            nested = [name for name, value in row.items() if name in KNOWN and isinstance(value, (list, dict))]
            faults += [f"row {number}: {name} is a list or an object" for name in nested]
            if not any(plain(name) in answers or name in names for name in row):
                faults.append(f"row {number}: has no value (null for unsure)")
            rows.append(row)
    refuse(faults, "lines are not votes", str(path), "Write one JSON object a line.")
    return pd.DataFrame(rows, dtype=object) if rows else pd.DataFrame(columns=list(COLUMNS), dtype=object)


def _number(digits: str) -> float:
    """A whole number of JSON, which may have any number of digits."""
    return int(digits) if len(digits) < 20 else float(digits)


def _read_parquet(path: Path) -> pd.DataFrame:
    """Parquet with one value a field."""
    table = pq.read_table(path)
    nested = [field.name for field in table.schema if field.name in KNOWN and pa.types.is_nested(field.type)]
    refuse(
        (f"column {name} holds lists or objects" for name in nested), "faults", str(path), "Write one value a field."
    )
    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame


def dialect(path: Path, names: Collection[str] = ()) -> tuple[str, bool]:
    """The delimiter of a CSV file, and whether it has a header; `names` are columns that it is known to have."""
    with path.open("rb") as stream:
        return sniff(stream.read(HEAD).decode("utf-8-sig", "replace"), names)


def _read_csv(path: Path, known: Collection[str] = ()) -> pd.DataFrame:
    delimiter, header = dialect(path, known)
    parsing = pa_csv.ParseOptions(newlines_in_values=True, delimiter=delimiter)
    reading_names = pa_csv.ReadOptions(column_names=None if header else list(NEEDED))
    with path.open("rb") as stream:
        names = pa_csv.open_csv(stream, read_options=reading_names, parse_options=parsing).schema.names
    result: pd.DataFrame = pa_csv.read_csv(
        path,
        read_options=reading_names,
        parse_options=parsing,
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
        ),
    ).to_pandas()
    for name in {*FREE} & {*names}:
        result[name] = result[name].str.replace(f"^'{FORMULA}", r"\1", regex=True)
    return result
