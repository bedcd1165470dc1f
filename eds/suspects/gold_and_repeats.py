"""Gold pairs, whose answer is known, and repeats, which are judged twice; both are mixed among the others."""

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import LabelledPairs, in_sorted, pair_keys, unique_ids
from eds.schema import to_arrow
from eds.suspects.append import append_rows, behind, mixed
from eds.suspects.codes import PAIRS, generator, whole
from eds.tables import SUSPECTS, check


def draw_gold(known: pd.DataFrame, n: int, seed: int, suspects: pd.DataFrame) -> pd.DataFrame:
    """The suspects with n of the known pairs (query_id, candidate_id, value) mixed in as origin `gold`.

    Positives and negatives are drawn in equal numbers as far as they go; the stratum, which no expert
    sees, is `gold:1` or `gold:0`; the probability is drawn / known of that value. Pairs that are gold
    already are not drawn again.
    """
    labelled = LabelledPairs.from_frame(known, "known pairs")
    gold = suspects[suspects["origin"] == "gold"]
    before = labelled.find_ids(gold["query_id"], gold["candidate_id"])
    pairs = labelled.to_frame().drop(before[before >= 0])
    if whole(n, "n", 1) > len(pairs):
        raise InputError(
            f"{n:,} gold pairs of {len(pairs):,} cannot be drawn", hint="Ask for fewer, or give more known pairs."
        )
    rng = generator(seed, "gold", len(gold))
    by_value = [pairs[pairs["value"] == value] for value in (0, 1)]
    positives = min(len(by_value[1]), max(-(-n // 2), n - len(by_value[0])))
    chosen = []
    for value, count in ((0, n - positives), (1, positives)):
        drawn = by_value[value].iloc[np.sort(rng.permutation(len(by_value[value]))[:count])]
        chance = count / len(by_value[value]) if count else 0.0
        chosen.append(drawn.assign(stratum=f"gold:{value}", probability=chance))
    both = pd.concat(chosen, ignore_index=True)
    rows = behind(
        both, suspects, origin="gold", stratum=both["stratum"], probability=both["probability"].to_numpy(np.float64)
    )
    return append_rows(suspects, mixed(rows, suspects[suspects["origin"] == "pool"], seed, f"gold {len(gold)}"))


def draw_repeats(suspects: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """The suspects with n pairs of the pool and of random draws mixed in again as origin `repeat`.

    Uniform without replacement over all that are not repeats yet: probability n / their number. Each
    is put at a position drawn evenly from those behind its first one.
    """
    check(suspects, SUSPECTS)
    queries, candidates = unique_ids(suspects["query_id"]), unique_ids(suspects["candidate_id"])
    origin = suspects["origin"]
    before = np.sort(pair_keys(suspects[origin == "repeat"], queries, candidates))
    base = suspects[origin.isin(["pool", "random"])].sort_values(["query_id", "candidate_id", "position"])
    base = base.drop_duplicates(["query_id", "candidate_id"])
    base = base[~in_sorted(before, pair_keys(base, queries, candidates))]
    if whole(n, "n", 1) > len(base):
        raise InputError(f"{n:,} repeats of {len(base):,} pairs cannot be drawn", hint="Ask for fewer.")
    drawn = base.iloc[np.sort(generator(seed, "repeat", len(before)).permutation(len(base))[:n])]
    rows = behind(drawn, suspects, origin="repeat", stratum="repeat", probability=n / len(base))
    hosts = suspects[origin.isin(["pool", "random"])]
    return append_rows(
        suspects, mixed(rows, hosts, seed, f"repeat {len(before)}", after=drawn["position"].to_numpy(np.int64))
    )


def add_pairs(pairs: pd.DataFrame, suspects: pd.DataFrame | None) -> pd.DataFrame:
    """The suspects with pairs of somebody's own choice behind them, as a pool stratum `chosen` (a census).

    Pairs that are in the pool already are left out.
    """
    arrow = to_arrow(pairs[[name for name in PAIRS.names if name in pairs.columns]], PAIRS, "pairs to add").to_pandas()
    itself = arrow["query_id"] == arrow["candidate_id"]
    if itself.any():
        raise InputError(
            f"{int(itself.sum())} pairs are an image with itself", where="pairs to add", hint="Leave them out."
        )
    there = SUSPECTS.empty() if suspects is None else suspects
    pool = there[there["origin"] == "pool"]
    queries, candidates = unique_ids(arrow["query_id"]), unique_ids(arrow["candidate_id"])
    new = arrow[~in_sorted(np.sort(pair_keys(pool, queries, candidates)), pair_keys(arrow, queries, candidates))]
    new = new.sort_values(["query_id", "candidate_id"])
    return append_rows(there, behind(new, there, origin="pool", stratum="chosen", probability=1.0))


def without_orphans(suspects: pd.DataFrame) -> pd.DataFrame:
    """The suspects without repeats of pairs that are asked no first time."""
    first = suspects["origin"].isin(["pool", "random"])
    pair = ["query_id", "candidate_id"]
    asked = pd.MultiIndex.from_frame(suspects[pair]).isin(pd.MultiIndex.from_frame(suspects.loc[first, pair]))
    return suspects[asked | (suspects["origin"] != "repeat")].reset_index(drop=True)
