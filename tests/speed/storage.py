"""Times of the vector store at 1,000,000 x 512 float32: open, gather 10,000, scan; and the memory they take.

Run: python -m tests.speed.storage [rows]. Needs 2 GB in the temporary folder. Goals: open < 0.1 s,
gather of 10,000 random images < 0.2 s; a scan is told as a ratio to summing one array of that size.
"""

import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from eds.vectors import Model, Vectors, Writer

DIMENSION = 512


def main(rows: int = 1_000_000) -> None:
    """Write a store, then measure it; what is called cold is so for this process, not for the disk."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"write {_timed(lambda: _write(folder, rows)):.1f} s for {rows:,} x {DIMENSION}")
        for turn in ("cold", "warm"):
            print(f"open, {turn}: {_timed(lambda: Vectors.open(folder)):.3f} s")
        before = _peak()
        vectors = Vectors.open(folder)
        some = [f"image-{row:07d}" for row in np.random.default_rng(1).integers(rows, size=10_000)]
        for turn in ("cold", "warm"):
            print(f"gather 10,000, {turn}: {_timed(lambda: vectors.gather(some)):.3f} s")
        print(f"gather one: {_timed(lambda: vectors.gather(some[:1])):.4f} s")
        print(f"peak memory beyond the writing: {max(_peak() - before, 0):.0f} MB (pages of the mapped files included)")
        scan = _timed(lambda: sum(float(block.sum()) for _, block in vectors.blocks(4096)))
        flat = np.ones((min(rows, 200_000), DIMENSION), dtype=np.float32)
        whole = _timed(lambda: flat.sum()) * rows / len(flat)
        print(f"scan {scan:.2f} s, {scan / whole:.2f} of summing an array in memory")


def _write(folder: Path, rows: int) -> None:
    model = Model("toy", {"loader": "import"}, DIMENSION, "float32", "cosine", "", "")
    writer = Writer(folder, model)
    block = np.random.default_rng(0).standard_normal((16_384, DIMENSION), dtype=np.float32)
    ids = [f"image-{row:07d}" for row in range(rows)]
    sources = [hashlib.sha256(name.encode()).hexdigest() for name in ids]
    for first in range(0, rows, len(block)):
        part = slice(first, first + len(block))
        writer.add(ids[part], sources[part], block[: len(ids[part])])
    wanted = pd.DataFrame({"image_id": ids, "source": sources})
    print(f"finish {_timed(lambda: writer.finish(wanted, model.provenance)):.1f} s")


def _timed(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
