"""What is held out, and which items meet in a batch: decided by the seed and the epoch alone, so that a run resumes."""

from collections.abc import Sequence

import numpy as np

from eds.errors import InputError
from eds.identifiers import Flags, Integers
from eds.training.supervision import Supervision

SPLIT, ORDER = 0, 1  # streams of random numbers
DRAWN = 4  # times as many partners are tried as a group takes, where there are very many


def split(labels: Supervision, share: float, seed: int) -> tuple[Integers, Integers]:
    """Rows to train on and rows held out, both ascending; all images of a product stand on one side.

    >>> found = Supervision("product", ["a", "b", "c", "d"], np.array([0, 0, 1, 1]))
    >>> [rows.tolist() for rows in split(found, 0.5, 0)]
    [[2, 3], [0, 1]]
    """
    if not 0 < share < 1:
        raise InputError(f"the share held out is {share}", do="Give a number between 0 and 1.")
    products = np.unique(labels.product)
    if len(products) < 2:
        raise InputError("there is one product", where="labels", do="Give at least two: one is to be held out.")
    size = min(max(1, round(share * len(products))), len(products) - 1)
    chosen = np.random.default_rng([seed, SPLIT]).permutation(products)[:size]
    held = np.isin(labels.product, chosen)
    return np.flatnonzero(~held), np.flatnonzero(held)


def epoch_batches(
    rows: Integers, partners: Sequence[Integers], size: int, group: int, seed: int, epoch: int
) -> list[Integers]:
    """The batches of one epoch: every row once, each beside up to `group` - 1 that it belongs together with.

    Drawn alone, 64 images of a large catalogue would hardly ever show a product twice, and nothing could be learned.
    A last batch of a single row joins the one before it.
    """
    rng = np.random.default_rng([seed, ORDER, epoch])
    free: Flags = np.zeros(int(rows.max(initial=-1)) + 1, bool)
    free[rows] = True
    order: list[int] = []
    for number in rng.permutation(len(rows)).tolist():
        if not free[rows[number]]:
            continue
        free[rows[number]] = False
        mine = partners[number]
        drawn = mine[rng.integers(0, len(mine), DRAWN * group)] if len(mine) > DRAWN * group else rng.permutation(mine)
        others = [other for other in dict.fromkeys(drawn.tolist()) if free[other]][: group - 1]
        free[others] = False
        order += [int(rows[number]), *others]
    arranged = np.array(order, np.int64)
    batches = [arranged[start : start + size] for start in range(0, len(arranged), size)]
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [np.concatenate(batches[-2:])]
    return batches
