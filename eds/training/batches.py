"""The split of a run without table splits, and the batches of an epoch: from seed and epoch alone."""

from collections.abc import Sequence

import numpy as np

from eds.errors import InputError
from eds.pairs import Flags, Integers
from eds.training.splits import Split
from eds.training.supervision import Supervision

SPLIT, ORDER = 0, 1  # streams of random numbers
FEWEST = 2  # products in a part: with one there is nothing to confuse
DRAWN = 4  # partners tried per place in a group, if there are very many


def split(labels: Supervision, validation_share: float, test_share: float, seed: int) -> Split:
    """The split of table splits, or else the products in three parts by share, each of at least two.

    What is drawn here compares the test queries with each other.

    >>> found = Supervision("product", list("abcdef"), np.arange(6))
    >>> parts = split(found, 0.34, 0.34, 0)
    >>> parts.train.tolist(), parts.validation.tolist(), parts.test.tolist()
    ([0, 1], [4, 5], [2, 3])
    """
    if labels.parts is not None:
        return labels.parts
    products = np.unique(labels.product)
    sizes = {"test": round(test_share * len(products)), "validation": round(validation_share * len(products))}
    sizes["training"] = len(products) - sum(sizes.values())
    faults = [f"{name}: {size}" for name, size in sizes.items() if size < FEWEST]
    if faults:
        raise InputError(
            f"{len(products):,} products are too few for three parts of at least {FEWEST}",
            where="training",
            hint="Use more products, or other shares (--test-share, --validation-share):",
            faults=faults,
        )
    order = np.random.default_rng([seed, SPLIT]).permutation(products)
    ends = np.cumsum([sizes["test"], sizes["validation"]])
    test, validation, rest = (np.flatnonzero(np.isin(labels.product, part)) for part in np.split(order, ends))
    return Split(rest, validation, test, test)


def epoch_batches(
    rows: Integers, partners: Sequence[Integers], size: int, group: int, seed: int, epoch: int
) -> list[Integers]:
    """The batches of one epoch: every row once, each with up to `group` - 1 of its partners.

    Drawn independently, 64 images of a large catalogue would hardly ever contain a product twice, and nothing
    could be learned. A last batch of a single row joins the one before it.
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
