"""Pairs that tell models apart first: uncertain ones that some models propose and others do not."""

import numpy as np

from eds.pairs import Integers, Reals
from eds.suspects.orders._cells import deal_cells, greedy
from eds.suspects.sampling_order import ABSENT, Work


def deal(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Fill each batch but its share `floor` by what a label says of the difference of two models; the rest evenly.

    For comparison: with f by the relevance model, the spread of a label is sqrt(f (1 - f)); it moves the difference of
    two models where one proposes the pair and the other does not, a (m - a) pairs of m models for a pair of a of them.
    """
    proposed = (work.ranks != ABSENT).sum(axis=1)
    apart = proposed * (work.ranks.shape[1] - proposed)
    f = work.relevance
    value, cell = np.unique(-(np.sqrt(f * (1 - f)) * np.sqrt(apart)).round(9), return_inverse=True)
    return deal_cells(cell, len(value), greedy(work.floor), batch_size, rng)
