"""Checks of the batches that enter a backbone, normalisation of the vectors that leave it."""

import numpy as np
import numpy.typing as npt

from eds.backbones.spec import BackboneSpec
from eds.errors import InputError


def check_batch(batch: npt.NDArray[np.uint8], side: int) -> None:
    """Raise InputError if the batch is not uint8 (n, side, side, 3)."""
    if batch.dtype != np.uint8 or batch.ndim != 4 or batch.shape[1:] != (side, side, 3):
        raise InputError(
            f"the batch is {batch.dtype} {batch.shape}, not uint8 (n, {side}, {side}, 3)",
            hint="Stack the results of spec.preprocessing.pixels.",
        )


def finish(vectors: npt.NDArray[np.floating], spec: BackboneSpec) -> npt.NDArray[np.float32]:
    """Return float32 (n, dimension), of length 1 if the spec normalises; zero vectors stay zero."""
    if not np.all(np.isfinite(vectors)):
        rows = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        raise InputError(
            f"the model returns vectors that are not finite for {len(rows)} of {len(vectors)} images of a batch",
            where=spec.text,
            hint="Check the weights, or choose precision float32.",
        )
    if not spec.normalise:
        return np.ascontiguousarray(vectors, dtype=np.float32)
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    result = np.zeros(exact.shape, dtype=np.float32)
    np.divide(exact, lengths, out=result, where=lengths > 0, casting="same_kind")
    return result
