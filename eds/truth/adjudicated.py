"""A lead's decisions put in the place of what the votes came to, pair by pair, each marked as such.

The votes are counted as before: `votes_for`, `votes_against`, `unsure` and `tie` tell what the experts said, `value`
and `rule` what the lead decided. Nothing does this unasked: the benchmark's label is the majority's.
"""

from dataclasses import replace

import pandas as pd

from eds.errors import InputError
from eds.tables import TRUTH
from eds.truth.decision import Decision
from eds.truth.majority import COMPLETE, OPEN, STATUS

RULE = "adjudication"


def with_adjudications(decision: Decision, decided: pd.DataFrame) -> Decision:
    """The decision with the lead's in place: `decided` holds query_id, candidate_id and value (1 or 0), each pair once.

    A pair that the votes left without a label gets its row; one that nobody answered counts no votes. `counts` gains
    `adjudicated`; `complete` and `decided` go on counting what the votes settled.

    >>> votes = pd.DataFrame({"query_id": "q", "candidate_id": ["a"], "value": 0, "votes_for": 1, "votes_against": 1,
    ...                       "unsure": 0, "tie": True, "rule": "majority"})
    >>> counts = {"complete": 1, "decided": 0, "open": 0, "undefined": 0, "ties": 1, "positive": 0}
    >>> lead = pd.DataFrame({"query_id": ["q"], "candidate_id": ["a"], "value": [1]})
    >>> decision = Decision(votes, votes.head(0).assign(status=[]), counts)
    >>> with_adjudications(decision, lead).truth[["value", "tie", "rule"]].values.tolist()
    [[1, True, 'adjudication']]
    """
    key = list(TRUTH.key)
    _check(decided, key)
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
    mine = ~pd.isna(lead)
    every["value"] = every["value"].where(~mine, pd.Series(lead).fillna(0)).astype("int64")
    every["rule"] = every["rule"].where(~mine, RULE).astype(truth["rule"].dtype)
    left = undecided[~freed].reset_index(drop=True)
    counts = {
        **decision.counts,
        "open": int((left["status"] == STATUS[OPEN]).sum()),
        "undefined": int((left["status"] == STATUS[COMPLETE]).sum()),
        "positive": int(every["value"].sum()),
        "adjudicated": int(mine.sum()),
    }
    return replace(decision, truth=every, undecided=left, counts=counts)


def _check(decided: pd.DataFrame, key: list[str]) -> None:
    lacking = [name for name in (*key, "value") if name not in decided.columns]
    if lacking:
        raise InputError(f"column {', '.join(lacking)} is missing", where="adjudications")
    wrong = int((~decided["value"].isin([0, 1])).sum())
    twice = int(decided.duplicated(key).sum())
    if wrong or twice:
        raise InputError(
            f"{wrong:,} values are neither 1 nor 0, {twice:,} pairs stand there twice",
            where="adjudications",
            do="Give each decided pair once, with its value.",
        )
