"""Labels that override or complete what the votes came to: a lead's decisions, and labels that came with a benchmark.

A lead's decision replaces the label and is marked by its rule; the votes are still counted (`votes_for`,
`votes_against`, `unsure`, `tie`). It is never applied by default: the benchmark's label is the majority's.

Labels that came with an imported benchmark have no votes here, and stay when further pairs are judged (the delta pool
of a new model). Their rule begins with `imported`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.tables import TRUTH
from eds.truth.decision import Decision, compare
from eds.truth.majority import COMPLETE, OPEN, STATUS

ADJUDICATION = "adjudication"
IMPORTED = "imported"


def with_adjudications(decision: Decision, decided: pd.DataFrame) -> Decision:
    """The decision with the lead's labels: `decided` holds query_id, candidate_id and value (1 or 0), each pair once.

    A pair that the votes left without a label gets its row; one that nobody answered counts no votes. `counts` gains
    `adjudicated`; `complete` and `decided` still count what the votes settled.

    >>> votes = pd.DataFrame({"query_id": "q", "candidate_id": ["a"], "value": 0, "votes_for": 1, "votes_against": 1,
    ...                       "unsure": 0, "tie": True, "rule": "majority"})
    >>> counts = {"complete": 1, "decided": 0, "open": 0, "undefined": 0, "ties": 1, "positive": 0}
    >>> lead = pd.DataFrame({"query_id": ["q"], "candidate_id": ["a"], "value": [1]})
    >>> decision = Decision(votes, votes.head(0).assign(status=[]), counts)
    >>> with_adjudications(decision, lead).truth[["value", "tie", "rule"]].values.tolist()
    [[1, True, 'adjudication']]
    """
    key = list(TRUTH.key)
    _check_adjudications(decided, key)
    truth, undecided = decision.truth, decision.undecided
    chosen = pd.MultiIndex.from_frame(decided[key])
    freed = pd.MultiIndex.from_frame(undecided[key]).isin(chosen)
    held = pd.concat([truth[key], undecided.loc[freed, key]])
    silent = decided.loc[~chosen.isin(pd.MultiIndex.from_frame(held)), key]
    added = pd.concat([undecided.loc[freed, [*key, "votes_for", "votes_against", "unsure"]], silent])
    added = added.fillna({"votes_for": 0, "votes_against": 0, "unsure": 0})
    added = added.assign(
        value=0, tie=(added["votes_for"] == added["votes_against"]) & (added["votes_for"] > 0), rule=""
    )
    every = pd.concat([truth, added[truth.columns].astype(truth.dtypes.to_dict())], ignore_index=True)
    every = every.sort_values(key, ignore_index=True)
    lead = decided.set_index(key)["value"].reindex(pd.MultiIndex.from_frame(every[key])).to_numpy(dtype=float)
    adjudicated = ~pd.isna(lead)
    every["value"] = every["value"].where(~adjudicated, pd.Series(lead).fillna(0)).astype("int64")
    every["rule"] = every["rule"].where(~adjudicated, ADJUDICATION).astype(truth["rule"].dtype)
    left = undecided[~freed].reset_index(drop=True)
    counts = {
        **decision.counts,
        "open": int((left["status"] == STATUS[OPEN]).sum()),
        "undefined": int((left["status"] == STATUS[COMPLETE]).sum()),
        "positive": int(every["value"].sum()),
        "adjudicated": int(adjudicated.sum()),
    }
    return replace(decision, truth=every, undecided=left, counts=counts)


def _check_adjudications(decided: pd.DataFrame, key: list[str]) -> None:
    missing = [name for name in (*key, "value") if name not in decided.columns]
    if missing:
        raise InputError(f"column {', '.join(missing)} is missing", where="adjudications")
    wrong = int((~decided["value"].isin([0, 1])).sum())
    twice = int(decided.duplicated(key).sum())
    if wrong or twice:
        raise InputError(
            f"{wrong:,} values are neither 1 nor 0, {twice:,} pairs are duplicated",
            where="adjudications",
            hint="Give each decided pair once, with its value.",
        )


def split_imported(stored: pd.DataFrame, acts: pd.DataFrame, *, as_imported: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a stored truth that came with a benchmark, and the others.

    `as_imported`: the table is as an import wrote it; then rows of pairs without any act are imported ones, whatever
    rule the benchmark names for them, and their rule says so from now on.
    """
    marked = stored["rule"].str.startswith(IMPORTED).to_numpy(np.bool_)
    rules, imported = stored["rule"], marked
    if as_imported:
        key = list(TRUTH.key)
        imported = marked | ~pd.MultiIndex.from_frame(stored[key]).isin(pd.MultiIndex.from_frame(acts[key]))
        rules = rules.where(marked, f"{IMPORTED}, " + rules)
    return stored.assign(rule=rules)[imported].reset_index(drop=True), stored[~imported].reset_index(drop=True)


def with_imported(
    decision: Decision, imported: pd.DataFrame, *, replace_imported: bool = False
) -> tuple[Decision, pd.DataFrame]:
    """The decision with the imported labels, and the pairs on which the two differ (see `compare`).

    A pair that has both keeps the imported label; with `replace_imported` it gets that of the votes. `counts` gains
    `imported`.

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
    kept_imported = imported[~first.isin(second)] if replace_imported else imported
    kept_voted = decision.truth if replace_imported else decision.truth[~second.isin(first)]
    parts: Sequence[pd.DataFrame] = [part for part in (kept_imported, kept_voted) if len(part)]
    if not parts:
        return decision, differing
    every = pd.concat([part[decision.truth.columns] for part in parts], ignore_index=True)
    every = every.astype(decision.truth.dtypes.to_dict()).sort_values(key, ignore_index=True)
    counts = {"positive": int(every["value"].sum()), "ties": int(every["tie"].sum()), "imported": len(kept_imported)}
    return replace(decision, truth=every, counts={**decision.counts, **counts}), differing
