"""Compute the vectors that are missing: of new and changed images, by every model that lacks them.

A run that dies continues at the last finished shard. A vector depends on its image and its model alone, not on batch,
threads, parts or the order of the table.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from eds.backbones import Backbone
from eds.embeddings.encoding import Progress, encode_missing, new_model
from eds.embeddings.sources import Sources
from eds.embeddings.tasks import Recipe, encode_in_parts, forget_plan
from eds.errors import InputError
from eds.io import Address
from eds.parallel import Executor
from eds.tables import Provenance
from eds.vectors import SHARD_ROWS, Model, Writer


@dataclass(frozen=True)
class Done:
    """What became of one model."""

    model: Model
    computed: int
    kept: int


@dataclass(frozen=True)
class Summary:
    """What a run did: each model's folder, and the images that have no vector, with the reason."""

    models: tuple[Done, ...]
    bad: pd.DataFrame  # image_id, reason
    seconds: float


def compute(
    images: pd.DataFrame,
    image_root: Address,
    backbones: Mapping[str, Backbone],
    folders: Mapping[str, str | Path],
    *,
    provenance: Mapping[str, Provenance] | None = None,
    batch: int = 32,
    workers: int = 0,
    dtype: Literal["float32", "float16"] = "float32",
    on_bad: Literal["skip", "fail"] = "skip",
    shard_rows: int = SHARD_ROWS,
    replace: bool = False,
    executor: Executor | None = None,
    recipes: Sequence[Recipe] = (),
    progress: Progress | None = None,
) -> Summary:
    """Bring the folder of every model in `backbones` up to date with table `images`; mappings are by model name.

    `provenance` says what the vectors were made from, by default nothing but how.
    `progress` gets (images done, images to do). `replace` empties a folder that was made with other weights or
    another preprocessing; without it such a folder is refused. With an executor the images are encoded in parts, by
    models that the tasks load from `recipes`, and `progress` gets (tasks done, tasks); the folders are the same, file
    by file, for models that give an image the same bits in any batch.
    """
    if batch < 1:
        raise InputError(f"a batch of {batch} images is impossible", hint="Give a number from 1 up.")
    begun = time.monotonic()
    catalogue = Sources(images, image_root)
    writers = {
        name: Writer(Path(folders[name]), new_model(name, backbone, dtype), shard_rows=shard_rows, replace=replace)
        for name, backbone in backbones.items()
    }
    if executor:
        encoded = encode_in_parts(
            images,
            catalogue,
            image_root,
            writers,
            recipes,
            executor,
            batch=batch,
            dtype=dtype,
            on_bad=on_bad,
            progress=progress,
        )
    else:
        encoded = encode_missing(
            catalogue, image_root, backbones, writers, batch=batch, workers=workers, on_bad=on_bad, progress=progress
        )
    done = []
    for name, writer in writers.items():
        model = writer.finish(catalogue.wanted, (provenance or {}).get(name) or Provenance("embeddings.compute"))
        done.append(Done(model, encoded.computed[name], model.rows - encoded.computed[name]))
    if executor:
        forget_plan(executor)
    bad = pd.DataFrame(
        {"image_id": [catalogue.image_id(row) for row in encoded.bad], "reason": list(encoded.bad.values())}
    )
    return Summary(tuple(done), bad, round(time.monotonic() - begun, 3))
