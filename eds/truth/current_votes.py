"""From append-only acts to what counts: which act of each expert on each pair is the current one.

An act belongs to its expert, pair and kind. It stops counting when a later act `supersedes` it; of
those left, the latest counts (created_at). Only acts up to `as_of` are looked at. Anything that leaves
open which act counts is refused, all faults at once. Not here: what votes mean (votes.py, majority.py).
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError, TableError
from eds.schema import SHOWN, TEXT, to_arrow
from eds.tables import LABELS

Ints = npt.NDArray[np.int64]
Names = npt.NDArray[np.object_]
UNSURE: Final = -1
KINDS: Final = ("normal", "gold", "repeat")
NO_ACT: Final = -1


@dataclass(frozen=True)
class Acts:
    """The current acts, sorted by (pair, expert, kind); every array has an entry for each act, unless said otherwise.

    `row`: int64 row in the labels frame; `pair`, `expert`, `kind`: int64 places in the pairs, `experts`, `KINDS`;
    `value`: int8, 1, 0 or UNSURE; `seconds`: float64, NaN where not measured; `created`: int64, microseconds.
    """

    row: Ints
    pair: Ints
    expert: Ints
    kind: Ints
    value: npt.NDArray[np.int8]
    seconds: npt.NDArray[np.float64]
    created: Ints
    query: Ints  # of each pair, in the order of (query_id, candidate_id): place in `query_names`
    candidate: Ints
    query_names: Names
    candidate_names: Names
    experts: Names  # sorted

    @property
    def n_pairs(self) -> int:
        """How many pairs have an act."""
        return len(self.query)

    @cached_property
    def order(self) -> Ints:
        """Each act's place in time, 0 for the earliest; acts of one microsecond keep their order."""
        places = np.empty(len(self.created), dtype=np.int64)
        places[np.argsort(self.created, kind="stable")] = np.arange(len(places))
        return places

    def frame(self, rows: Ints) -> pd.DataFrame:
        """The pairs in `rows` as columns query_id and candidate_id."""
        columns = {"query_id": (self.query, self.query_names), "candidate_id": (self.candidate, self.candidate_names)}
        return pd.DataFrame(
            {name: pd.Series(names, dtype=TEXT).array.take(codes[rows]) for name, (codes, names) in columns.items()}
        )


def current_acts(labels: pd.DataFrame, as_of: datetime | None = None, where: str = "table labels") -> Acts:
    """The acts of a labels frame that count as of a date (inclusive; None: now), whatever its row order."""
    table = to_arrow(labels, LABELS, where)
    query, query_names = _coded(table["query_id"])
    candidate, candidate_names = _coded(table["candidate_id"])
    expert, expert_names = _coded(table["expert_id"])
    kind = pc.index_in(table["kind"], pa.array(KINDS)).to_numpy().astype(np.int64)
    whole = query * max(len(candidate_names), 1) + candidate
    group = (whole * max(len(expert_names), 1) + expert) * len(KINDS) + kind
    created = pc.cast(table["created_at"], pa.int64()).to_numpy()
    corrects = _corrected(table, group, where)
    rows = np.arange(len(group)) if as_of is None else np.flatnonzero(created <= _microseconds(as_of))
    value = pc.fill_null(table["value"], UNSURE).to_numpy().astype(np.int8)
    rows = _standing(rows, group, created, value, corrects, table["label_id"], where)
    first = np.diff(whole[rows], prepend=-1) != 0
    present = np.bincount(expert[rows], minlength=len(expert_names)) > 0
    return Acts(
        row=rows,
        pair=np.cumsum(first) - 1,
        expert=(np.cumsum(present) - 1)[expert[rows]],
        kind=kind[rows],
        value=value[rows],
        seconds=table["seconds"].to_numpy()[rows],
        created=created[rows],
        query=query[rows][first],
        candidate=candidate[rows][first],
        query_names=query_names,
        candidate_names=candidate_names,
        experts=expert_names[present],
    )


def _coded(column: pa.ChunkedArray) -> tuple[Ints, Names]:
    """Each row's place among the distinct values, which are sorted by code point."""
    coded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()  # of UTF-8 bytes, which is the order of code points
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    names = coded.dictionary.to_numpy(zero_copy_only=False).astype(object)[order]
    return places[coded.indices.to_numpy()], names


def _microseconds(moment: datetime) -> int:
    stamp = pd.Timestamp(moment)
    if pd.isna(stamp) or stamp.tzinfo is None:
        raise InputError(f"{moment} has no time zone", where="as_of", hint="Give a moment in UTC.")
    return int(stamp.as_unit("us").asm8.astype(np.int64))


