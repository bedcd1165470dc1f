"""Rules by name: how the votes of a panel become a label.

A rule gets the votes and each pair's panel, and gives status and label of each pair (two int8 arrays,
as majority.tally does). `majority` is the benchmark's; the others are second opinions. Installed
packages add rules by an entry point of the group `eds.rule`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.registry import Entry, Registry
from eds.truth.current_votes import UNSURE, Ints
from eds.truth.dawid_skene import fit_votes
from eds.truth.majority import COMPLETE, DECIDED, NO_LABEL, OPEN, tally
from eds.truth.votes import Votes

Ruling = tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]
Rule = Callable[[Votes, Ints], Ruling]
DECIMALS: Final = 12  # sums that agree to here are equal

RULES: Final = Registry(
    "rule",
    {
        "majority": Entry("eds.truth.rules:majority", "more for than against; a tie is negative"),
        "unanimity": Entry("eds.truth.rules:unanimity", "all who could tell say similar"),
        "weighted": Entry("eds.truth.rules:weighted", "more weight for than against; a tie is negative"),
        "dawid-skene": Entry("eds.truth.rules:dawid_skene", "probability above 1/2 under Dawid and Skene's model"),
    },
)


def majority(votes: Votes, panel: Ints) -> Ruling:
    """The benchmark's rule: see `majority_vote`."""
    return tally(*votes.counts(), panel)


def unanimity(votes: Votes, panel: Ints) -> Ruling:
    """Positive if everybody who could tell says similar.

    Formula: label 0 as soon as one says not; label 1 if p >= 1, n = 0 and nobody is left to ask.
    Conventions: skips shrink the electorate; all skipped: no label.
    """
    positive, negative, skipped = votes.counts()
    left = panel - positive - negative - skipped
    label = np.full(len(panel), NO_LABEL, dtype=np.int8)
    label[(left == 0) & (positive >= 1)] = 1
    label[negative >= 1] = 0
    status = np.where(left == 0, COMPLETE, np.where(label == NO_LABEL, OPEN, DECIDED)).astype(np.int8)
    return status, label


def weighted(votes: Votes, panel: Ints, weights: Mapping[str, float] | None = None) -> Ruling:
    """Positive if the experts for it weigh more than those against.

    Formula: label 1 iff sum of weights for > sum of weights against.
    Conventions: a tie is negative; where asking ended for the majority (complete or decided) it ended here; without
    `weights` (expert -> weight from 0 up) each weighs what its agreement with the others is worth, `earned_weights`.
    """
    given = earned_weights(votes) if weights is None else weights
    names = votes.acts.experts.tolist()
    wrong = [name for name in names if not 0 <= given.get(name, -1.0) < float("inf")]
    if wrong:
        raise InputError(
            f"{len(wrong)} experts have no weight from 0 up, first {wrong[0]!r}",
            where="rule weighted",
            do="Give every expert a weight.",
        )
    weight = np.array([given[name] for name in names], dtype=np.float64)
    sign = np.where(votes.value == UNSURE, 0.0, np.where(votes.value == 1, 1.0, -1.0))
    lead = np.bincount(votes.pair, weights=sign * weight[votes.expert], minlength=votes.n_pairs).round(DECIMALS)
    return _instead_of_majority(votes, panel, lead > 0)


def earned_weights(votes: Votes) -> dict[str, float]:
    """Each expert's weight from agreement with the others.

    Formula: max(0, ln(a / (1-a))), a = (agreed + 1) / (compared + 2).
    Source: log-odds are the best weights of independent voters (Nitzan and Paroush 1982).
    Conventions: compared are pairs where the expert judged and the others have a majority; the added 1 and 2 keep it
    finite; who agrees in no more than half the cases weighs nothing.
    """
    agreed, compared, _ = with_others(votes)
    share = (agreed + 1) / (compared + 2)
    return dict(zip(votes.acts.experts.tolist(), np.maximum(0.0, np.log(share / (1 - share))).tolist(), strict=True))


def with_others(votes: Votes, chosen: npt.NDArray[np.bool_] | None = None) -> tuple[Ints, Ints, Ints]:
    """Each expert against the majority of the others: agreed, compared, and pairs where the others tie.

    Three int64 arrays of experts. `chosen` (flags, as long as the votes) limits the expert's own votes.
    Conventions: where the others tie, or nobody else judged, they have no majority: nothing is compared there.
    """
    positive, negative, _ = votes.counts()
    told = votes.value != UNSURE
    lead = (positive - negative)[votes.pair] - np.where(votes.value == 1, 1, -1)
    others = (positive + negative)[votes.pair] - 1
    mine = told if chosen is None else told & chosen
    size = len(votes.acts.experts)
    compared = mine & (lead != 0)
    agreed = compared & ((lead > 0) == (votes.value == 1))
    tied = mine & (lead == 0) & (others > 0)
    counts = [np.bincount(votes.expert[which], minlength=size).astype(np.int64) for which in (agreed, compared, tied)]
    return counts[0], counts[1], counts[2]


def dawid_skene(votes: Votes, panel: Ints) -> Ruling:
    """Positive if its probability is above 1/2 under Dawid and Skene's model (50 iterations; see posterior.fit).

    Conventions: exactly 1/2 is negative; where asking ended for the majority it ended here.
    """
    likely = np.nan_to_num(fit_votes(votes).posterior).round(DECIMALS) > 0.5
    return _instead_of_majority(votes, panel, likely)


def _instead_of_majority(votes: Votes, panel: Ints, positive: npt.NDArray[np.bool_]) -> Ruling:
    status, label = majority(votes, panel)
    return status, np.where(label == NO_LABEL, NO_LABEL, positive).astype(np.int8)
