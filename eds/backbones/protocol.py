"""The protocol of backbones: a spec, which says how images are prepared, and a function on a batch of them."""

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from eds.backbones.spec import BackboneSpec


@runtime_checkable
class Backbone(Protocol):
    """An encoder of images that `spec.preprocessing` prepared. `encode` is safe to call from any thread."""

    spec: BackboneSpec

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Encode uint8 (n, height, width, 3) as float32 (n, dimension), of length 1 if the spec normalises."""
        ...
