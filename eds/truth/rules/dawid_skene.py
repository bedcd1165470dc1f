"""Probability above 1/2 under the model of Dawid and Skene."""

import numpy as np

from eds.truth.current_votes import Ints
from eds.truth.dawid_skene import fit_votes
from eds.truth.majority import DECIMALS, Ruling
from eds.truth.rules._settled import relabel
from eds.truth.votes import Votes


def decide(votes: Votes, panel: Ints) -> Ruling:
    """Positive if its probability is above 1/2 after 50 iterations; see `eds.truth.dawid_skene.fit`.

    Conventions: exactly 1/2 is negative; labels the pairs that the majority labels.
    """
    return relabel(votes, panel, np.nan_to_num(fit_votes(votes).posterior).round(DECIMALS) > 0.5)
