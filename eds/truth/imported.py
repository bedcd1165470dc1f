"""Labels that came with a benchmark, kept beside what the votes of this project's experts came to.

Whoever judges further pairs of an imported benchmark (the delta pool of a new model) adds to it: the labels that came
with it have no votes here, and stay. Such a row is told by its rule, which begins with `imported`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from eds.tables import TRUTH
from eds.truth.decision import Decision, compare

IMPORTED = "imported"


def split(stored: pd.DataFrame, acts: pd.DataFrame, *, came_so: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a stored truth that no vote here has made, and the others.

    `came_so`: the table stands as an import wrote it; then rows of pairs without any act are such rows, whatever rule
    the benchmark names for them, and their rule says so from now on.
    """
    marked = stored["rule"].str.startswith(IMPORTED).to_numpy(np.bool_)
    rules, came = stored["rule"], marked
    if came_so:
        key = list(TRUTH.key)
        came = marked | ~pd.MultiIndex.from_frame(stored[key]).isin(pd.MultiIndex.from_frame(acts[key]))
        rules = rules.where(marked, f"{IMPORTED}, " + rules)
    return stored.assign(rule=rules)[came].reset_index(drop=True), stored[~came].reset_index(drop=True)


def with_imported(decision: Decision, imported: pd.DataFrame, *, anew: bool = False) -> tuple[Decision, pd.DataFrame]:
    """The decision with the imported labels beside it, and the pairs on which the two differ (see `compare`).

    A pair that has both keeps the imported label, unless `anew`: then the votes' stands. `counts` gains `imported`.

    >>> def rows(names, value, rule):
    ...     votes = {"votes_for": value, "votes_against": 1 - value, "unsure": 0, "tie": False}
    ...     return pd.DataFrame({"query_id": "q", "candidate_id": names, "value": value, **votes, "rule": rule})
    >>> counts = {"complete": 2, "decided": 0, "open": 0, "undefined": 0, "ties": 0, "positive": 2}
    >>> voted = Decision(rows(["a", "b"], 1, "majority"), pd.DataFrame(), counts)
    >>> both, differing = with_imported(voted, rows(["b", "c"], 0, "imported vsd"))
    >>> both.truth[["candidate_id", "value"]].to_numpy().tolist(), differing["candidate_id"].tolist()
    ([['a', 1], ['b', 0], ['c', 0]], ['b'])
    """
    key = list(TRUTH.key)
    first, second = (pd.MultiIndex.from_frame(frame[key]) for frame in (imported, decision.truth))
    shared = first.isin(second)
    columns = [*key, "value", "rule", "value_second", "rule_second"]
    differing = pd.DataFrame({name: [] for name in columns})
    if shared.any():
        differing = compare(imported[shared], decision.truth[second.isin(first)])
    theirs = imported[~first.isin(second)] if anew else imported
    mine = decision.truth if anew else decision.truth[~second.isin(first)]
    parts: Sequence[pd.DataFrame] = [part for part in (theirs, mine) if len(part)]
    if not parts:
        return decision, differing
    every = pd.concat([part[decision.truth.columns] for part in parts], ignore_index=True)
    every = every.astype(decision.truth.dtypes.to_dict()).sort_values(key, ignore_index=True)
    counts = {**decision.counts, "positive": int(every["value"].sum()), "ties": int(every["tie"].sum()),
              "imported": len(theirs)}  # fmt: skip
    return replace(decision, truth=every, counts=counts), differing
