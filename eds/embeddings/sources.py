"""What each vector is made from: the file and its crop box, and the digest that tells a change of either."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import ImageError, InputError
from eds.imaging import Box, inside, read_bytes
from eds.io import Address, is_remote, local_path
from eds.io.files import digest
from eds.tables import BOX, EMBEDDINGS, IMAGES, check

USED = replace(
    IMAGES, columns=tuple(column for column in IMAGES.columns if column.name in ("image_id", "path", "sha256", *BOX))
)
BLOCK = 4096  # rows turned into parts at once
SHOWN = 5
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Part:
    """The pixels of one image: a file below the root, and the box of it that counts."""

    image_id: str
    path: str
    box: Box | None
    sha256: str  # of the file, as table `images` tells it; empty where that is unknown


class Sources:
    """Every image of the catalogue with the digest of its source, in the order of the table.

    Parts are made when they are asked for: a million of them would take more memory than the table.
    """

    def __init__(self, images: pd.DataFrame, image_root: Address) -> None:
        """Take table `images`; a file whose digest the table lacks is read for it."""
        check(images, USED)
        _refuse_half_boxes(images)
        self._columns = images[USED.names]
        self.bad: dict[int, str] = {}  # row -> why there is no digest
        found: list[str | None] = []
        for row, part in enumerate(self.parts(np.arange(len(images)))):
            try:
                found.append(source_digest(part.sha256 or _digest(image_root, part.path), part.box))
            except (ImageError, OSError) as error:
                self.bad[row] = str(error) if isinstance(error, ImageError) else f"{part.path}: {error.strerror}"
                found.append(None)
        self.digests = pd.Series(found, dtype=EMBEDDINGS.empty()["source"].dtype)
        self.wanted = pd.DataFrame({"image_id": images["image_id"].array, "source": self.digests})

    def __len__(self) -> int:
        return len(self._columns)

    def image_id(self, row: int) -> str:
        """The name of the image in that row."""
        return str(self._columns["image_id"].iloc[row])

    def parts(self, rows: Ints) -> Iterator[Part]:
        """The parts of these rows, in their order."""
        for first in range(0, len(rows), BLOCK):
            block = self._columns.iloc[rows[first : first + BLOCK]]
            boxed = block[BOX[0]].notna().tolist()
            edges = block[BOX].astype("Int64").fillna(0).to_numpy(dtype=np.int64).tolist()
            digests = block["sha256"].astype(object).where(block["sha256"].notna(), "").tolist()
            columns = (block["image_id"].tolist(), block["path"].tolist(), boxed, edges, digests)
            for name, path, has_box, box, file in zip(*columns, strict=True):
                yield Part(name, path, Box(*box) if has_box else None, file)


def source_digest(file: str, box: Box | None) -> str:
    """The digest of a file's digest and a box: what column `source` of table `embeddings` holds.

    >>> source_digest("ab", None) == source_digest("ab", Box(0, 0, 2, 2))
    False
    """
    edges = "whole" if box is None else ",".join(map(str, box))
    return hashlib.sha256(f"{file} {edges}".encode()).hexdigest()


def _digest(image_root: Address, path: str) -> str:
    """The digest of a file that the table knows none of, here or elsewhere."""
    file = inside(image_root, path)
    return hashlib.sha256(read_bytes(file)).hexdigest() if is_remote(file) else digest(local_path(file))


def _refuse_half_boxes(images: pd.DataFrame) -> None:
    given = images[BOX].notna().to_numpy().sum(axis=1)
    odd = np.flatnonzero((given > 0) & (given < len(BOX)))
    if len(odd):
        named = [f"{images['image_id'].iloc[row]}: {given[row]} of {len(BOX)} edges" for row in odd[:SHOWN].tolist()]
        raise InputError(
            f"{len(odd):,} images have half a crop box",
            where="table images",
            hint="Give all four edges or none.",
            faults=named,
        )
