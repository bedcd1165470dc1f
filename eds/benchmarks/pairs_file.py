"""pairs.csv: every pair with its label and why it was asked; part of several formats.

    query_id,candidate_id,n_votes,n_pos,n_unsure,value,tie,rule, then the columns of table suspects

A pair that was asked for several reasons has lists, an entry for each of its origins: `pool;random` with the
probabilities `1;0.02`. The sources, whose own separator is the semicolon, are separated by `|`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.benchmark import PAIR, Benchmark, Location
from eds.benchmarks.files import convert_columns, read_csv, write_csv
from eds.benchmarks.validate import Faults, check_columns, check_ids, drop_repeats
from eds.errors import InputError
from eds.schema import Column, to_arrow, to_frame
from eds.tables import SUSPECTS, TRUTH

LABEL = {  # the pair and its label
    "query_id": "text",
    "candidate_id": "text",
    "n_votes": "integer",
    "n_pos": "integer",
    "n_unsure": "integer",
    "value": "integer",
    "tie": "flag",
    "rule": "text",
}
ORIGINS = ("pool", "random", "negative", "gold", "repeat")  # in this order in a list
FIRST = ("origin", "probability", "sources")  # of the columns of table suspects, for who reads the file by eye
DRAWN = ("random", "negative")  # by a probability that says how many there were to draw from

Tables = tuple[pd.DataFrame | None, pd.DataFrame | None, list[str]]


def reason() -> dict[str, Column]:
    """The columns that say why a pair was asked, with an entry for each of its origins: those of table suspects."""
    declared = {column.name: column for column in SUSPECTS.columns if column.name not in PAIR}
    return {name: declared[name] for name in dict.fromkeys((*FIRST, *declared))}


def columns() -> dict[str, str]:
    """The kind of each column of the file."""
    return {**LABEL, **{name: column.kind for name, column in reason().items()}}


def _sign(name: str) -> str:
    """What separates the entries of a list."""
    return "|" if name == "sources" else ";"


def require_pairs(benchmark: Benchmark) -> pd.DataFrame:
    """Return the catalogue of a benchmark that has pairs; refuse one that has none."""
    if benchmark.images is None or (benchmark.truth is None and benchmark.suspects is None):
        raise InputError("there are no pairs", where="suspects.parquet", hint="Make some first: eds suspects pool.")
    return benchmark.images


def pairs_frame(benchmark: Benchmark) -> pd.DataFrame:
    """Return every labelled or suspected pair once, by its ids."""
    truth = TRUTH.empty() if benchmark.truth is None else benchmark.truth
    suspects = SUSPECTS.empty() if benchmark.suspects is None else benchmark.suspects
    pairs = truth.merge(_joined_origins(suspects), how="outer", on=PAIR)
    votes = pairs[["votes_for", "votes_against", "unsure"]].astype("Int64")
    pairs = pairs.assign(n_votes=votes.sum(axis=1, skipna=False), n_pos=votes["votes_for"], n_unsure=votes["unsure"])
    pairs["tie"] = pairs["tie"].astype("boolean")
    for name in ("value", "batch", "position"):
        pairs[name] = pairs[name].astype("Int64") if pd.api.types.is_numeric_dtype(pairs[name]) else pairs[name]
    return pairs[list(columns())].sort_values(PAIR, ignore_index=True)


def kinds(pairs: pd.DataFrame) -> dict[str, str]:
    """The kind of each column of `pairs_frame`: text for the lists of pairs with several origins."""
    lists = pairs["origin"].str.contains(";").any()
    return {name: "text" if lists and name not in LABEL else kind for name, kind in columns().items()}


def _joined_origins(suspects: pd.DataFrame) -> pd.DataFrame:
    """The suspects with one row a pair; where pairs have several origins, all entries are text."""
    ordered = suspects.assign(order=suspects["origin"].map(ORIGINS.index)).sort_values([*PAIR, "order"])
    ordered = ordered[[*PAIR, *reason()]]
    several = ordered.duplicated(PAIR, keep=False)
    if not several.any():
        return ordered
    texts = ordered.assign(**{name: ordered[name].astype(object).map(_as_text) for name in reason()})
    lists = texts[several].fillna("")
    lists["stratum"] = lists["stratum"].str.replace("%", "%25").str.replace(";", "%3B")
    joined = lists.groupby(PAIR, sort=False).agg({name: _sign(name).join for name in reason()}).reset_index()
    return pd.concat([texts[~several], joined], ignore_index=True)


def _as_text(value: Any) -> str | None:
    return None if pd.isna(value) else repr(value) if isinstance(value, float) else str(value)


def _split_origins(frame: pd.DataFrame, at: Location, faults: Faults) -> pd.DataFrame:
    """The rows with an origin, one for each entry of their lists; the index names the row of the file."""
    asked = frame[frame["origin"].notna()]
    several = asked["origin"].astype(str).str.contains(";").to_numpy(bool)
    if not several.any():
        return asked
    lists = asked[several]
    counts = lists["origin"].str.count(";") + 1
    parted = lists.copy()
    listed = [name for name in reason() if name in lists]
    for name in listed:
        parts = [_entries(value, _sign(name), count) for value, count in zip(lists[name], counts, strict=True)]
        wrong = [row for row, part, count in zip(lists.index, parts, counts, strict=True) if len(part) != count]
        faults.add(at.file, (f"{at.row(row)} has another number of entries in {name} than in origin" for row in wrong))
        parted[name] = pd.Series(parts, index=lists.index, dtype=object)
    if faults:
        return asked
    parted = parted.explode(listed)
    if "stratum" in listed:
        parted["stratum"] = parted["stratum"].str.replace("%3B", ";").str.replace("%25", "%")
    return pd.concat([asked[~several], parted]).sort_index(kind="stable")


def _entries(value: Any, sign: str, count: int) -> list[str | None]:
    """The entries of a list; nothing stands for nothing in each."""
    return [None] * count if value is None or pd.isna(value) else [part or None for part in str(value).split(sign)]


def write_pairs(benchmark: Benchmark, file: Path) -> dict[str, str]:
    """Write pairs.csv; return the kind of each of its columns."""
    frame = pairs_frame(benchmark)
    write_csv(frame, file)
    return kinds(frame)


def read_pairs(file: Path, rule: str, faults: Faults) -> Tables:
    """Return tables truth and suspects of a pairs.csv, and notes."""
    frame, at = read_csv(file), Location(file)
    if not check_columns(frame, PAIR, at, faults):
        return None, None, []
    if not len(frame):
        faults.add(file, ["holds no pairs"])
    truth, suspects, notes = tables_from_pairs(frame, at, rule, faults)
    unknown = sorted(set(map(str, frame.columns)) - set(columns()))
    if unknown:
        notes.insert(0, f"{file}: unknown columns {', '.join(unknown)} are ignored")
    return truth, suspects, notes


def tables_from_pairs(frame: pd.DataFrame, at: Location, rule: str, faults: Faults) -> Tables:
    """Return tables truth and suspects of a frame with these columns, or some of them, and notes."""
    check_ids(frame, PAIR, at, faults)
    frame = convert_columns(frame, LABEL, at.file, faults, at.unit)
    for row, value in frame["value"][frame["value"].notna() & ~frame["value"].isin([0, 1])].items():
        faults.add(at.file, [f"{at.row(row)} has value {value}: give 1, 0 or nothing"])
    frame, notes = drop_repeats(frame, at, faults)
    asked = _split_origins(frame.assign(origin=frame.get("origin")), at, faults)
    if faults:
        return None, None, notes
    asked = convert_columns(asked, {name: column.kind for name, column in reason().items()}, at.file, faults, at.unit)
    never = asked[(asked["origin"].isin(DRAWN) & (asked["probability"] <= 0)).to_numpy(bool)]
    for row, origin, probability in zip(never.index, never["origin"], never["probability"], strict=True):
        text = f"{at.row(row)} was drawn ({origin}) with probability {probability:g}: give a probability above 0"
        faults.add(at.file, [text])
    if faults:
        return None, None, notes
    judged = frame[frame["value"].notna()]
    counts = {name: judged[name].fillna(0).astype("int64") for name in ("n_votes", "n_pos", "n_unsure")}
    truth = judged[[*PAIR, "value"]].assign(
        value=judged["value"].astype("int64"),
        votes_for=counts["n_pos"],
        votes_against=counts["n_votes"] - counts["n_pos"] - counts["n_unsure"],
        unsure=counts["n_unsure"],
        tie=judged["tie"].fillna(False).astype(bool),
        rule=judged["rule"].fillna(rule),
    )
    defaults = {name: column.default for name, column in reason().items() if column.default is not None}
    suspects = asked[[*PAIR, *reason()]].fillna(defaults)
    numbers = np.arange(len(suspects))
    suspects = suspects.assign(
        batch=suspects["batch"].fillna(0),
        probability=suspects["probability"].fillna(1.0).astype("float64"),
        position=np.where(suspects["position"].isna(), numbers, suspects["position"].fillna(0)).astype("int64"),
    )
    return (
        to_frame(to_arrow(truth, TRUTH, str(at.file))).set_axis(judged.index, axis=0),
        to_frame(to_arrow(suspects, SUSPECTS, str(at.file))).set_axis(asked.index, axis=0),
        notes,
    )
