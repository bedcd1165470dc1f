"""The whole pipeline (read, decode, resize, forward, write) relative to the forward pass alone.

Run: python -m tests.speed.pipeline [SPEC] [images]. Needs the extras vision and offline. Goals, with
wheel:efficientnet_lite0: 0.85 for pictures of 256 pixels. The forward pass runs before and after the
pipeline and the quicker counts, so that a machine that slows down does not flatter the ratio. Also
told: the share that arithmetic allows, since decoding takes time from the same cores.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from eds.backbones import Backbone, load
from eds.embeddings.compute import compute
from eds.embeddings.pipeline import Job, prepared, threads
from eds.embeddings.sources import Sources
from eds.files import digest
from eds.tables import IMAGES, Provenance

BATCH = 32


def main(spec: str = "wheel:efficientnet_lite0", count: str = "1500", size: str = "256") -> None:
    """Draw noise pictures and measure both."""
    backbone = load(spec)
    with tempfile.TemporaryDirectory() as folder:
        images = _draw(Path(folder) / "images", int(count), int(size))
        raw = _forward(backbone)
        begun = time.perf_counter()
        compute(images, Path(folder) / "images", {"m": backbone}, {"m": Path(folder) / "m"}, batch=BATCH,
                provenance={"m": Provenance("speed")})  # fmt: skip
        whole = len(images) / (time.perf_counter() - begun)
        raw = max(raw, _forward(backbone))
        begun, catalogue = time.perf_counter(), Sources(images, Path(folder) / "images")
        key = frozenset([backbone.spec.preprocessing.pixels_key])
        jobs = (Job(row, part, key) for row, part in enumerate(catalogue.parts(np.arange(len(images)))))
        read = float(sum(1 for _ in prepared(jobs, Path(folder) / "images", [backbone], workers=0, ahead=2 * BATCH)))
        read /= time.perf_counter() - begun
    allowed = 1 / (1 + raw / read)
    print(f"{spec}, {count} pictures of {size} pixels, {threads(0)} cores")
    print(f"forward {raw:.0f} images/s, reading alone {read:.0f}, pipeline {whole:.0f}")
    print(f"pipeline / forward {whole / raw:.3f}; one core doing one thing at a time would give {allowed:.3f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _forward(backbone: Backbone, rounds: int = 25) -> float:
    side = backbone.spec.preprocessing.side
    batch = np.random.default_rng(0).integers(0, 256, (BATCH, side, side, 3), dtype=np.uint8)
    for _ in range(3):
        backbone.encode(batch)
    begun = time.perf_counter()
    for _ in range(rounds):
        backbone.encode(batch)
    return rounds * BATCH / (time.perf_counter() - begun)


def _draw(root: Path, count: int, size: int) -> pd.DataFrame:
    root.mkdir()
    generator = np.random.default_rng(0)
    names = [f"{number}.jpg" for number in range(count)]
    for name in names:
        coarse = generator.integers(0, 256, (size // 8, size // 8, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((size, size), Image.Resampling.BICUBIC).save(root / name, quality=90)
    frame = pd.DataFrame({"image_id": names, "path": names, "product_id": names, "role": "both"})
    frame["sha256"] = [digest(root / name) for name in names]
    empty = IMAGES.empty().reindex(range(count))
    return frame.join(empty[[name for name in IMAGES.names if name not in frame]])[IMAGES.names]


if __name__ == "__main__":
    main(*sys.argv[1:])
