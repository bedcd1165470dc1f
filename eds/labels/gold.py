"""Pairs whose answer is known: what may be hidden among others to measure attention.

A grid is skimmed by leaving candidates as they stand. So what is hidden in it must be what an expert has to touch:
where untouched means similar, pairs that are not, and the other way round; and of a query that the campaign asks, or
it would stand alone on a page. An expert who knows the answer (an example of a guideline, a pair of the expert's own
calibration) must not meet the pair again as gold. Among random pairs, hardly one of which is similar, people overlook
a third of what is: known similar pairs are hidden there, which tell how much is missed (and p corrected).
"""

from math import floor, log10
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit
from eds.labels.bulk import fetch, insert
from eds.labels.pairs import checked, numbered
from eds.labels.permissions import check_lead
from eds.labels.schema import calibration_round, calibration_task, example, gold, pair
from eds.labels.store import Store
from eds.labels.validation import refuse

TOUCHED = {"similar": 0, "different": 1}  # the answer of a pair that nobody may leave untouched, by polarity
WORDS = {0: "not similar", 1: "similar"}
USUAL = 0.05  # default share of gold
USUAL_RANDOM = 0.15  # among random pairs, of which people overlook a third: the sensitivity is estimated from it


def add_gold(store: Store, pairs: pd.DataFrame, *, by: str = "") -> int:
    """Make pairs with a known `value` (1 or 0), perhaps with a `note` why, available as gold; how many were new."""
    table = checked(pairs.assign(origin="gold"), "gold")
    value = pd.to_numeric(pairs["value"], errors="coerce") if "value" in pairs.columns else pd.Series(dtype=float)
    if "value" not in pairs.columns or not value.isin([0, 1]).all() or len(table) != len(pairs):
        raise InputError("gold needs each pair once, with value 1 or 0", where="gold", hint="Correct the table.")
    table = table.append_column("value", pa.array(value.astype("int64")))
    notes = [str(note)[:1000] if isinstance(note, str) and note.strip() else None for note in pairs.get("note", [])]
    table = table.append_column("note", pa.array(notes or [None] * len(table), pa.string()))

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "add gold")
        rows = numbered(connection, table).select(["pair", "value", "note"])
        known = zip(rows["pair"].to_pylist(), rows["value"].to_pylist(), strict=True)
        old = {row.pair: row.value for row in connection.execute(sa.select(gold.c.pair, gold.c.value))}
        refuse(
            (
                f"row {row}: {table['query_id'][row].as_py()} {table['candidate_id'][row].as_py()} was {old[number]}"
                for row, (number, new) in enumerate(known)
                if old.get(number, new) != new
            ),
            "gold pairs contradict what is known",
            "gold",
            "Decide which is right.",
        )
        fresh = rows.filter(pc.invert(pc.is_in(rows["pair"], pa.array(list(old), pa.int64()))))
        insert(connection, gold, fresh)
        audit.note(connection, store.now(), by, "add gold", "", pairs=len(fresh))
        return len(fresh)

    return store.write(act)


def hideable(connection: sa.Connection, asked: pa.Table, polarity: str | None, sought: int | None) -> pa.Table:
    """The gold (pair, query_id, candidate_id) that may be planted among pairs (query_id, candidate_id).

    Not what is asked anyway, nor what a guideline shows; only with the answer `sought` (see `known_answer`, None:
    either); in a grid (polarity) only of queries that are asked.
    """
    query = (
        sa.select(gold.c.pair, pair.c.query_id, pair.c.candidate_id, gold.c.value)
        .join(pair, pair.c.id == gold.c.pair)
        .where(~sa.exists().where(example.c.pair == gold.c.pair))
        .order_by(gold.c.pair)
    )
    result = fetch(connection, query)
    key = ["query_id", "candidate_id"]
    there = pd.MultiIndex.from_frame(asked.select(key).to_pandas().astype(object))
    free = ~pd.MultiIndex.from_frame(result.select(key).to_pandas().astype(object)).isin(there)
    if sought is not None:
        free = free & pc.equal(result["value"], sought).to_numpy(zero_copy_only=False)
    if polarity is not None:
        free = free & pc.is_in(result["query_id"], asked["query_id"].combine_chunks()).to_numpy(zero_copy_only=False)
    return result.filter(pa.array(np.asarray(free, dtype=bool))).drop_columns(["value"])


