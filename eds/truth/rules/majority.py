"""More votes for than against; a tie is negative."""

from eds.truth.current_votes import Ints
from eds.truth.majority import Ruling, tally
from eds.truth.votes import Votes


def decide(votes: Votes, panel: Ints) -> Ruling:
    """The benchmark's rule: see `eds.truth.majority_vote`."""
    return tally(*votes.counts(), panel)
