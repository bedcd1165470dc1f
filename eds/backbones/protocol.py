"""What every backbone is: a spec, a step on one image, a step on a batch."""

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from PIL import Image

from eds.backbones.spec import BackboneSpec


@runtime_checkable
class Backbone(Protocol):
    """An encoder of images. `prepare` may run in many threads at once; `encode` is safe to call from any."""

    spec: BackboneSpec

    def prepare(self, image: Image.Image) -> npt.NDArray[np.uint8]:
        """One RGB image as uint8 (height, width, 3), the size that `encode` takes."""
        ...

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, height, width, 3) to float32 (n, dimension), of length 1 where the spec normalises."""
        ...
