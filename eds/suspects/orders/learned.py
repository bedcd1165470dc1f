"""Pairs that are most likely similar first, by what the labels so far say."""

import numpy as np

from eds.pairs import Integers, Reals
from eds.suspects.orders._cells import deal_cells, greedy
from eds.suspects.sampling_order import Work


def deal(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Fill each batch but its share `floor` by the relevance model; the share is drawn evenly.

    For curation: a label is worth most where a similar pair is found. Equals are drawn from; without labels all pairs
    are equal.
    """
    value, cell = np.unique(-work.relevance.round(9), return_inverse=True)
    return deal_cells(cell, len(value), greedy(work.floor), batch_size, rng)