def _corrected(table: pa.Table, group: Ints, place: str) -> Ints:
    """The row each row supersedes, or NO_ACT; all faults of the chain are reported at once."""
    pointed = table["supersedes"].combine_chunks()
    # Empty text stands for "supersedes nothing" in some imports; an id is never empty.
    rows = np.flatnonzero(pc.fill_null(pc.not_equal(pointed, ""), False).to_numpy(zero_copy_only=False))
    target = np.full(len(group), NO_ACT)
    if not len(rows):
        return target
    named = pointed.take(rows).dictionary_encode()
    result = pc.index_in(table["label_id"].combine_chunks(), named.dictionary)
    at = np.flatnonzero(pc.is_valid(result).to_numpy(zero_copy_only=False))
    row_of = np.full(len(named.dictionary), NO_ACT)
    row_of[result.take(at).to_numpy()] = at
    target[rows] = row_of[named.indices.to_numpy()]
    lost = np.zeros(len(group), dtype=np.bool_)
    lost[rows] = target[rows] == NO_ACT
    foreign = (target != NO_ACT) & (group[target] != group)
    faults = [
        _describe(table, lost, "supersedes a missing act"),
        _describe(table, foreign, "supersedes an act of another expert, pair or kind"),
        _describe(table, _in_circles(target), "supersedes itself, directly or in a circle"),
    ]
    _refuse([fault for fault in faults if fault], place, "Each correction names an earlier act of the same expert.")
    return target


def _in_circles(target: Ints) -> npt.NDArray[np.bool_]:
    """Rows from which following `target` never ends: after n steps (in log n jumps) they have not left."""
    jump = np.append(target, NO_ACT)  # the last place, reached by NO_ACT, stays where it is
    for _ in range(max(len(target), 1).bit_length() + 1):
        jump = jump[jump]
    return np.asarray(jump[:-1] != NO_ACT)


def _standing(
    rows: Ints, group: Ints, created: Ints, value: npt.NDArray[np.int8], corrects: Ints, ids: Any, place: str
) -> Ints:
    """The one row of each group that counts, sorted by group."""
    superseded = np.zeros(len(group) + 1, dtype=np.bool_)
    superseded[corrects[rows]] = True  # NO_ACT marks the place behind the last
    rows = rows[~superseded[rows]]
    rows = rows[np.argsort(group[rows])]
    again = group[rows][1:] == group[rows][:-1]
    if not again.any():
        return rows
    several = np.append(again, False) | np.append(False, again)
    among = rows[several]
    rows[several] = among[np.lexsort((created[among], group[among]))]
    last = np.append(group[rows][1:] != group[rows][:-1], True)
    latest = rows[last][np.cumsum(last) - last]  # of each row's group
    at_once = created[rows] == created[latest]
    split = rows[at_once & (value[rows] != value[latest])]
    if len(split):
        shown = ", ".join(ids.take(np.sort(split)[:SHOWN]).to_pylist())
        fault = f"{len(split):,} acts contradict another of the same expert, pair, kind and time, e.g. {shown}"
        _refuse([fault], place, "Say with `supersedes` which one counts, or correct created_at.")
    return _smallest_id(rows[at_once], group, ids)


def _smallest_id(rows: Ints, group: Ints, ids: Any) -> Ints:
    """Of equal acts at one time the one with the smallest id, so that row order does not matter."""
    again = group[rows][1:] == group[rows][:-1]
    if again.any():
        ranked = np.asarray(pc.rank(ids.take(rows), tiebreaker="first"), dtype=np.int64)
        rows = rows[np.lexsort((ranked, group[rows]))]
    first: Ints = rows[np.append(True, group[rows][1:] != group[rows][:-1])]
    return first


def _describe(table: pa.Table, wrong: npt.NDArray[np.bool_], rule: str) -> str:
    at = np.flatnonzero(wrong)
    ids = table["label_id"].take(at[:SHOWN]).to_pylist()
    shown = ", ".join(f"row {row} ({name})" for row, name in zip(at.tolist(), ids, strict=False))
    more = f" and {len(at) - SHOWN:,} more" if len(at) > SHOWN else ""
    return f"{rule}: {shown}{more}" if len(at) else ""


def _refuse(faults: list[str], place: str, advice: str) -> None:
    if len(faults) == 1:
        raise TableError(faults[0], where=place, hint=advice)
    if faults:
        raise TableError(f"{len(faults)} faults", where=place, hint=advice, faults=faults)
