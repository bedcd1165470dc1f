"""New rows of the table suspects, put behind those that are there or mixed among them."""

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import Integers, Reals
from eds.schema import to_arrow, to_frame
from eds.suspects.codes import generator
from eds.tables import SUSPECTS


def append_rows(previous: pd.DataFrame | None, rows: pd.DataFrame) -> pd.DataFrame:
    """Previous suspects with the new rows behind them; a pair that is there with that origin is refused."""
    if previous is None or not len(previous):
        return canonical(rows)
    both = pd.concat([canonical(previous), canonical(rows)], ignore_index=True)  # each with every column, then joined
    return canonical(both, "previous suspects and the new rows")


def canonical(suspects: pd.DataFrame, where: str = "") -> pd.DataFrame:
    """The table checked, with every column, in order and of the kinds that reading it from a file gives."""
    declared = [name for name in SUSPECTS.names if name in suspects.columns]
    return to_frame(to_arrow(suspects[declared], SUSPECTS, where))


def behind(
    pairs: pd.DataFrame,
    previous: pd.DataFrame | None,
    *,
    origin: str,
    stratum: "str | pd.Series[str]",
    probability: float | Reals,
) -> pd.DataFrame:
    """The pairs (query_id, candidate_id, in the order of judging) as one batch behind all others."""
    some = previous is not None and len(previous) > 0
    batch = int(previous["batch"].max()) + 1 if some and previous is not None else 0
    first = int(previous["position"].max()) + 1 if some and previous is not None else 0
    return pd.DataFrame(
        {
            "query_id": pairs["query_id"].to_numpy(),
            "candidate_id": pairs["candidate_id"].to_numpy(),
            "origin": origin,
            "batch": np.full(len(pairs), batch, np.int64),
            "position": np.arange(first, first + len(pairs)),
            "stratum": stratum if isinstance(stratum, str) else stratum.to_numpy(),
            "probability": np.broadcast_to(np.asarray(probability, np.float64), len(pairs)).copy(),
        }
    )


def mixed(
    rows: pd.DataFrame, among: pd.DataFrame, seed: int, purpose: str, after: Integers | None = None
) -> pd.DataFrame:
    """The rows moved to batch and position of evenly drawn rows of `among`, next to which they are judged.

    `after` holds, for each row, a position behind which it must stand (a repeat comes after its first time);
    where nothing stands behind it, the row goes to the end.
    """
    if not len(among):
        raise InputError("there are no suspects to mix with", hint="Make the pool first: eds suspects pool.")
    hosts = among.sort_values("position")
    position, batch = hosts["position"].to_numpy(), hosts["batch"].to_numpy()
    low = np.zeros(len(rows), np.int64) if after is None else np.searchsorted(position, after, side="right")
    low = np.minimum(low, len(position) - 1)
    drawn = low + np.floor(generator(seed, f"{purpose} places").random(len(rows)) * (len(position) - low)).astype(
        np.int64
    )
    return rows.assign(batch=batch[drawn], position=position[drawn])
