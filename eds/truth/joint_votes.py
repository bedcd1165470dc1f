"""Truth over several campaigns: whose votes on a pair count, and how many experts they are out of.

A campaign's panel votes on a pair once it is complete for that pair: everybody answered, or the rest cannot change its
majority. Until then what other campaigns decided stays. Experts who joined a panel later are a wave of their own: the
campaign votes with the earlier waves until the later one is complete, too. An expert has one vote on a pair, however
many campaigns ask it: the latest of those that count. Not here: the rules (majority.py), current acts of one campaign
(current_votes.py).
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.tables import LABELS
from eds.truth.current_votes import UNSURE, Ints, current_acts
from eds.truth.majority import OPEN, tally

KEY = ["query_id", "candidate_id"]
GROUP = ["pair", "campaign"]
UNIT = [*GROUP, "wave"]
ANSWERS = {"yes": 1, "no": 0, "unsure": UNSURE}


@dataclass(frozen=True)
class JointVotes:
    """What decides each pair: one act of each expert whose vote counts (table labels), and the size of the panel."""

    labels: pd.DataFrame
    panel: pd.DataFrame  # query_id, candidate_id, panel


def joint_votes(acts: pd.DataFrame, panels: pd.DataFrame, as_of: datetime | None = None) -> JointVotes:
    """The votes that count over all campaigns, as of a date.

    `acts` is the labels table with the columns `campaign` and `wave` behind; `panels` has query_id, candidate_id,
    campaign, wave, panel (experts who answered or still will) and stopped (those of them who are asked no more since
    the pair was decided early).

    Conventions: the campaign that was complete last joins last. Where the votes together are open, since somebody can
    still answer, the last campaign waits; who was stopped is not waited for once another campaign has joined. A pair
    that no campaign is complete for is open, with the votes of the campaign that lacks the fewest.

    >>> when = pd.Timestamp("2026-01-01", tz="UTC")
    >>> said = [("first", "ann", 1), ("first", "bob", 1), ("second", "cid", 0)]
    >>> columns = ["campaign", "expert_id", "value"]
    >>> acts = pd.DataFrame(said, columns=columns).assign(
    ...     label_id=["a", "b", "c"], query_id="q", candidate_id="x", seconds=1.0, created_at=when, session_id=None,
    ...     kind="normal", supersedes=None, guideline=None, wave=0)
    >>> panels = pd.DataFrame({"query_id": "q", "candidate_id": "x", "campaign": ["first", "second"], "wave": 0,
    ...                        "panel": [2, 3], "stopped": 0})
    >>> joint_votes(acts, panels).panel["panel"].tolist()  # two of the second campaign have not answered
    [2]
    >>> joint_votes(acts, panels.assign(panel=[2, 1])).panel["panel"].tolist()
    [3]
    """
    pairs = panels[KEY].drop_duplicates(ignore_index=True)
    names = pd.Index(sorted(panels["campaign"].unique()))
    units = panels.assign(pair=_codes(panels, pairs), campaign=names.get_indexer(pd.Index(panels["campaign"])))
    votes = _current(acts, pairs, names, as_of)
    groups = _complete_waves(units, votes)
    decided = groups["complete"].groupby(groups["pair"]).transform("any")
    groups = pd.concat([groups[groups["complete"]], _nearest(groups[~decided])], ignore_index=True)
    while True:
        counted, table = _together(votes, groups, len(pairs))
        waits = (_is_open(table) & (table["campaigns"] > 1)).to_numpy()
        late = groups[waits[groups["pair"]]].sort_values(["pair", "last", "campaign"])
        if late.empty:
            break
        groups = groups.drop(late.drop_duplicates("pair", keep="last").index)
    labels = acts.iloc[counted["row"]][LABELS.names].reset_index(drop=True)
    labels["supersedes"] = pd.Series(None, labels.index, dtype=LABELS.empty()["supersedes"].dtype)
    return JointVotes(labels, pairs.assign(panel=table["panel"]))


def _codes(rows: pd.DataFrame, pairs: pd.DataFrame) -> Ints:
    """The place of each row's pair among the pairs."""
    result = pd.MultiIndex.from_frame(pairs).get_indexer(pd.MultiIndex.from_frame(rows[KEY].astype(pairs.dtypes)))
    return np.asarray(result, dtype=np.int64)


