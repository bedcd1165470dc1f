"""Truth from labels: one row for each pair whose label is settled; the others are listed apart and counted.

Not here: which act counts (current_votes.py), who votes (votes.py), the rules (rules.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.registry import VOTING_RULES
from eds.tables import TRUTH
from eds.truth.current_votes import Acts, Ints, current_acts
from eds.truth.majority import COMPLETE, NO_LABEL, OPEN, STATUS, Ruling
from eds.truth.votes import VOTING, Votes, places, votes_of

PANEL = "panel"
Rule = Callable[[Votes, Ints], Ruling]


@dataclass(frozen=True)
class Decision:
    """The result of the votes.

    `truth`: the table. `undecided`: the pairs without a label: query_id, candidate_id, status (open: votes are
    missing; complete: all voted, all unsure), votes_for, votes_against, unsure, panel. `counts`: pairs that are
    complete, decided (early), open, undefined (complete without a label), ties, and positive. `panel`: the smallest
    and the largest number of experts of a pair.
    """

    truth: pd.DataFrame
    undecided: pd.DataFrame
    counts: dict[str, int]
    panel: tuple[int, int] = (0, 0)


def decide(
    labels: pd.DataFrame,
    panel: int | pd.DataFrame,
    rule: str = "majority",
    as_of: datetime | None = None,
    voting: Sequence[str] = VOTING,
) -> Decision:
    """Decide every pair of a labels frame, from its acts up to `as_of`.

    `panel` is the number of experts assigned to each pair, or a frame query_id, candidate_id, panel that names every
    pair asked (those without an answer are open). More answers than the panel are refused. Kinds not in `voting`
    (gold, repeat) have no vote; of an expert's acts in several voting kinds, the kind named first counts.
    """
    ruling: Rule = VOTING_RULES.load(rule)
    votes = votes_of(current_acts(labels, as_of), voting)
    positive, negative, unsure = votes.counts()
    sizes, silent = _panels(votes, panel)
    _check_answers(votes.acts, positive + negative + unsure, sizes)
    status, label = ruling(votes, np.maximum(sizes, 1))
    requested = positive + negative + unsure > 0
    if isinstance(panel, pd.DataFrame):
        requested = sizes > 0
    settled = requested & (label != NO_LABEL)
    tie = positive == negative

    def counted(rows: Ints) -> dict[str, Any]:
        return {"votes_for": positive[rows], "votes_against": negative[rows], "unsure": unsure[rows]}

    done, rest = np.flatnonzero(settled), np.flatnonzero(requested & ~settled)
    truth = votes.acts.frame(done).assign(
        value=label[done].astype(np.int64), **counted(done), tie=tie[done], rule=pd.Series(rule, range(len(done)))
    )
    truth = truth.astype({"rule": TRUTH.empty()["rule"].dtype})
    left = votes.acts.frame(rest).assign(
        status=np.array(STATUS, dtype=object)[status[rest]], **counted(rest), panel=sizes[rest]
    )
    undecided = _with_silent(left, silent)
    return Decision(
        truth,
        undecided,
        {
            **{name: int((status[settled] == place).sum()) for place, name in enumerate(STATUS) if place != OPEN},
            "open": int((status[rest] == OPEN).sum()) + len(silent),
            "undefined": int((status[rest] == COMPLETE).sum()),
            "ties": int(tie[done].sum()),
            "positive": int(truth["value"].sum()),
        },
        _range([*sizes[requested].tolist(), *silent.get(PANEL, [])]),
    )


def _range(sizes: Sequence[int]) -> tuple[int, int]:
    return (int(min(sizes)), int(max(sizes))) if sizes else (0, 0)


def compare(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The pairs that two truth frames label differently: both values and rules, sorted by pair; NA: no label."""
    key = list(TRUTH.key)
    columns = [*key, "value", "rule"]
    both = first[columns].merge(second[columns], on=key, how="outer", suffixes=("", "_second"))
    values = both[["value", "value_second"]].astype("Int64")
    differs = values["value"].fillna(-1) != values["value_second"].fillna(-1)
    return both.assign(**values)[differs].sort_values(key, ignore_index=True)


def _panels(votes: Votes, panel: int | pd.DataFrame) -> tuple[Ints, pd.DataFrame]:
    """The panel's size for each pair of the acts (0: not asked), and the asked pairs that have no act."""
    if not isinstance(panel, pd.DataFrame):
        if isinstance(panel, bool) or not isinstance(panel, (int, np.integer)) or panel < 1:
            raise InputError(f"the panel is {panel!r}", where=PANEL, hint="Give the number of experts, from 1 up.")
        return np.full(votes.n_pairs, panel, dtype=np.int64), pd.DataFrame()
    at = places(votes.acts, panel, PANEL)
    given = pd.to_numeric(panel[PANEL], errors="coerce") if PANEL in panel else pd.Series(np.nan, panel.index)
    wrong = int((~(given.ge(1) & given.mod(1).eq(0))).sum())
    if wrong:
        raise InputError(
            f"{wrong:,} of {len(panel):,} pairs have no panel, a whole number from 1 up",
            where=PANEL,
            hint="Give query_id, candidate_id and panel, the number of experts assigned.",
        )
    sizes = given.to_numpy(dtype=np.int64)
    result = np.zeros(votes.n_pairs, dtype=np.int64)
    result[at[at >= 0]] = sizes[at >= 0]
    return result, panel.loc[at < 0, ["query_id", "candidate_id"]].assign(panel=sizes[at < 0])


def _check_answers(acts: Acts, answers: Ints, sizes: Ints) -> None:
    over = np.flatnonzero(answers > sizes)
    if len(over):
        shown = acts.frame(over[:3]).to_numpy().tolist()
        faults = [
            f"{query} {candidate}: {answers[row]} answers, panel {sizes[row]}"
            for (query, candidate), row in zip(shown, over.tolist(), strict=False)
        ]
        raise InputError(
            f"{len(over):,} pairs have more answers than their panel",
            where=PANEL,
            hint="Give the number of experts assigned to each pair (a frame, if it differs).",
            faults=faults,
        )


def _with_silent(left: pd.DataFrame, silent: pd.DataFrame) -> pd.DataFrame:
    if silent.empty:
        return left
    nothing = silent.assign(status=STATUS[OPEN], votes_for=0, votes_against=0, unsure=0)[list(left.columns)]
    return pd.concat([left, nothing]).sort_values(["query_id", "candidate_id"], ignore_index=True)
