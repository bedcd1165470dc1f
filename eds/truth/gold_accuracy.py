"""A panel's accuracy on pairs whose answer is known: positives found, and false alarms."""

from dataclasses import dataclass

import pandas as pd

from eds.truth.current_votes import KINDS, UNSURE, current_acts
from eds.truth.experts import known_answers


@dataclass(frozen=True)
class KnownCalled:
    """Counts of gold pairs that somebody judged."""

    known: int  # positives
    found: int  # of them called similar by the majority
    negatives: int
    alarms: int  # of them called similar


def known_called(labels: pd.DataFrame, gold: pd.DataFrame) -> KnownCalled:
    """The majority's answers to gold pairs (`gold`: query_id, candidate_id, value), as for a pair that counts.

    Current acts of kind gold vote; a tie is negative, as everywhere; a pair on which all were unsure is left out.
    """
    acts = current_acts(labels)
    known = known_answers(acts, gold)
    rows = (acts.kind == KINDS.index("gold")) & (acts.value != UNSURE) & (known[acts.pair] != UNSURE)
    votes = pd.DataFrame({"pair": acts.pair[rows], "yes": acts.value[rows] == 1})
    shares = votes.groupby("pair")["yes"].mean()
    called, right = (shares > 0.5).to_numpy(), known[shares.index.to_numpy(dtype="int64")] == 1
    return KnownCalled(int(right.sum()), int((called & right).sum()), int((~right).sum()), int((called & ~right).sum()))
