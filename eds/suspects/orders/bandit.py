"""Pairs of the models whose proposals were most often positive first (Thompson sampling)."""

import numpy as np

from eds.pairs import Integers, Reals
from eds.suspects.orders._cells import Allocate, deal_cells, spread
from eds.suspects.sampling_order import ABSENT, Work


def deal(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Deal by a bandit whose arms are the models.

    Each batch draws every arm's worth from its Beta posterior (Beta(1,1) without labels) and divides the picks in
    proportion; an arm's share goes to its list's shallowest remaining pairs. Half of the share `floor` is drawn evenly
    from the remaining pairs of the smallest depth, half evenly from all remaining pairs, so that none has
    probability 0.
    """
    vectors, cell = _rank_vectors(work.ranks)
    return deal_cells(cell, len(vectors), _thompson(vectors, work, rng), batch_size, rng)


def _thompson(vectors: Integers, work: Work, rng: np.random.Generator) -> Allocate:
    """`vectors` is cells x models: the ranks that all pairs of a cell share."""
    listed = vectors != ABSENT
    depth = np.where(listed, vectors, np.iinfo(np.int64).max).min(axis=1)
    deepest = int(vectors.max(initial=0)) + 1

    def allocate(left: Integers, picks: int) -> Reals:
        worth = rng.beta(1 + work.wins, 1 + work.losses)
        worth = np.where(left @ listed > 0, worth, 0.0)  # an arm whose list is used up gets nothing
        expected = np.zeros(len(left))
        for arm, share in enumerate(worth / worth.sum()):
            mine = listed[:, arm]
            at_depth = np.bincount(vectors[mine, arm], left[mine], deepest)
            given = np.diff(np.minimum(np.append(0, np.cumsum(at_depth)), (1 - work.floor) * picks * share))
            rate = np.divide(given, at_depth, out=np.zeros(deepest), where=at_depth > 0)
            expected[mine] += rate[vectors[mine, arm]] * left[mine]
        shallow = np.where(depth == depth[left > 0].min(), left, 0)
        expected += work.floor * picks * (0.5 * shallow / shallow.sum() + 0.5 * left / left.sum())
        return spread(np.minimum(expected, left), left, picks)

    return allocate


def _rank_vectors(ranks: Integers) -> tuple[Integers, Integers]:
    """The distinct rows of pairs x models, by depth and then by the ranks, and each pair's place among them."""
    depth = np.where(ranks == ABSENT, np.iinfo(np.int64).max, ranks).min(axis=1)
    code = np.unique(depth, return_inverse=True)[1]
    first = np.arange(len(ranks))
    for column in ranks.T:
        values, place = np.unique(column, return_inverse=True)
        _, first, code = np.unique(code * len(values) + place, return_index=True, return_inverse=True)
    return ranks[first], code
