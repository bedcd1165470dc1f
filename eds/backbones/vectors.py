"""What leaves a backbone: batches checked on the way in, vectors finished on the way out."""

import numpy as np
import numpy.typing as npt

from eds.backbones.spec import BackboneSpec
from eds.errors import InputError


def check_batch(batch: npt.NDArray[np.uint8], side: int) -> None:
    """Refuse what is not uint8 (n, side, side, 3)."""
    if batch.dtype != np.uint8 or batch.ndim != 4 or batch.shape[1:] != (side, side, 3):
        raise InputError(
            f"the batch is {batch.dtype} {batch.shape}, not uint8 (n, {side}, {side}, 3)",
            do="Stack what spec.preprocessing.pixels gave.",
        )


def finished(vectors: npt.NDArray[np.floating], spec: BackboneSpec) -> npt.NDArray[np.float32]:
    """float32 (n, dimension), each of length 1 where the spec says so; a vector of zeros stays one."""
    if not np.all(np.isfinite(vectors)):
        rows = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        raise InputError(
            f"the model gives no finite vector for {len(rows)} of {len(vectors)} images of a batch",
            where=spec.text,
            do="Check the weights, or choose precision float32.",
        )
    if not spec.normalise:
        return np.ascontiguousarray(vectors, dtype=np.float32)
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    result = np.zeros(exact.shape, dtype=np.float32)
    np.divide(exact, lengths, out=result, where=lengths > 0, casting="same_kind")
    return result
