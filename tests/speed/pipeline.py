"""The whole pipeline (read, decode, resize, forward, write) relative to the forward pass alone.

Run: python -m tests.speed.pipeline [SPEC] [images] [pixels]. Needs the extras vision and offline. Goal, with
wheel:efficientnet_lite0: 0.9 for pictures of 256 pixels. Opening and closing the tables takes some 25 ms,
which is why there are thousands of pictures. Rounds of both alternate; the forward pass runs
before and after each pipeline and the quicker counts, so that a machine that slows down does not flatter
the ratio. Beside the time, the processor's time is told: other programs disturb it less. Also told: the
share that arithmetic allows, since decoding takes time from the same cores.
"""

import resource
import statistics
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
from eds.io.files import digest
from eds.tables import IMAGES, Provenance

BATCH = 32
ROUNDS = 3
ALLOWED = 1536  # megabytes beyond the model, for a catalogue of any size: run it with more pictures to see


def main(spec: str = "wheel:efficientnet_lite0", count: str = "6000", size: str = "256") -> None:
    """Draw noise pictures and measure both."""
    backbone = load(spec)
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder:
        images = _draw(Path(folder) / "images", int(count), int(size))
        work, rounds = _Work(backbone, images, Path(folder)), []
        work.forward(3)
        for number in range(ROUNDS):
            before, whole, after = work.forward(25), work.pipeline(number), work.forward(25)
            rounds.append((max(before[0], after[0]), whole[0], min(before[1], after[1]) / whole[1]))
        raw, whole = (statistics.median(column) for column in list(zip(*rounds, strict=True))[:2])
        begun, catalogue = time.perf_counter(), Sources(images, Path(folder) / "images")
        key = frozenset([backbone.spec.preprocessing.pixels_key])
        jobs = (Job(row, part, key) for row, part in enumerate(catalogue.parts(np.arange(len(images)))))
        read = float(sum(1 for _ in prepared(jobs, Path(folder) / "images", [backbone], workers=0, ahead=2 * BATCH)))
        read /= time.perf_counter() - begun
    allowed = 1 / (1 + raw / read)
    print(f"{spec}, {count} pictures of {size} pixels, {threads(0)} cores")
    print(f"forward {raw:.0f} images/s, reading alone {read:.0f}, pipeline {whole:.0f}")
    ratios, busy = [one[1] / one[0] for one in rounds], [one[2] for one in rounds]
    print(f"pipeline / forward {statistics.median(ratios):.3f}, best round {max(ratios):.3f}")
    print(f"processor's time, forward / pipeline {statistics.median(busy):.3f}")
    print(f"one core doing one thing at a time would give {allowed:.3f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, {peak - loaded:.0f} MB of them beyond imports and model ({ALLOWED:,} allowed)")


class _Work:
    """The two things that are measured: images a second, and processor's seconds an image."""

    def __init__(self, backbone: Backbone, images: pd.DataFrame, folder: Path) -> None:
        self._backbone, self._images, self._folder = backbone, images, folder
        side = backbone.spec.preprocessing.side
        self._batch = np.random.default_rng(0).integers(0, 256, (BATCH, side, side, 3), dtype=np.uint8)

    def forward(self, rounds: int) -> tuple[float, float]:
        begun, used = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            self._backbone.encode(self._batch)
        count = rounds * BATCH
        return count / (time.perf_counter() - begun), (time.process_time() - used) / count

    def pipeline(self, number: int) -> tuple[float, float]:
        begun, used = time.perf_counter(), time.process_time()
        name = f"m{number}"
        compute(
            self._images,
            self._folder / "images",
            {name: self._backbone},
            {name: self._folder / name},
            batch=BATCH,
            provenance={name: Provenance("speed")},
        )
        count = len(self._images)
        return count / (time.perf_counter() - begun), (time.process_time() - used) / count


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
