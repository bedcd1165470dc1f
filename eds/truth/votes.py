"""Votes: of each expert's current acts on a pair the one that votes.

Kind `normal` votes. `repeat` measures consistency and `gold` quality, so neither votes unless asked
for. Whatever kinds vote, an expert has one vote a pair. Not here: the rule (majority.py, rules.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError
from eds.schema import SHOWN
from eds.truth.current_votes import KINDS, UNSURE, Acts, Ints

VOTING = ("normal",)


@dataclass(frozen=True)
class Votes:
    """One vote a row, sorted by (pair, expert): `row` is its place (int64) among the acts."""

    acts: Acts
    row: Ints

    @property
    def n_pairs(self) -> int:
        """Pairs of the acts; some of them may have no vote."""
        return self.acts.n_pairs

    @cached_property
    def pair(self) -> Ints:
        """Each vote's pair, a place in `acts`."""
        return self.acts.pair[self.row]

    @cached_property
    def expert(self) -> Ints:
        """Each vote's expert, a place in `acts`."""
        return self.acts.expert[self.row]

    @cached_property
    def value(self) -> npt.NDArray[np.int8]:
        """Each vote's value: 1, 0 or UNSURE."""
        return self.acts.value[self.row]

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """For, against and unsure of each pair (three int64 arrays of n_pairs)."""
        result = [
            np.bincount(self.pair[self.value == kind], minlength=self.n_pairs).astype(np.int64)
            for kind in (1, 0, UNSURE)
        ]
        return result[0], result[1], result[2]

    def ratings(self, start: int, stop: int) -> npt.NDArray[np.int8]:
        """Pairs start..stop x experts, int8: 1, 0, or UNSURE where there is no judgement."""
        matrix = np.full((stop - start, len(self.acts.experts)), UNSURE, dtype=np.int8)
        low, high = np.searchsorted(self.pair, [start, stop])
        matrix[self.pair[low:high] - start, self.expert[low:high]] = self.value[low:high]
        return matrix

    def only(self, pairs: pd.DataFrame, where: str) -> "Votes":
        """The votes on these pairs alone; a pair without a vote is refused."""
        wanted = places(self.acts, pairs, where)
        if (wanted < 0).any():
            raise InputError(
                f"{int((wanted < 0).sum()):,} pairs have no vote, first {_shown(pairs, wanted < 0)}",
                where=where,
                hint="Give pairs that were judged.",
            )
        chosen = np.zeros(self.n_pairs, dtype=np.bool_)
        chosen[wanted] = True
        return Votes(self.acts, self.row[chosen[self.pair]])


def votes_of(acts: Acts, voting: Sequence[str] = VOTING) -> Votes:
    """The votes: of an expert who answered a pair in several voting kinds, the kind named first counts."""
    unknown = [kind for kind in voting if kind not in KINDS]
    if unknown or not voting or len(set(voting)) < len(voting):
        raise InputError(f"voting kinds are {list(voting)}", where="voting", hint=f"Name some of {', '.join(KINDS)}.")
    precedence = np.full(len(KINDS), len(KINDS))
    precedence[[KINDS.index(kind) for kind in voting]] = np.arange(len(voting))
    rank = precedence[acts.kind]
    rows = np.flatnonzero(rank < len(KINDS))
    if len(voting) > 1:
        rows = rows[np.lexsort((rank[rows], acts.expert[rows], acts.pair[rows]))]
        first = (np.diff(acts.pair[rows], prepend=-1) != 0) | (np.diff(acts.expert[rows], prepend=-1) != 0)
        rows = rows[first]
    return Votes(acts, rows)


def agreement_with_others(votes: Votes, chosen: npt.NDArray[np.bool_] | None = None) -> tuple[Ints, Ints, Ints]:
    """Each expert against the majority of the others: agreed, compared, and pairs where the others tie.

    Three int64 arrays of experts. `chosen` (flags, as long as the votes) limits the expert's own votes.
    Conventions: where the others tie, or no other expert judged, they have no majority: nothing is compared there.
    """
    positive, negative, _ = votes.counts()
    given = votes.value != UNSURE
    lead = (positive - negative)[votes.pair] - np.where(votes.value == 1, 1, -1)
    others = (positive + negative)[votes.pair] - 1
    mine = given if chosen is None else given & chosen
    size = len(votes.acts.experts)
    compared = mine & (lead != 0)
    agreed = compared & ((lead > 0) == (votes.value == 1))
    tied = mine & (lead == 0) & (others > 0)
    counts = [np.bincount(votes.expert[which], minlength=size).astype(np.int64) for which in (agreed, compared, tied)]
    return counts[0], counts[1], counts[2]


def places(acts: Acts, pairs: pd.DataFrame, where: str) -> Ints:
    """Each pair's place in `acts`, -1 where it has no act; columns missing or a pair given twice are refused."""
    lacking = [name for name in ("query_id", "candidate_id") if name not in pairs.columns]
    if lacking:
        raise InputError(f"column {', '.join(lacking)} is missing", where=where, hint="Give query_id and candidate_id.")
    twice = pairs.duplicated(["query_id", "candidate_id"]).to_numpy()
    if twice.any():
        raise InputError(
            f"{int(twice.sum()):,} duplicate pairs, first {_shown(pairs, twice)}",
            where=where,
            hint="Give every pair once.",
        )
    requested = [
        pd.Index(names).get_indexer(pd.Index(pairs[name], dtype=object))
        for names, name in ((acts.query_names, "query_id"), (acts.candidate_names, "candidate_id"))
    ]
    size = max(len(acts.candidate_names), 1)
    result = pd.Index(acts.query * size + acts.candidate).get_indexer(pd.Index(requested[0] * size + requested[1]))
    return np.where((requested[0] < 0) | (requested[1] < 0), -1, result).astype(np.int64)


def _shown(pairs: pd.DataFrame, wrong: npt.NDArray[np.bool_]) -> str:
    rows = pairs.loc[wrong, ["query_id", "candidate_id"]].head(SHOWN).to_numpy().tolist()
    return ", ".join(" ".join(map(str, row)) for row in rows)