def known_answer(asked: pa.Table, polarity: str | None) -> int | None:
    """Return the answer that gold must have to be informative among these pairs (kind, origin); None: either."""
    if polarity is not None:
        return TOUCHED[polarity]
    normal = asked.filter(pc.equal(asked["kind"], "normal"))
    return 1 if normal["origin"].unique().to_pylist() == ["random"] else None


def gold_to_hide(store: Store, pairs: pd.DataFrame, polarity: str | None) -> int:
    """How many gold pairs a campaign on these pairs could hide; `polarity` of a grid, else none."""
    requested = checked(pairs, "pairs")
    return len(
        store.read(lambda connection: hideable(connection, requested, polarity, known_answer(requested, polarity)))
    )


def usual_share(store: Store, pairs: pd.DataFrame, polarity: str | None) -> float:
    """Return the default share of gold for these pairs: no more than is known, 0 if they contain gold."""
    requested = checked(pairs, "pairs")
    normal = requested.filter(pc.equal(requested["kind"], "normal"))
    if not len(normal) or pc.any(pc.equal(requested["kind"], "gold")).as_py():
        return 0.0
    usual = USUAL_RANDOM if normal["origin"].unique().to_pylist() == ["random"] else USUAL
    return min(usual, gold_to_hide(store, pairs, polarity) / len(normal))


def check_hidden(connection: sa.Connection, asked: pa.Table, polarity: str | None, share: float) -> None:
    """Refuse a grid (polarity) that hides no gold (no share of it, none in `asked`) though there is some to hide."""
    if polarity is None or share > 0 or pc.any(pc.equal(asked["kind"], "gold")).as_py():
        return
    result = len(hideable(connection, asked, polarity, TOUCHED[polarity]))
    if result:
        normal = max(1, pc.sum(pc.equal(asked["kind"], "normal")).as_py())
        digits = 1 - floor(log10(result / normal))
        most = min(USUAL, floor(result / normal * 10**digits) / 10**digits)  # rounded down: so many are known
        raise InputError(
            f"gold_share is 0, but a grid is guarded by hidden known pairs, and {result:,} are known that are "
            f"{WORDS[TOUCHED[polarity]]}, of a query that it asks",
            where="gold_share",
            hint=f"Mix them in: gold_share {most:g}, say.",
        )


def check_planted(connection: sa.Connection, planted: pa.Table, polarity: str | None) -> None:
    """Refuse gold (pair, query_id, candidate_id) that a grid would hide though it is right to leave it untouched."""
    if polarity is None or not len(planted):
        return
    wrong = sa.select(gold.c.pair).where(gold.c.value == 1 - TOUCHED[polarity])
    numbers, untouched = fetch(connection, wrong)["pair"].combine_chunks(), WORDS[1 - TOUCHED[polarity]]
    bad = planted.filter(pc.is_in(planted["pair"], numbers)).select(["query_id", "candidate_id"]).to_pylist()
    refuse(
        (f"{item['query_id']} {item['candidate_id']} is {untouched}, as untouched means in this grid" for item in bad),
        "gold pairs measure nothing in this grid",
        "gold",
        f"Leave them out, or plant such as are {WORDS[TOUCHED[polarity]]}.",
    )


def told_to(connection: sa.Connection, person: int) -> pa.Array:
    """Return the pairs whose answer this expert's calibration shows."""
    query: sa.Select[Any] = (
        sa.select(calibration_task.c.pair)
        .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
        .where(calibration_round.c.expert == person)
        .distinct()
    )
    return fetch(connection, query)["pair"].combine_chunks()
