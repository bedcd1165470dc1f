"""Orders: which pairs of a draw are judged first, in batches, and with what probability.

What `probability` means for a row of the pool: the probability that the pair was chosen into its own
batch, given every batch before it. It is exact, because each batch is drawn by a design whose
inclusion probabilities are computed first:

* random (default): pairs sorted by (best rank, query) are cut into blocks of as many pairs as there
  are batches, and each block is dealt over the batches by a random permutation. So every batch holds
  nearly the same mix of depths and queries; a pair not yet dealt enters batch t of B with 1/(B-t).
* fusion: all but a share `floor` of a batch are the remaining pairs of the highest reciprocal-rank
  fusion (probability 1; equals are drawn from); the share `floor` is drawn evenly from all others.
* bandit: models are arms. Each batch draws every arm's worth from its Beta posterior (Thompson;
  Beta(1,1) without labels) and shares the picks out in proportion; an arm's share goes to its list's
  shallowest remaining pairs. Half of the share `floor` is drawn evenly from the remaining pairs of
  the smallest depth, half evenly from all remaining pairs, so that none has probability 0.

Within a batch positions are a random permutation: the part of a batch that has been judged is a
uniform sample of it. Estimates over a judged prefix: eds.suspects.partial_estimates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eds.errors import InputError
from eds.pairs import Integers, Reals

ORDERS = ("random", "fusion", "bandit")
FUSION = 60  # the constant of reciprocal-rank fusion
ABSENT = -1

Allocate = Callable[[Integers, int], Reals]  # remaining pairs of each cell, picks wanted -> expected picks of each cell


@dataclass(frozen=True, eq=False)
class Work:
    """The pairs to be ordered, ascending by pair key: `ranks` is pairs x models, -1 where not proposed."""

    query: Integers
    ranks: Integers

    @property
    def depth(self) -> Integers:
        """The best rank of every pair."""
        found: Integers = np.where(self.ranks == ABSENT, np.iinfo(np.int64).max, self.ranks).min(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Batch and place (both from 0), and probability, of every pair; arrays of one entry per pair."""

    batch: Integers
    position: Integers
    probability: Reals


def reciprocal_rank_fusion(ranks: Integers) -> Reals:
    """The fused score of every pair; `ranks` is pairs x models, zero-based, -1 where not proposed.

    Formula: sum over the models that propose the pair of 1 / (60 + rank + 1).
    Source: Cormack, Clarke, Buettcher, SIGIR 2009.
    Conventions: ranks count from 0 here, from 1 in the formula; rounded to 12 decimals, so that equals are equal.
    Example, run by doctest:
    >>> reciprocal_rank_fusion(np.array([[0, -1], [1, 0]])).tolist()
    [0.016393442623, 0.032522474881]
    """
    found: Reals = np.where(ranks == ABSENT, 0.0, 1.0 / (FUSION + 1.0 + ranks)).sum(axis=1).round(12)
    return found


def arrange(
    work: Work, order: str, batch_size: int, rng: np.random.Generator, *, wins: Integers, losses: Integers, floor: float
) -> Arrangement:
    """Deal the pairs into batches; `wins` and `losses` are each model's labelled positives and negatives (bandit)."""
    if order not in ORDERS:
        raise InputError(f"unknown order {order!r}", do=f"Give one of {', '.join(ORDERS)}.")
    if not 0 < floor <= 1:
        raise InputError(
            f"floor is {floor}", do="Give a share above 0 and up to 1; at 0 no estimate would be unbiased."
        )
    if order == "random":
        batch, probability = _balanced(work, batch_size, rng)
    elif order == "fusion":
        score, cell = np.unique(-reciprocal_rank_fusion(work.ranks), return_inverse=True)
        batch, probability = _deal(cell, len(score), _fused(floor), batch_size, rng)
    else:
        vectors, cell = _rank_vectors(work.ranks)
        batch, probability = _deal(cell, len(vectors), _thompson(vectors, wins, losses, floor, rng), batch_size, rng)
    position = np.empty(len(batch), np.int64)
    position[np.lexsort((rng.permutation(len(batch)), batch))] = np.arange(len(batch))
    return Arrangement(batch, position, probability)


def _balanced(work: Work, batch_size: int, rng: np.random.Generator) -> tuple[Integers, Reals]:
    """Deal blocks of neighbours in (depth, query) over the batches, each block by its own permutation."""
    pairs = len(work.query)
    batches = -(-pairs // batch_size)
    blocks = -(-pairs // batches) if batches else 0
    order = np.lexsort((rng.permutation(pairs), work.query, work.depth))
    dealt = rng.permuted(np.tile(np.arange(batches), (blocks, 1)), axis=1).ravel()[:pairs]
    batch = np.empty(pairs, np.int64)
    batch[order] = dealt
    return batch, 1.0 / (batches - batch)


def _deal(
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


def _fused(floor: float) -> Allocate:
    def allocate(left: Integers, picks: int) -> Reals:
        greedy = np.diff(np.minimum(np.append(0, np.cumsum(left)), (1 - floor) * picks))
        return _spread(greedy, left, picks)

    return allocate


def _thompson(vectors: Integers, wins: Integers, losses: Integers, floor: float, rng: np.random.Generator) -> Allocate:
    """`vectors` is cells x models: the ranks that all pairs of a cell share."""
    listed = vectors != ABSENT
    depth = np.where(listed, vectors, np.iinfo(np.int64).max).min(axis=1)
    deepest = int(vectors.max(initial=0)) + 1

    def allocate(left: Integers, picks: int) -> Reals:
        worth = rng.beta(1 + wins, 1 + losses)
        worth = np.where(left @ listed > 0, worth, 0.0)  # an arm whose list is used up gets nothing
        expected = np.zeros(len(left))
        for arm, share in enumerate(worth / worth.sum()):
            mine = listed[:, arm]
            at_depth = np.bincount(vectors[mine, arm], left[mine], deepest)
            given = np.diff(np.minimum(np.append(0, np.cumsum(at_depth)), (1 - floor) * picks * share))
            rate = np.divide(given, at_depth, out=np.zeros(deepest), where=at_depth > 0)
            expected[mine] += rate[vectors[mine, arm]] * left[mine]
        shallow = np.where(depth == depth[left > 0].min(), left, 0)
        expected += floor * picks * (0.5 * shallow / shallow.sum() + 0.5 * left / left.sum())
        return _spread(np.minimum(expected, left), left, picks)

    return allocate


def _spread(expected: Reals, left: Integers, picks: int) -> Reals:
    """Give the picks that are not yet promised to all pairs evenly, in proportion to what is left of each cell."""
    room = left - expected
    short = picks - expected.sum()
    return expected + room * (short / room.sum()) if short > 0 and room.sum() > 0 else expected


def _rank_vectors(ranks: Integers) -> tuple[Integers, Integers]:
    """The distinct rows of pairs x models, by depth and then by the ranks, and each pair's place among them."""
    depth = np.where(ranks == ABSENT, np.iinfo(np.int64).max, ranks).min(axis=1)
    code = np.unique(depth, return_inverse=True)[1]
    first = np.arange(len(ranks))
    for column in ranks.T:
        values, place = np.unique(column, return_inverse=True)
        _, first, code = np.unique(code * len(values) + place, return_index=True, return_inverse=True)
    return ranks[first], code
