"""Each expert's own order of a campaign: random by a stored seed, grouped by query.

A position depends only on (seed, expert, query, candidate, kind), not on what else there is: pairs that
come later find their places among the others, and nothing that was handed out moves. Repeats stand in
groups of their own, later than the pair they repeat; what comes back (unsure, flagged) stands behind END.
"""

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

GROUP_BITS, ITEM_BITS = 36, 26
END = 1 << (GROUP_BITS + ITEM_BITS)  # behind every position
NEAREST_REPEAT = 0.25  # a repeat waits for at least this share of what was still to come


def word(text: str) -> int:
    """64 bits that stand for a text, the same everywhere."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def words(texts: pa.Array) -> Words:
    """`word` of every text; each distinct one is hashed once."""
    coded = texts.dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    distinct = np.array([word(text) for text in coded.dictionary.to_pylist()], dtype=np.uint64)
    return distinct[coded.indices.to_numpy()] if len(distinct) else np.empty(0, np.uint64)


def scramble(values: Words) -> Words:
    """Neighbouring words become unrelated ones (the finaliser of splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: Words = values ^ (values >> np.uint64(31))
    return scrambled


def item_words(queries: pa.Array, candidates: pa.Array, purpose: str) -> Words:
    """A word for each pair and purpose: the source of every draw about it."""
    with np.errstate(over="ignore"):
        mixed: Words = scramble(scramble(words(queries)) + words(candidates)) ^ np.uint64(word(purpose))
    return scramble(mixed)


def positions(
    seed: int, expert: str, queries: pa.Array, candidates: pa.Array, repeats: npt.NDArray[np.bool_]
) -> Integers:
    """Where each item stands for this expert; `repeats` marks those that ask a second time."""
    own = np.uint64(word(f"{seed}/{expert}"))
    group = (scramble(words(queries) ^ own) >> np.uint64(64 - GROUP_BITS)).astype(np.int64)
    left = (1 << GROUP_BITS) - 1 - group
    share = (scramble(words(queries) ^ own ^ np.uint64(word("repeat"))) >> np.uint64(11)).astype(np.float64) / 2**53
    later = group + np.ceil(left * (NEAREST_REPEAT + (1 - NEAREST_REPEAT) * share)).astype(np.int64)
    group = np.where(repeats, np.minimum(later, (1 << GROUP_BITS) - 1), group)
    within = (item_words(queries, candidates, f"{seed}/{expert}") >> np.uint64(64 - ITEM_BITS)).astype(np.int64)
    placed: Integers = (group << ITEM_BITS) | within
    return placed
