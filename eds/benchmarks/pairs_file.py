"""pairs.csv: every pair with its label and why it was asked; written beside votes and within Croissant.

query_id,candidate_id,n_votes,n_pos,n_unsure,value,tie,origin,probability,sources, and behind them
rule,batch,position,stratum
"""

from pathlib import Path

import pandas as pd

from eds.benchmarks import rows
from eds.benchmarks.benchmark import PAIR, Benchmark, Place
from eds.benchmarks.json_files import Faults
from eds.benchmarks.text_files import as_kinds, read_csv, write_csv
from eds.schema import to_arrow, to_frame
from eds.tables import SUSPECTS, TRUTH

COLUMNS = {"query_id": "text", "candidate_id": "text", "n_votes": "integer", "n_pos": "integer", "n_unsure": "integer",
           "value": "integer", "tie": "flag", "origin": "text", "probability": "real", "sources": "text",
           "rule": "text", "batch": "integer", "position": "integer", "stratum": "text"}  # fmt: skip
ORIGINS = ("pool", "random", "negative", "gold", "repeat")  # a pair asked for several reasons keeps the first of these

DRAWN = ("random", "negative")  # by a chance that tells how many there were to draw from


def frame_of(benchmark: Benchmark) -> tuple[pd.DataFrame, list[str]]:
    """Every labelled or suspected pair once, by its ids; and what that cannot hold."""
    truth = TRUTH.empty() if benchmark.truth is None else benchmark.truth
    asked = SUSPECTS.empty() if benchmark.suspects is None else benchmark.suspects
    ordered = asked.assign(place=asked["origin"].map(ORIGINS.index)).sort_values([*PAIR, "place"])
    once = ordered.drop_duplicates(PAIR).drop(columns="place")
    lost = []
    if len(once) < len(asked):
        lost.append(f"{len(asked) - len(once):,} further origins of pairs that were asked for several reasons")
    pairs = truth.merge(once, how="outer", on=PAIR)
    votes = pairs[["votes_for", "votes_against", "unsure"]].astype("Int64")
    pairs = pairs.assign(n_votes=votes.sum(axis=1, skipna=False), n_pos=votes["votes_for"], n_unsure=votes["unsure"])
    pairs["tie"] = pairs["tie"].astype("boolean")
    for name in ("value", "batch", "position"):
        pairs[name] = pairs[name].astype("Int64")
    return pairs[list(COLUMNS)].sort_values(PAIR, ignore_index=True), lost


def write(benchmark: Benchmark, file: Path) -> list[str]:
    """Write pairs.csv; what it cannot hold."""
    frame, lost = frame_of(benchmark)
    write_csv(frame, file)
    return lost


def read(file: Path, rule: str, faults: Faults) -> tuple[pd.DataFrame | None, pd.DataFrame | None, list[str]]:
    """Tables truth and suspects of a pairs.csv, and notes; what is wrong goes to `faults`."""
    frame, place = read_csv(file), Place(file)
    if not rows.columns(frame, PAIR, place, faults):
        return None, None, []
    if not len(frame):
        faults.add(file, ["holds no pairs"])
    notes = []
    strange = sorted(set(map(str, frame.columns)) - set(COLUMNS))
    if strange:
        notes.append(f"{file}: columns {', '.join(strange)} mean nothing here and are left out")
    truth, suspects, told = tables_of(frame, place, rule, faults)
    return truth, suspects, [*notes, *told]


def tables_of(
    frame: pd.DataFrame, place: Place, rule: str, faults: Faults
) -> tuple[pd.DataFrame | None, pd.DataFrame | None, list[str]]:
    """The same of a frame with these columns, or some of them."""
    file, notes = place.file, list[str]()
    rows.ids(frame, PAIR, place, faults)
    frame = as_kinds(frame, COLUMNS, place.file, faults, place.unit)
    outside = frame["value"].notna() & ~frame["value"].isin([0, 1])
    faults.add(
        file,
        (f"{place.of(row)} has value {frame['value'].loc[row]}: give 1, 0 or nothing" for row in frame.index[outside]),
    )
    never = frame["origin"].isin(DRAWN) & (frame["probability"] <= 0)
    faults.add(file, (f"{place.of(row)} was drawn ({frame['origin'].loc[row]}) with probability "
                      f"{frame['probability'].loc[row]:g}: give the one it was drawn with, above 0"
                      for row in frame.index[never.to_numpy(bool)]))  # fmt: skip
    frame, told = rows.judgements(frame, place, faults)
    notes += told
    if faults.any():
        return None, None, notes
    judged, asked = frame[frame["value"].notna()], frame[frame["origin"].notna()]
    counts = {name: judged[name].fillna(0).astype("int64") for name in ("n_votes", "n_pos", "n_unsure")}
    truth = judged[[*PAIR, "value"]].assign(
        value=judged["value"].astype("int64"), votes_for=counts["n_pos"], unsure=counts["n_unsure"],
        votes_against=counts["n_votes"] - counts["n_pos"] - counts["n_unsure"],
        tie=judged["tie"].fillna(False).astype(bool), rule=judged["rule"].fillna(rule),
    )  # fmt: skip
    suspects = asked[[*PAIR, "origin", "batch", "position", "sources", "stratum", "probability"]]
    suspects = suspects.assign(
        batch=suspects["batch"].fillna(0), probability=suspects["probability"].fillna(1.0).astype("float64"),
        position=suspects["position"].fillna(pd.Series(range(len(suspects)), index=suspects.index)),
    )  # fmt: skip
    return (
        to_frame(to_arrow(truth[TRUTH.names], TRUTH, str(file))).set_axis(judged.index, axis=0),
        to_frame(to_arrow(suspects[SUSPECTS.names], SUSPECTS, str(file))).set_axis(asked.index, axis=0),
        notes,
    )
