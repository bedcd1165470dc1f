"""Each expert's own order of a campaign: random by a stored seed, grouped by query.

A position depends only on (seed, expert, query, candidate, kind), not on what else there is: pairs that
come later find their places among the others, and nothing that was handed out moves. Repeats stand in
groups of their own, later than the pair they repeat; what comes back (unsure, flagged) stands behind END.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eds.pairs import Hashes, hash_id, hash_ids, mix_bits

Integers = npt.NDArray[np.int64]

GROUP_BITS, ITEM_BITS = 36, 26
END = 1 << (GROUP_BITS + ITEM_BITS)  # behind every position
NEAREST_REPEAT = 0.25  # a repeat waits for at least this share of what was still to come


def item_words(queries: pa.Array, candidates: pa.Array, purpose: str) -> Hashes:
    """A word for each pair and purpose: the source of every draw about it."""
    with np.errstate(over="ignore"):
        mixed: Hashes = mix_bits(mix_bits(hash_ids(queries)) + hash_ids(candidates)) ^ np.uint64(hash_id(purpose))
    return mix_bits(mixed)


def positions(
    seed: int, expert: str, queries: pa.Array, candidates: pa.Array, repeats: npt.NDArray[np.bool_]
) -> Integers:
    """Return each item's position for this expert; `repeats` marks those that ask a second time."""
    own = np.uint64(hash_id(f"{seed}/{expert}"))
    group = (mix_bits(hash_ids(queries) ^ own) >> np.uint64(64 - GROUP_BITS)).astype(np.int64)
    left = (1 << GROUP_BITS) - 1 - group
    share = (mix_bits(hash_ids(queries) ^ own ^ np.uint64(hash_id("repeat"))) >> np.uint64(11)).astype(
        np.float64
    ) / 2**53
    later = group + np.ceil(left * (NEAREST_REPEAT + (1 - NEAREST_REPEAT) * share)).astype(np.int64)
    group = np.where(repeats, np.minimum(later, (1 << GROUP_BITS) - 1), group)
    within = (item_words(queries, candidates, f"{seed}/{expert}") >> np.uint64(64 - ITEM_BITS)).astype(np.int64)
    placed: Integers = (group << ITEM_BITS) | within
    return placed
