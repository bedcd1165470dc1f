"""For rules that label exactly the pairs that the majority labels, each in its own way."""

import numpy as np
import numpy.typing as npt

from eds.truth.current_votes import Ints
from eds.truth.majority import NO_LABEL, Ruling, tally
from eds.truth.votes import Votes


def relabel(votes: Votes, panel: Ints, positive: npt.NDArray[np.bool_]) -> Ruling:
    """The majority's status; the pairs that the majority labels are 1 where `positive`, else 0."""
    status, label = tally(*votes.counts(), panel)
    return status, np.where(label == NO_LABEL, NO_LABEL, positive).astype(np.int8)
