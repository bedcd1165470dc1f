"""A drawn catalogue small enough to train networks on in a second."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

Drawn = tuple[pd.DataFrame, Path]


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """Nine products of four noisy pictures."""
    root = tmp_path_factory.mktemp("pictures")
    return draw(root), root


def draw(root: Path) -> pd.DataFrame:
    """Write the pictures to `root`; the images table."""
    root.mkdir(parents=True, exist_ok=True)
    rng, rows = np.random.default_rng(0), []
    for product in range(9):
        colours = rng.integers(0, 256, (4, 4, 3))
        for view in range(4):
            noise = rng.normal(0, 20, (64, 64, 3))
            array = np.clip(np.kron(colours, np.ones((16, 16, 1))) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(array).save(root / f"{product}-{view}.png")
            rows.append((f"{product}-{view}", f"{product}-{view}.png", f"p{product}", f"c{product % 2}"))
    images = pd.DataFrame(rows, columns=["image_id", "path", "product_id", "category"])
    boxes = dict.fromkeys(("box_left", "box_top", "box_right", "box_bottom"), pd.array([None] * len(rows), "Int64"))
    return images.assign(sha256=None, **boxes)