def _current(acts: pd.DataFrame, pairs: pd.DataFrame, names: pd.Index, as_of: datetime | None) -> pd.DataFrame:
    """The act in force of each expert on each pair in each campaign: row in `acts`, pair, campaign, wave, ..."""
    campaign = names.get_indexer(pd.Index(acts["campaign"]))
    normal = (acts["kind"] == "normal").to_numpy()
    labels = acts[LABELS.names]
    rows = [
        mine[current_acts(labels.iloc[mine], as_of).row]
        for mine in (np.flatnonzero(normal & (campaign == number)) for number in range(len(names)))
        if len(mine)
    ]
    row = np.concatenate([np.empty(0, dtype=np.int64), *rows])
    held = acts.iloc[row]
    votes = pd.DataFrame({"row": row, "pair": _codes(held, pairs), "campaign": campaign[row]})
    unasked = int((votes["pair"] < 0).sum()) + int((normal & (campaign < 0)).sum())
    if unasked:
        raise InputError(f"{unasked:,} votes are on pairs that no panel is asked", where="panels")
    value = held["value"].astype("Int64").fillna(UNSURE).to_numpy(np.int64)
    votes["wave"] = held["wave"].to_numpy(np.int64)
    votes["expert"] = pd.factorize(held["expert_id"], sort=True)[0]
    votes["created"] = held["created_at"].dt.tz_convert(None).to_numpy("datetime64[us]").astype(np.int64)
    return votes.assign(**{name: (value == said).astype(np.int64) for name, said in ANSWERS.items()})


def _complete_waves(units: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Of each pair and campaign the waves that count: all, or the earlier ones that are complete without the later."""
    said = votes.groupby(UNIT, as_index=False).agg(**{name: (name, "sum") for name in ANSWERS}, last=("created", "max"))
    units = units[[*UNIT, "panel", "stopped"]].merge(said, on=UNIT, how="left").sort_values(UNIT, ignore_index=True)
    units = units.fillna(dict.fromkeys([*ANSWERS, "last"], 0)).astype(dict.fromkeys([*ANSWERS, "last"], "int64"))
    grouped = units.groupby(GROUP)
    sums = grouped[[*ANSWERS, "panel", "stopped"]].cumsum()  # of the wave and those before
    prefixes = units[UNIT].assign(**sums, last=grouped["last"].cummax())
    prefixes = prefixes.assign(complete=~_is_open(prefixes))
    return prefixes.sort_values([*GROUP, "complete", "wave"]).drop_duplicates(GROUP, keep="last")


def _nearest(groups: pd.DataFrame) -> pd.DataFrame:
    """Of each pair the campaign that lacks the fewest answers."""
    missing = groups["panel"] - groups[list(ANSWERS)].sum(axis=1)
    return groups.assign(missing=missing).sort_values(["pair", "missing", "campaign"]).drop_duplicates("pair")


def _together(votes: pd.DataFrame, groups: pd.DataFrame, pairs: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The votes of these groups, one of each expert on each pair; of each pair their counts and the panel's size."""
    shared = groups.groupby("pair")["campaign"].transform("size") > 1
    missing = groups["panel"] - groups[list(ANSWERS)].sum(axis=1) - groups["stopped"].where(shared, 0)
    counted = votes.merge(groups[UNIT].rename(columns={"wave": "waves"}), on=GROUP)
    counted = counted[counted["wave"] <= counted["waves"]]
    counted = counted.sort_values(["pair", "expert", "created", "campaign"])
    counted = counted.drop_duplicates(["pair", "expert"], keep="last")
    every = pd.RangeIndex(pairs)
    table = counted.groupby("pair")[list(ANSWERS)].sum().reindex(every, fill_value=0)
    table["panel"] = table.sum(axis=1) + missing.groupby(groups["pair"]).sum().reindex(every, fill_value=0)
    return counted, table.assign(campaigns=groups.groupby("pair").size().reindex(every, fill_value=0))


def _is_open(counts: pd.DataFrame) -> "pd.Series[bool]":
    """Whether the answers that are missing can change the majority."""
    status, _ = tally(*(counts[name].to_numpy(np.int64) for name in (*ANSWERS, "panel")))
    return pd.Series(status == OPEN, counts.index)
