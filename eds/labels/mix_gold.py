"""What a campaign mixes into its pairs, gold and repeats; and its control pairs, which every expert judges.

All choices are draws by the campaign's seed from the pairs' own names: the same whatever the order of rows.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError
from eds.labels.gold import TOUCHED, WORDS, known_answer
from eds.labels.shuffle import item_words

Flags = npt.NDArray[np.bool_]


def first_by_draw(queries: pa.Array, candidates: pa.Array, purpose: str, count: int) -> Flags:
    """Mark `count` pairs, drawn without replacement."""
    drawn = np.zeros(len(queries), dtype=np.bool_)
    drawn[np.argsort(item_words(queries, candidates, purpose), kind="stable")[:count]] = True
    return drawn


def plan_items(
    pairs: pa.Table,
    gold: pa.Table,
    *,
    seed: int,
    gold_share: float,
    repeat_share: float,
    control_share: float,
    polarity: str | None = None,
    held: Collection[str] = (),
) -> pa.Table:
    """The items of new pairs: themselves, some again, and gold that is not among them.

    `pairs` has pair, query_id, candidate_id, kind, origin; `gold` the same of what may be planted (gold.py).
    Adds `control` (1: never stopped early). Shares count from the number of normal pairs; a grid (polarity) has one of
    each at least, where a share of it is asked for; `held` are the kinds that it has some of already.
    """
    normal = pairs.filter(pc.equal(pairs["kind"], "normal"))
    queries, candidates = (normal[name].combine_chunks() for name in ("query_id", "candidate_id"))
    controls = min(max(1, round(control_share * len(normal))), len(normal)) if control_share else 0
    control = np.zeros(len(pairs), dtype=np.int64)
    control[pc.equal(pairs["kind"], "normal").to_numpy(zero_copy_only=False)] = first_by_draw(
        queries, candidates, f"{seed}/control", controls
    )
    parts = [pairs.append_column("control", pa.array(control))]
    least = {kind: int(polarity is not None and len(normal) > 0 and kind not in held) for kind in ("repeat", "gold")}
    repeats = max(round(repeat_share * len(normal)), least["repeat"]) if repeat_share else 0
    again = first_by_draw(queries, candidates, f"{seed}/repeat", repeats)
    parts.append(_planted(normal.filter(pa.array(again)), "repeat"))
    wanted = max(round(gold_share * len(normal)), min(least["gold"], len(gold))) if gold_share else 0
    if wanted > len(gold):
        usable = "that this campaign does not ask anyway and no guideline shows"
        if polarity is not None:
            usable = f"that are {WORDS[TOUCHED[polarity]]}, of a query that this grid asks, and {usable}"
        elif (sought := known_answer(pairs, polarity)) is not None:
            usable = f"that are {WORDS[sought]}, as gold among random pairs must be, and {usable}"
        raise InputError(
            f"{wanted:,} gold pairs are to be mixed in, {len(gold):,} are known {usable}",
            where="gold_share",
            hint="Add such pairs first (eds labels gold add), or choose a smaller share.",
        )
    chosen = first_by_draw(
        gold["query_id"].combine_chunks(), gold["candidate_id"].combine_chunks(), f"{seed}/gold", wanted
    )
    parts.append(_planted(gold.filter(pa.array(chosen)), "gold"))
    return pa.concat_tables(parts)


def _planted(pairs: pa.Table, kind: str) -> pa.Table:
    label = pa.array([kind] * len(pairs), pa.string())
    pairs = pairs.set_column(pairs.column_names.index("kind"), "kind", label)
    pairs = pairs.set_column(pairs.column_names.index("origin"), "origin", label)
    return pairs.append_column("control", pa.array(np.ones(len(pairs), dtype=np.int64)))
