"""Deal pairs into batches: which are judged first, and with what probability.

What `probability` means for a row of the pool: the probability that the pair was chosen into its own
batch, given every batch before it. It is exact, because each batch is drawn by a design whose
inclusion probabilities are computed first. The designs are plug-ins: eds/suspects/orders/.

Within a batch positions are a random permutation: the part of a batch that has been judged is a
uniform sample of it. Estimates from a part that is judged: eds.suspects.partial_estimates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eds.errors import InputError
from eds.pairs import Integers, Reals
from eds.registry import SAMPLING_ORDERS

ABSENT = -1  # rank of a pair that the model does not propose


@dataclass(frozen=True, eq=False)
class Work:
    """The pairs to be ordered, ascending by pair key, and what an order may use."""

    query: Integers  # (pairs,)
    ranks: Integers  # pairs x models, ABSENT where the model does not propose the pair
    wins: Integers  # (models,) labelled positives among the pairs that each model proposes
    losses: Integers  # (models,) labelled negatives
    floor: float  # share of each batch that is drawn evenly
    learn: "Callable[[], Reals] | None" = None  # how likely each pair is similar, by the labels so far

    @property
    def relevance(self) -> Reals:
        """How likely each pair is similar; 1/2 where nothing is known to learn from."""
        return np.full(len(self.query), 0.5) if self.learn is None else self.learn()

    @property
    def depth(self) -> Integers:
        """The best rank of every pair."""
        best: Integers = np.where(self.ranks == ABSENT, np.iinfo(np.int64).max, self.ranks).min(axis=1)
        return best


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Batch and position (both from 0), and probability, of every pair; arrays of one entry per pair."""

    batch: Integers
    position: Integers
    probability: Reals


Deal = Callable[[Work, int, np.random.Generator], tuple[Integers, Reals]]


def arrange(work: Work, order: str, batch_size: int, rng: np.random.Generator) -> Arrangement:
    """Deal the pairs into batches by the order of that name."""
    deal: Deal = SAMPLING_ORDERS.load(order)
    if not 0 < work.floor <= 1:
        raise InputError(
            f"floor is {work.floor}", hint="Give a share above 0 and up to 1; at 0 no estimate would be unbiased."
        )
    if not len(work.query):
        return Arrangement(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    batch, probability = deal(work, batch_size, rng)
    position = np.empty(len(batch), np.int64)
    position[np.lexsort((rng.permutation(len(batch)), batch))] = np.arange(len(batch))
    return Arrangement(batch, position, probability)
