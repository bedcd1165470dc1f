"""Pairs of the highest reciprocal-rank fusion first."""

import numpy as np

from eds.pairs import Integers, Reals
from eds.suspects.orders._cells import deal_cells, greedy
from eds.suspects.sampling_order import ABSENT, Work

CONSTANT = 60  # of reciprocal-rank fusion


def deal(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Fill each batch but its share `floor` by fused score (equals are drawn from); the share is drawn evenly."""
    score, cell = np.unique(-reciprocal_rank_fusion(work.ranks), return_inverse=True)
    return deal_cells(cell, len(score), greedy(work.floor), batch_size, rng)


def reciprocal_rank_fusion(ranks: Integers) -> Reals:
    """The fused score of every pair; `ranks` is pairs x models, zero-based, -1 where not proposed.

    Formula: sum over the models that propose the pair of 1 / (60 + rank + 1).
    Source: Cormack, Clarke, Buettcher, SIGIR 2009.
    Conventions: ranks count from 0 here, from 1 in the formula; rounded to 12 decimals, so that equals are equal.
    Example, run by doctest:
    >>> reciprocal_rank_fusion(np.array([[0, -1], [1, 0]])).tolist()
    [0.016393442623, 0.032522474881]
    """
    result: Reals = np.where(ranks == ABSENT, 0.0, 1.0 / (CONSTANT + 1.0 + ranks)).sum(axis=1).round(12)
    return result
