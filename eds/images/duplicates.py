"""Exact duplicates (equal files), which a policy may merge or leave out, and near duplicates, which are only listed.

Near duplicates are found by the difference hash (dHash): the upright image as 9 x 8 grey values, one
bit for each of the 8 x 8 positions where grey increases from left to right. It is robust to size and
compression, not to cropping or mirroring. Images with little structure resemble each other.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds import choices
from eds.errors import InputError
from eds.tables import BOX

WIDE, HIGH = 9, 8
MOST = 1_000_000  # near pairs; more of them are not searched


class TooManyPairsError(InputError):
    """More than MOST pairs are near each other."""


def difference_hashes(grey: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """(n, 8, 9) uint8 grey values -> (n,) uint64.

    Formula
        bit 63 - (8 row + column) = [grey(row, column + 1) > grey(row, column)]
    Source
        Neal Krawetz, "Kind of Like That", 2013: dHash.
    Conventions
        Equal neighbours give 0, so an image of one colour has hash 0.

    Example:
        >>> ramp = np.arange(9, dtype=np.uint8)[None, None, :].repeat(8, axis=1)
        >>> hex(int(difference_hashes(ramp)[0]))
        '0xffffffffffffffff'

    """
    grows = grey[:, :, 1:] > grey[:, :, :-1]
    return np.packbits(grows.reshape(len(grey), 64), axis=1).view(">u8").astype(np.uint64).reshape(len(grey))


def find_exact_duplicates(images: pd.DataFrame) -> pd.DataFrame:
    """Images with equal files: `sha256, image_id, path`, sorted by file."""
    seen = images[images["sha256"].notna()]
    again = seen[seen["sha256"].duplicated(keep=False)]
    return again[["sha256", "image_id", "path"]].sort_values(["sha256", "image_id"]).reset_index(drop=True)


def apply_policy(images: pd.DataFrame, policy: choices.Duplicates) -> tuple[pd.DataFrame, list[str], list[str]]:
    """The images under a policy for exact duplicates, the ids left out, and notes.

    Images are duplicates if file and crop box are equal. `merge` gives all products that share such an image the
    smallest of their ids. `leave-out` keeps the smallest id of those that are candidates (else of all); it is a query
    if one of them is.
    """
    choices.check(choices.Duplicates, policy, "duplicates")
    same = images[images["sha256"].notna() & images.duplicated(["sha256", *BOX], keep=False)]
    if policy == "keep" or not len(same):
        return images, [], []
    groups = same.groupby(["sha256", *BOX], dropna=False, sort=False).ngroup()
    if policy == "merge":
        product = join_products(same["product_id"], groups)
        merged = images["product_id"].map(product).fillna(images["product_id"])
        count = len(product) - len(set(product.values()))
        after = images.assign(product_id=merged)
        return (
            after,
            [],
            [f"{count:,} products were merged into others, as they share identical files"] if count else [],
        )
    ordered = same.assign(group=groups, query_only=same["role"] == "query").sort_values(["query_only", "image_id"])
    first = ordered.groupby("group").head(1)
    queries = ordered["group"].isin(ordered.loc[ordered["role"] != "candidate", "group"])
    raised = first.index[(first["role"] == "candidate") & queries.reindex(first.index)]
    gone = same.index.difference(first.index)
    kept = images.assign(role=images["role"].mask(images.index.isin(raised), "both")).drop(gone)
    note = f"{len(gone):,} images were left out, as their files are identical to another's"
    return kept.reset_index(drop=True), images.loc[gone, "image_id"].tolist(), [note]


def join_products(products: "pd.Series[str]", groups: "pd.Series[int]") -> dict[str, str]:
    """The products that share a group, directly or through others: each with the smallest id of its set."""
    parent = {name: name for name in products}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for _, members in products.groupby(groups):
        first = root(members.iloc[0])
        for name in members.iloc[1:]:
            low, high = sorted((first, root(name)))
            parent[high] = first = low
    return {name: root(name) for name in parent}


def find_near_duplicates(
    images: pd.DataFrame, hashes: npt.NDArray[np.uint64], within: int = 4
) -> tuple[pd.DataFrame, int]:
    """Pairs of different files whose hashes differ in at most `within` bits: `left_id, right_id, distance`.

    Where they are more than MOST, `within` is lowered until they are not; the second value is the distance used.

    `hashes` is (images,) uint64. The image with the smallest id represents all with an equal file, and all with
    an equal hash. The latter are listed as its pairs at distance 0, so that a thousand blank images make a
    thousand pairs, not half a million. The result does not depend on the order of rows.
    """
    files = images.assign(hash=hashes).sort_values("image_id").drop_duplicates("sha256")
    first = files.groupby("hash")["image_id"].transform("first")
    same = (first != files["image_id"]).to_numpy(dtype=bool)
    alone = files[~same]
    ids = alone["image_id"].to_numpy(dtype=object)
    left, right, distance, within = _closest(alone["hash"].to_numpy(dtype=np.uint64), within)
    pairs = pd.DataFrame(
        {
            "left_id": [*first[same], *ids[left]],
            "right_id": [*files["image_id"][same], *ids[right]],
            "distance": np.concatenate([np.zeros(same.sum(), np.int64), distance]),
        }
    )
    return pairs.sort_values(["distance", "left_id", "right_id"]).reset_index(drop=True), within


def _closest(
    hashes: npt.NDArray[np.uint64], within: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """`find_close` at the largest distance up to `within` with at most MOST pairs, and that distance."""
    while True:
        try:
            return *find_close(hashes, within), within
        except TooManyPairsError:
            if within == 0:
                raise
            within -= 1


def find_close(
    hashes: npt.NDArray[np.uint64], within: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All i < j with Hamming distance <= within, as three (pairs,) int64 arrays: i, j, distance.

    The 64 bits are split into within + 1 bands. Two hashes that differ in at most `within` bits agree in a
    whole band, so only hashes that share a band are compared, each pair in the first band that it shares.
    """
    if not 0 <= within <= 16:
        raise InputError(f"near duplicates within {within} bits", hint="Use 0 to 16.")
    edges = np.linspace(0, 64, within + 2).astype(int)
    masks = [np.uint64(((1 << int(high)) - 1) ^ ((1 << int(low)) - 1)) for low, high in pairwise(edges)]
    found: list[npt.NDArray[np.int64]] = []
    total = 0
    for number, mask in enumerate(masks):
        band = hashes & mask
        order = np.argsort(band, kind="stable")
        ordered = band[order]
        alive, step = np.arange(len(order) - 1), 1
        while len(alive):
            alive = alive[ordered[alive] == ordered[alive + step]]
            one, two = order[alive], order[alive + step]
            differ = hashes[one] ^ hashes[two]
            keep = np.bitwise_count(differ) <= within
            for earlier in masks[:number]:
                keep &= (differ & earlier) != 0
            low, high = np.minimum(one, two)[keep], np.maximum(one, two)[keep]
            found.append(np.stack([low, high, np.bitwise_count(differ[keep]).astype(np.int64)]))
            total += int(keep.sum())
            if total > MOST:
                raise TooManyPairsError(
                    f"more than {MOST:,} pairs look alike within {within} bits",
                    hint="Use a smaller distance (--near 0), or switch the search off (--near off).",
                )
            step += 1
            alive = alive[alive + step < len(order)]
    pairs = np.concatenate([np.empty((3, 0), np.int64), *found], axis=1)
    pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    return pairs[0], pairs[1], pairs[2]
