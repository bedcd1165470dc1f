"""Rows that others wrote, held against what a benchmark's rows are: every fault by row, over whole columns."""

from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.benchmark import PAIR, Place
from eds.benchmarks.json_files import Faults, wrong_keys

CONTROL = r"[\x00-\x1f\x7f\x85\u2028\u2029]"
MOST = 200  # faults of one kind that are gathered; a message shows fewer still


def path_faults(path: Any) -> list[str]:
    """What is wrong with an image's path; nothing if it stays below the image root."""
    if not isinstance(path, str):
        return ["it is no text"]
    if not path.strip():
        return ["it is blank"]
    told = []
    if any(ord(sign) < 32 or sign in "\x7f\x85\u2028\u2029" for sign in path):
        told.append("it holds a line break or another control character; rename the image")
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive or path.startswith("\\"):
        told.append("it is absolute; give it relative to the image root")
    if ".." in path.replace("\\", "/").split("/"):
        told.append("it leads out of the image root (..)")
    return told


def columns(frame: pd.DataFrame, needed: list[str], place: Place, faults: Faults) -> bool:
    """Whether the frame has these columns; tells those that it lacks."""
    told = wrong_keys(dict.fromkeys(map(str, frame.columns)), needed)
    faults.add(place.file, (one.replace("no ", "has no column ", 1) for one in told))
    return not told


def ids(frame: pd.DataFrame, names: list[str], place: Place, faults: Faults) -> None:
    """Ids must be text that is not blank and holds no control characters."""
    for name in names:
        column = frame[name]
        text = column.map(lambda value: isinstance(value, str)).astype(bool)
        faults.add(place.file, _told(column, ~text, place, name, "give text"))
        strings = column.where(text, "x").astype(str)
        faults.add(place.file, _told(column, strings.str.strip() == "", place, name, "it is blank; name the image"))
        bad = strings.str.contains(CONTROL, regex=True).astype(bool)
        faults.add(place.file, _told(column, bad, place, name, "it holds a control character; rename the image"))


def paths(frame: pd.DataFrame, place: Place, faults: Faults, column: str = "path") -> None:
    """Every path must stay below the image root."""
    told = ((row, path, wrong) for row, path in frame[column].items() if (wrong := path_faults(path)))
    faults.add(
        place.file, (f"{place.of(row)} has {column} {path!r}: {one}" for row, path, wrong in told for one in wrong)
    )


def judgements(
    frame: pd.DataFrame, place: Place, faults: Faults, key: list[str] | None = None
) -> tuple[pd.DataFrame, int]:
    """The rows, each pair once, and how many said again what another had said; contradictions are faults.

    `frame` has query_id, candidate_id and value (1, 0).
    """
    key = key or PAIR
    same = (frame["query_id"] == frame["candidate_id"]).to_numpy(bool)
    faults.add(place.file, (f"{place.of(row)} is {frame['query_id'].loc[row]!r} with itself: leave it out"
                            for row in frame.index[same][:MOST]))  # fmt: skip
    numbers = frame.groupby(key, sort=False, dropna=False).ngroup().to_numpy()
    first = pd.Series(np.arange(len(frame))).groupby(numbers).transform("first").to_numpy()
    again = first != np.arange(len(frame))
    values = frame["value"].astype(object).where(frame["value"].notna(), None).to_numpy()
    differs = np.flatnonzero(again & (values != values[first]))
    faults.add(place.file, (
        f"{place.of(frame.index[row])} says {values[row]} of {' '.join(map(str, frame[key].iloc[row]))!r}, "
        f"{place.of(frame.index[first[row]])} says {values[first[row]]}: decide for one" for row in differs[:MOST]
    ))  # fmt: skip
    return frame[~again], int(again.sum())


def known(frame: pd.DataFrame, names: list[str], images: "pd.Series[Any]", place: Place, faults: Faults) -> None:
    """Every id must be an image of the catalogue."""
    members = set(images)
    for name in names:
        lost = ~frame[name].isin(members)
        do = "no image of the catalogue has this id; add the image or leave the row out"
        faults.add(place.file, _told(frame[name], lost, place, name, do))


def zero_one(frame: pd.DataFrame, name: str, place: Place, faults: Faults) -> "pd.Series[Any]":
    """The column as 1 and 0 (missing where it is neither, which is told)."""
    meaning: dict[Any, int] = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, 1: 1, 0: 0}
    given = frame[name].astype(object)
    codes, distinct = pd.factorize(given, use_na_sentinel=True)
    table = [None if isinstance(value, (bool, np.bool_)) else meaning.get(value) for value in distinct]
    found = pd.Series(np.array([*table, None], dtype=object)[codes], index=frame.index).astype("Int64")
    faults.add(place.file, _told(given, found.isna(), place, name, "give 1 or 0"))
    return found


def _told(column: "pd.Series[Any]", bad: Any, place: Place, name: str, do: str) -> Iterator[str]:
    wrong = column[np.asarray(bad, dtype=bool)]
    for row, value in wrong.iloc[:MOST].items():
        yield f"{place.of(row)} has {name} {None if pd.isna(value) else value!r}: {do}"
    if len(wrong) > MOST:
        yield f"and {len(wrong) - MOST:,} more of this kind"
