"""Pairs from other stages: checked, deduplicated, and numbered in the store."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import schema
from eds.labels.bulk import alone, fetch, insert, reserve
from eds.labels.portions import in_portions
from eds.labels.store import Store
from eds.labels.validation import fault_of, refuse, short

NUMBERED = ("query_id", "candidate_id")


def as_text(frame: pd.DataFrame, name: str, where: str) -> pa.Array:
    """A column of ids as Arrow text, every distinct one checked; or all faults, by row."""
    if name not in frame.columns:
        raise InputError(f"column {name} is missing", where=where, hint="Give query_id and candidate_id.")
    series = frame[name]
    values = pd.unique(series)
    bad = {}
    for value in values:
        fault = "is empty" if not isinstance(value, str) and pd.isna(value) else fault_of(value)
        if fault:
            bad[value] = fault
    if bad:
        rows = [row for row, value in enumerate(series.isin(list(bad)) | series.isna()) if value]
        empty = "is empty"
        refuse(
            (f"row {row}: {name} {bad.get(series.iloc[row], empty)}" for row in rows),
            "rows hold ids that cannot be kept",
            where,
            "Rows count from 0; give other ids.",
        )
    return as_strings(series)


def as_strings(series: "pd.Series[Any]") -> pa.Array:
    """The texts as Arrow strings: pandas 2 and 3 keep them differently."""
    result = pa.array(series, from_pandas=True)
    result = result.combine_chunks() if isinstance(result, pa.ChunkedArray) else result
    return result.cast(pa.string())


def checked(frame: pd.DataFrame, where: str) -> pa.Table:
    """query_id, candidate_id, kind, origin of the frame's distinct pairs, in its order."""
    queries, candidates = (as_text(frame, name, where) for name in NUMBERED)
    same = pc.equal(queries, candidates).to_pylist()
    refuse(
        (f"row {row}: {short(queries[row].as_py())} with itself" for row, equal in enumerate(same) if equal),
        "pairs ask about an image and itself",
        where,
        "Leave them out.",
    )
    table = pd.DataFrame({"query_id": queries.to_pandas(), "candidate_id": candidates.to_pandas()})
    origin = frame["origin"].to_numpy() if "origin" in frame.columns else "pool"
    table["origin"] = origin
    table["kind"] = table["origin"].where(table["origin"].isin(["gold", "repeat"]), "normal")
    key = [*NUMBERED, "kind"]
    # The same pair from the pool and from a random draw is one question.
    origins = table.drop_duplicates([*key, "origin"]).sort_values("origin", kind="stable")
    joined = origins.groupby(key, sort=False)["origin"].agg(";".join)
    table = table.drop_duplicates(key)
    table["origin"] = joined.reindex(pd.MultiIndex.from_frame(table[key])).to_numpy()
    return pa.table({name: as_strings(table[name]) for name in [*key, "origin"]})


def numbered(connection: sa.Connection, pairs: pa.Table, *, enter: bool = True) -> pa.Table:
    """The table with a column `pair`: the store's number of each pair, new ones entered now.

    Without `enter` nothing is written, and new ones have negative numbers.
    """
    if enter:
        alone(connection, schema.pair)
    numbers = _distinct(pairs).merge(_entered(connection), how="left", on=list(NUMBERED))
    missing = numbers["pair"].isna().to_numpy()
    numbers["pair"] = numbers["pair"].fillna(0).astype("int64")
    if enter:
        numbers.loc[missing, "pair"] = _enter(connection, numbers[missing])
    else:
        numbers.loc[missing, "pair"] = -1 - np.arange(missing.sum())
    return _with_numbers(pairs, numbers)


def numbered_in_portions(store: Store, pairs: pa.Table) -> pa.Table:
    """The same as `numbered`, with new pairs entered in portions: a pair that nobody asks about changes nothing."""
    known = store.read(_entered)
    numbers = _distinct(pairs).merge(known, how="left", on=list(NUMBERED))
    missing = numbers[numbers["pair"].isna()]
    parts, last = [numbers[numbers["pair"].notna()]], int(known["pair"].max()) if len(known) else 0

    def act(connection: sa.Connection, *, start: int, rows: int) -> pd.DataFrame:
        alone(connection, schema.pair)
        part = missing.iloc[start : start + rows][list(NUMBERED)]
        part = part.merge(_entered(connection, last), how="left", on=list(NUMBERED))
        new = part["pair"].isna().to_numpy()
        part["pair"] = part["pair"].fillna(0).astype("int64")
        part.loc[new, "pair"] = _enter(connection, part[new])
        return part

    for part in in_portions(store, len(missing), act):
        parts.append(part)
        last = max(last, int(part["pair"].max()))  # numbers ascend: what others enter meanwhile has higher ones
    return _with_numbers(pairs, pd.concat(parts, ignore_index=True))


def _distinct(pairs: pa.Table) -> pd.DataFrame:
    result: pd.DataFrame = pairs.select(NUMBERED).to_pandas().drop_duplicates()
    return result


def _entered(connection: sa.Connection, after: int = 0) -> pd.DataFrame:
    """The store's pairs with a number above `after`: pair, query_id, candidate_id."""
    query = sa.select(schema.pair.c.id.label("pair"), schema.pair.c.query_id, schema.pair.c.candidate_id)
    result: pd.DataFrame = fetch(connection, query.where(schema.pair.c.id > after)).to_pandas()
    return result


def _enter(connection: sa.Connection, pairs: pd.DataFrame) -> "npt.NDArray[np.int64]":
    """Enter pairs that the store lacks; their numbers."""
    numbers = reserve(connection, schema.pair, len(pairs))
    if len(pairs):
        insert(
            connection, schema.pair, pa.table({"id": numbers, **{name: as_strings(pairs[name]) for name in NUMBERED}})
        )
    return numbers


def _with_numbers(pairs: pa.Table, numbers: pd.DataFrame) -> pa.Table:
    of_row = pairs.select(NUMBERED).to_pandas().merge(numbers, how="left", on=list(NUMBERED))["pair"]
    return pairs.append_column("pair", pa.array(of_row.to_numpy(np.int64), pa.int64()))
