"""Codes as a model of the project: vectors of a base model, passed through a head and written like any embeddings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eds.backbones.hash_head import Head
from eds.errors import InputError
from eds.tables import Provenance
from eds.vectors import Model, Vectors, pack, write

Progress = Callable[[int, int], None]
BLOCK = 8192


def gather_inputs(vectors: Vectors, ids: "list[str]") -> NDArray[np.float32]:
    """The input of a head: vectors of these images, (n, dimension) float32, of length 1 if compared by cosine.

    Raises InputError if the vectors are codes already.
    """
    if vectors.model.dtype == "bits":
        raise InputError(
            "its vectors are codes already", where=f"model {vectors.model.name}", hint="Name a model of float vectors."
        )
    found = vectors.gather(ids)
    if vectors.model.similarity != "cosine":
        return found
    lengths = np.sqrt(np.square(found.astype(np.float64)).sum(axis=1, keepdims=True))
    return np.asarray(found / lengths, np.float32)


def backbone_text(vectors: Vectors) -> str:
    """The text of the backbone that computed the vectors; empty if they were imported, or are codes."""
    from eds.backbones import name_and_spec, preset_text
    from eds.backbones.request import Request

    model = vectors.model
    texts = model.provenance.params.get("models") or []
    if model.provenance.operation != "embeddings.compute" or not texts:
        return ""
    request = Request.parse(preset_text(name_and_spec(str(texts[0]))[1]))
    precision = str(model.spec.get("precision", "float32"))
    return request.with_options(
        random_init=model.random or None, precision=None if precision == "float32" else precision
    ).text


def describe_base(vectors: Vectors) -> dict[str, str]:
    """The base model's name and digests, for a head's identity and the spec of its codes."""
    model = vectors.model
    return {
        "model": model.name,
        "weights_digest": model.weights_digest,
        "preprocessing_digest": model.preprocessing_digest,
    }


def write_codes(
    folder: Path,
    name: str,
    vectors: Vectors,
    ids: "list[str]",
    head: Head,
    sha256: str,
    design: Mapping[str, Any],
    provenance: Provenance,
    progress: Progress | None = None,
) -> Vectors:
    """Write the codes of these images by a head, known by its file's digest, as the model `name`."""
    codes = encode(head, vectors, ids, progress)
    spec = {"loader": "hash", "base": describe_base(vectors), "checkpoint_sha256": sha256, **design}
    steps = vectors.model.preprocessing_digest
    model = Model(name, spec, head.bits, "bits", "hamming", steps, sha256, provenance=provenance)
    return write(folder, model, ids, codes)


def encode(head: Head, vectors: Vectors, ids: "list[str]", progress: Progress | None = None) -> NDArray[np.uint8]:
    """The packed codes of these images, (n, bytes) uint8, in blocks, so that memory use does not grow with them."""
    parts = []
    for start in range(0, len(ids), BLOCK):
        part = ids[start : start + BLOCK]
        parts.append(pack(head.codes(gather_inputs(vectors, part))))
        if progress:
            progress(start + len(part), len(ids))
    return np.concatenate(parts)
