"""Batches drawn from cells of equal pairs with known inclusion probabilities."""

from collections.abc import Callable

import numpy as np

from eds.pairs import Integers, Reals

Allocate = Callable[[Integers, int], Reals]  # remaining pairs of each cell, picks -> expected picks of each cell


def deal_cells(
    cell: Integers, cells: int, allocate: Allocate, batch_size: int, rng: np.random.Generator
) -> tuple[Integers, Reals]:
    """Draw batch after batch from cells of equal pairs; a cell gives up its pairs in random order.

    Expected picks of each cell are rounded by systematic sampling, so that a batch has its full size.
    """
    left = np.bincount(cell, minlength=cells)
    taken: list[tuple[Integers, Integers, Integers, Reals]] = []
    number = 0
    while (remaining := int(left.sum())) > 0:
        last = remaining <= batch_size
        expected = left.astype(np.float64) if last else np.minimum(allocate(left, batch_size), left)
        start = 0.0 if last else rng.random()
        reached = np.floor(np.append(0.0, np.cumsum(expected)) + start + 1e-9)
        picks = np.minimum(np.diff(reached).astype(np.int64), left)
        some = np.flatnonzero(picks)
        taken.append((some, np.full(len(some), number), picks[some], expected[some] / left[some]))
        left = left - picks
        number += 1
    where, when, count, chance = (np.concatenate(part) for part in zip(*taken, strict=True))
    turn = np.lexsort((when, where))
    order = np.lexsort((rng.permutation(len(cell)), cell))
    batch, probability = np.empty(len(cell), np.int64), np.empty(len(cell), np.float64)
    batch[order] = np.repeat(when[turn], count[turn])
    probability[order] = np.repeat(chance[turn], count[turn])
    return batch, probability


def spread(expected: Reals, left: Integers, picks: int) -> Reals:
    """Give the picks that are not yet promised to all pairs evenly, in proportion to what is left of each cell."""
    room = left - expected
    short = picks - expected.sum()
    return expected + room * (short / room.sum()) if short > 0 and room.sum() > 0 else expected


def greedy(floor: float) -> Allocate:
    """Fill each batch but its share `floor` from the first cells on; the share is drawn evenly."""

    def allocate(left: Integers, picks: int) -> Reals:
        first = np.diff(np.minimum(np.append(0, np.cumsum(left)), (1 - floor) * picks))
        return spread(first, left, picks)

    return allocate
