"""A small model and a small catalogue of noise pictures, so that the pipeline is tested without networks."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from eds.backbones import BackboneSpec, Preprocessing
from eds.io.files import digest
from eds.tables import IMAGES

RULES = Preprocessing("squash", 16, "bilinear", None, "RGB", (0.5, 0.5, 0.5), (1.0, 1.0, 1.0))
SPEC = BackboneSpec("toy", "toy", "", "w0", (), "", 24, RULES)


class Toy:
    """A fixed projection of the resized pixels; counts what it was asked for."""

    def __init__(self, spec: BackboneSpec = SPEC, pause: float = 0.0) -> None:
        self.spec, self.pause = spec, pause
        self.batches = list[int]()
        generator = np.random.default_rng(5)
        self._matrix = generator.standard_normal((self.spec.preprocessing.size**2 * 3, self.spec.dimension))

    def encode(self, batch: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        self.batches.append(len(batch))
        time.sleep(self.pause)
        flat = batch.reshape(len(batch), -1).astype(np.float64) - 127.5
        return np.asarray(np.vstack([row @ self._matrix for row in flat]) / 255, dtype=np.float32)


def catalogue(root: Path, count: int = 24) -> pd.DataFrame:
    """Table `images` of `count` noise JPEGs below `root`, digests included."""
    root.mkdir(parents=True, exist_ok=True)
    names = [f"{number:03d}.jpg" for number in range(count)]
    for number, name in enumerate(names):
        paint(root / name, number)
    frame = pd.DataFrame({"image_id": [f"i{name[:3]}" for name in names], "path": names})
    frame["product_id"], frame["role"] = frame["image_id"], "both"
    frame["sha256"] = [digest(root / name) for name in names]
    empty = IMAGES.empty().reindex(range(count))
    return frame.join(empty[[name for name in IMAGES.names if name not in frame]])[IMAGES.names]


def paint(path: Path, seed: int) -> None:
    """Write a noise picture of 40 x 30 pixels."""
    noise = np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, quality=90)
