"""The images of a benchmark with their classes, and the splits that they allow."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError
from eds.pairs import encode, unique_ids
from eds.training.splits import STANDARD, Split, draw_split, rows_of, split_by_column, standard_split
from eds.training.supervision import Supervision


@dataclass(frozen=True)
class HashData:
    """Images with their classes; `fine` are classes within a class, `phase` the dataset's own parts, where known."""

    name: str
    pixels: NDArray[np.uint8]  # (n, high, wide) or (n, high, wide, 3)
    category: pd.Series
    fine: pd.Series | None = None
    phase: pd.Series | None = None
    parts: Split | None = None  # the project's own, of its catalogue

    def __post_init__(self) -> None:
        classes, counts = np.unique(self.category.to_numpy(dtype=str), return_counts=True)
        if len(classes) < 2:
            raise InputError(
                f"all images are of one class ({classes[0]})",
                where=self.name,
                hint="Codes tell classes apart: use two.",
            )
        if (counts < 2).any():
            few = classes[counts < 2].tolist()
            raise InputError(
                f"{len(few):,} classes have one image: {', '.join(few[:3])}",
                where=self.name,
                hint="Nothing is similar to it: leave it out, or merge classes.",
            )

    @property
    def digest(self) -> str:
        """A digest of images and labels."""
        found = hashlib.sha256(np.ascontiguousarray(self.pixels).data)
        found.update("\n".join(self.category.astype(str)).encode())
        return found.hexdigest()

    def labels(self, parts: Split, source: str = "category") -> Supervision:
        """What is similar: the same class; `both` also within a class."""
        ids = [f"{row:07d}" for row in range(len(self.pixels))]
        category = encode(self.category, unique_ids(self.category))
        alone = np.arange(len(ids)) if self.fine is None else encode(self.fine, unique_ids(self.fine))
        return Supervision(source, ids, alone, category, parts=parts)

    def split(self, name: str, seed: int) -> Split:
        """The rows of each part: a standard split, `official`, `stratified`, or QUERIES/TRAINING of each class."""
        if self.parts is not None:
            return self.parts
        frame = pd.DataFrame({"image_id": [f"{row:07d}" for row in range(len(self.pixels))]})
        frame["product_id"], frame["category"] = frame["image_id"], self.category.to_numpy()
        ids = frame["image_id"].tolist()
        queries, _, trained = name.partition("/")
        if name == "official":
            if self.phase is None:
                raise InputError("the images have no parts of their own", where=self.name, hint="Use another --split.")
            return rows_of(split_by_column(frame.assign(phase=self.phase.to_numpy()), "phase"), ids)
        if name == "stratified":
            return rows_of(draw_split(frame, name, searched="others", validation_share=0, seed=seed), ids)
        if queries.isdigit() and trained.isdigit() and min(int(queries), int(trained)) > 0:
            counts = int(queries), int(trained), ("train", "database")
            return rows_of(standard_split(frame, name, seed, counts), ids)
        if name not in STANDARD:
            raise InputError(
                f"unknown split {name!r}",
                where="benchmark",
                hint=f"Known: official, stratified, {', '.join(STANDARD)}, or QUERIES/TRAINING as 100/500.",
            )
        return rows_of(standard_split(frame, name, seed), ids)
