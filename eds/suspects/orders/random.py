"""Batches alike in depth and queries, in random order."""

import numpy as np

from eds.pairs import Integers, Reals
from eds.suspects.sampling_order import Work


def deal(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Deal blocks of neighbours in (depth, query) over the batches, each block by its own permutation.

    A block has as many pairs as there are batches, so every batch holds nearly the same mix of depths and queries; a
    pair not yet dealt enters batch t of B with probability 1/(B-t).
    """
    pairs = len(work.query)
    batches = -(-pairs // batch_size)
    blocks = -(-pairs // batches) if batches else 0
    order = np.lexsort((rng.permutation(pairs), work.query, work.depth))
    dealt = rng.permuted(np.tile(np.arange(batches), (blocks, 1)), axis=1).ravel()[:pairs]
    batch = np.empty(pairs, np.int64)
    batch[order] = dealt
    return batch, 1.0 / (batches - batch)
