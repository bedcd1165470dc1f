"""Rows that others wrote, held against what a benchmark's rows are: every fault by row, over whole columns."""

from collections.abc import Iterator, Mapping
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
        column = frame[name].astype(object)
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


def as_paths(frame: pd.DataFrame, wrong: Mapping[str, str], place: Place, faults: Faults) -> None:
    """Tell the first row of each id whose path (`wrong`: id -> path) leaves the image root."""
    for name in PAIR:
        first = frame[frame[name].isin(wrong)].drop_duplicates(name)[name]
        faults.add(place.file, (f"{place.of(row)} has {name} {one!r}, so path {wrong[one]!r}: {told}"
                                for row, one in first.items() for told in path_faults(wrong[one])))  # fmt: skip


def plain(frame: pd.DataFrame, place: Place, faults: Faults) -> bool:
    """Whether no value is a list or an object; tells those that are."""
    found: list[str] = []
    for name in frame.columns:
        nested = frame[name].map(lambda value: isinstance(value, (dict, list, tuple, np.ndarray))).astype(bool)
        found += _told(frame[name], nested, place, str(name), "give text or a number")
    faults.add(place.file, found)
    return not found


def texts(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Ids as text: whole numbers become it, all else stays as it is, so that `ids` can tell it."""
    named: pd.Series[Any] = column.astype(object).map(
        lambda one: str(one) if isinstance(one, (int, np.integer)) and not isinstance(one, (bool, np.bool_)) else one
    )
    return named


def judgements(
    frame: pd.DataFrame, place: Place, faults: Faults, key: list[str] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """The rows, each pair once, and a note where some say again what another has said; contradictions are faults.

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
    if not again.any():
        return frame, []
    at = int(np.flatnonzero(again)[0])
    here, before = (place.of(frame.index[row]) for row in (at, first[at]))
    note = (f"{place.file}: {int(again.sum()):,} {place.unit}s say again what others say, as {here} what {before} "
            "says: each pair counts once")  # fmt: skip
    return frame[~again], [note]


def judged(frame: pd.DataFrame, place: Place) -> tuple[pd.DataFrame, list[str]]:
    """The rows without those of a grade below 0, as trec_eval has it: pooled, and judged by nobody."""
    below = (frame["value"] < 0).to_numpy(bool)
    if not below.any():
        return frame, []
    first = place.of(frame.index[below][0])
    note = (f"{place.file}: {int(below.sum()):,} {place.unit}s have a grade below 0, as {first}: pairs that nobody "
            "judged, left out")  # fmt: skip
    return frame[~below], [note]


def known(frame: pd.DataFrame, names: list[str], images: "pd.Series[Any]", place: Place, faults: Faults) -> None:
    """Every id must be an image of the catalogue."""
    members = set(images)
    for name in names:
        lost = ~frame[name].isin(members)
        do = "no image of the catalogue has this id; add the image or leave the row out"
        faults.add(place.file, _told(frame[name], lost, place, name, do))


def _told(column: "pd.Series[Any]", bad: Any, place: Place, name: str, do: str) -> Iterator[str]:
    wrong = column[np.asarray(bad, dtype=bool)]
    for row, value in wrong.iloc[:MOST].items():
        shown = None if pd.api.types.is_scalar(value) and pd.isna(value) else value
        yield f"{place.of(row)} has {name} {shown!r}: {do}"
    if len(wrong) > MOST:
        yield f"and {len(wrong) - MOST:,} more of this kind"
