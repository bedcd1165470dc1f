"""pairs.csv: every pair with its label and why it was asked; part of several formats.

query_id,candidate_id,n_votes,n_pos,n_unsure,value,tie,origin,probability,sources, then rule,batch,position,stratum
"""

from pathlib import Path

import pandas as pd

from eds.benchmarks.benchmark import PAIR, Benchmark, Location
from eds.benchmarks.files import convert_columns, read_csv, write_csv
from eds.benchmarks.validate import Faults, check_columns, check_ids, drop_repeats
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.tables import SUSPECTS, TRUTH

COLUMNS = {
    "query_id": "text",
    "candidate_id": "text",
    "n_votes": "integer",
    "n_pos": "integer",
    "n_unsure": "integer",
    "value": "integer",
    "tie": "flag",
    "origin": "text",
    "probability": "real",
    "sources": "text",
    "rule": "text",
    "batch": "integer",
    "position": "integer",
    "stratum": "text",
}
ORIGINS = ("pool", "random", "negative", "gold", "repeat")  # a pair asked for several reasons keeps the first of these
DRAWN = ("random", "negative")  # by a probability that says how many there were to draw from

Tables = tuple[pd.DataFrame | None, pd.DataFrame | None, list[str]]


def require_pairs(benchmark: Benchmark) -> pd.DataFrame:
    """Return the catalogue of a benchmark that has pairs; refuse one that has none."""
    if benchmark.images is None or (benchmark.truth is None and benchmark.suspects is None):
        raise InputError("there are no pairs", where="suspects.parquet", hint="Make some first: eds suspects pool.")
    return benchmark.images


def pairs_frame(benchmark: Benchmark) -> tuple[pd.DataFrame, list[str]]:
    """Return every labelled or suspected pair once, by its ids; and what that cannot hold."""
    truth = TRUTH.empty() if benchmark.truth is None else benchmark.truth
    suspects = SUSPECTS.empty() if benchmark.suspects is None else benchmark.suspects
    ordered = suspects.assign(order=suspects["origin"].map(ORIGINS.index)).sort_values([*PAIR, "order"])
    once = ordered.drop_duplicates(PAIR).drop(columns="order")
    not_held = []
    if len(once) < len(suspects):
        not_held.append(f"{len(suspects) - len(once):,} further origins of pairs that were asked for several reasons")
    pairs = truth.merge(once, how="outer", on=PAIR)
    votes = pairs[["votes_for", "votes_against", "unsure"]].astype("Int64")
    pairs = pairs.assign(n_votes=votes.sum(axis=1, skipna=False), n_pos=votes["votes_for"], n_unsure=votes["unsure"])
    pairs["tie"] = pairs["tie"].astype("boolean")
    for name in ("value", "batch", "position"):
        pairs[name] = pairs[name].astype("Int64")
    return pairs[list(COLUMNS)].sort_values(PAIR, ignore_index=True), not_held


def write_pairs(benchmark: Benchmark, file: Path) -> list[str]:
    """Write pairs.csv; return what it cannot hold."""
    frame, not_held = pairs_frame(benchmark)
    write_csv(frame, file)
    return not_held


def read_pairs(file: Path, rule: str, faults: Faults) -> Tables:
    """Return tables truth and suspects of a pairs.csv, and notes."""
    frame, at = read_csv(file), Location(file)
    if not check_columns(frame, PAIR, at, faults):
        return None, None, []
    if not len(frame):
        faults.add(file, ["holds no pairs"])
    truth, suspects, notes = tables_from_pairs(frame, at, rule, faults)
    unknown = sorted(set(map(str, frame.columns)) - set(COLUMNS))
    if unknown:
        notes.insert(0, f"{file}: unknown columns {', '.join(unknown)} are ignored")
    return truth, suspects, notes


def tables_from_pairs(frame: pd.DataFrame, at: Location, rule: str, faults: Faults) -> Tables:
    """Return tables truth and suspects of a frame with these columns, or some of them, and notes."""
    check_ids(frame, PAIR, at, faults)
    frame = convert_columns(frame, COLUMNS, at.file, faults, at.unit)
    for row, value in frame["value"][frame["value"].notna() & ~frame["value"].isin([0, 1])].items():
        faults.add(at.file, [f"{at.row(row)} has value {value}: give 1, 0 or nothing"])
    never = frame[(frame["origin"].isin(DRAWN) & (frame["probability"] <= 0)).to_numpy(bool)]
    for row, origin, probability in zip(never.index, never["origin"], never["probability"], strict=True):
        text = f"{at.row(row)} was drawn ({origin}) with probability {probability:g}: give a probability above 0"
        faults.add(at.file, [text])
    frame, notes = drop_repeats(frame, at, faults)
    if faults:
        return None, None, notes
    judged, asked = frame[frame["value"].notna()], frame[frame["origin"].notna()]
    counts = {name: judged[name].fillna(0).astype("int64") for name in ("n_votes", "n_pos", "n_unsure")}
    truth = judged[[*PAIR, "value"]].assign(
        value=judged["value"].astype("int64"),
        votes_for=counts["n_pos"],
        votes_against=counts["n_votes"] - counts["n_pos"] - counts["n_unsure"],
        unsure=counts["n_unsure"],
        tie=judged["tie"].fillna(False).astype(bool),
        rule=judged["rule"].fillna(rule),
    )
    suspects = asked[[*PAIR, "origin", "batch", "position", "sources", "stratum", "probability"]]
    suspects = suspects.assign(
        batch=suspects["batch"].fillna(0),
        probability=suspects["probability"].fillna(1.0).astype("float64"),
        position=suspects["position"].fillna(pd.Series(range(len(suspects)), index=suspects.index)),
    )
    return (
        to_frame(to_arrow(truth, TRUTH, str(at.file))).set_axis(judged.index, axis=0),
        to_frame(to_arrow(suspects, SUSPECTS, str(at.file))).set_axis(asked.index, axis=0),
        notes,
    )
