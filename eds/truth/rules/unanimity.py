"""Positive if every expert who is sure says similar."""

import numpy as np

from eds.truth.current_votes import Ints
from eds.truth.majority import COMPLETE, DECIDED, NO_LABEL, OPEN, Ruling
from eds.truth.votes import Votes


def decide(votes: Votes, panel: Ints) -> Ruling:
    """Positive if every expert who is sure says similar.

    Formula: label 0 as soon as one says not; label 1 if p >= 1, n = 0 and no vote is missing.
    Conventions: skips shrink the electorate; all skipped: no label.
    """
    positive, negative, skipped = votes.counts()
    left = panel - positive - negative - skipped
    label = np.full(len(panel), NO_LABEL, dtype=np.int8)
    label[(left == 0) & (positive >= 1)] = 1
    label[negative >= 1] = 0
    status = np.where(left == 0, COMPLETE, np.where(label == NO_LABEL, OPEN, DECIDED)).astype(np.int8)
    return status, label
