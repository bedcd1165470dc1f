"""How fast a scan is beside a plain sha256 loop on as many threads: `python tests/speed/scan.py [--count 50000]`.

The files are made first, in a temporary folder, so all are in the page cache: the figures are of the
program, not of the disk. Rounds alternate, the median of each is told.
"""

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from eds.images.folder import read
from eds.images.scan import scan
from eds.images.sources import Source

THREADS = 2


def make(root: Path, count: int, side: int) -> int:
    """Write JPEGs of soft noise, a few hundred different ones with a unique tail of their own; give the bytes."""
    draw = np.random.default_rng(0)
    pictures = []
    for _ in range(min(count, 200)):
        noise = draw.integers(0, 256, (side // 8, side // 8, 3), dtype=np.uint8)
        picture = Image.fromarray(noise).resize((side, side)).filter(ImageFilter.GaussianBlur(2))
        path = root / "one.jpg"
        picture.save(path, quality=88)
        pictures.append(path.read_bytes())
        path.unlink()
    written = 0
    for number in range(count):
        folder = root / f"c{number // 5 % 10}" / f"p{number // 5:06d}"
        folder.mkdir(parents=True, exist_ok=True)
        comment = f"{number:08d}".encode()
        data = pictures[number % len(pictures)]
        data = data[:2] + b"\xff\xfe\x00\x0a" + comment + data[2:]  # a comment makes each file different
        written += (folder / f"{number}.jpg").write_bytes(data)
    return written


def plain(paths: list[str]) -> None:
    """The yardstick: read and hash, each thread its share."""

    def share(part: list[str]) -> None:
        for path in part:
            with open(path, "rb") as stream:  # noqa: PTH123
                hashlib.sha256(stream.read()).hexdigest()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(share, [paths[number::THREADS] for number in range(THREADS)]))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=5000)
    options.add_argument("--side", type=int, default=256)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "images"
        root.mkdir()
        written = make(root, given.count, given.side)
        images = read(Source((), root, layout="tree")).images
        paths = [str(root / path) for path in images["path"]]
        memory = Path(temporary) / "scan.parquet"
        scan(images, root, cache=memory, near=None, workers=THREADS)
        works: dict[str, Callable[[], object]] = {
            "plain sha256 loop": lambda: plain(paths),
            "walk of the folders": lambda: read(Source((), root, layout="tree")),
            "scan, header check": lambda: scan(images, root, check="header", workers=THREADS),
            "scan, full check, no near": lambda: scan(images, root, near=None, workers=THREADS),
            "scan, full check, near 4": lambda: scan(images, root, workers=THREADS),
            "second scan, nothing changed": lambda: scan(images, root, near=None, cache=memory, workers=THREADS),
        }
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(given.rounds):
            for name, work in works.items():
                seconds[name].append(timed(work))
    load = os.getloadavg()[0]
    print(f"{given.count:,} JPEGs of {written / given.count / 1000:.1f} kB, {THREADS} threads, load {load:.1f}")
    yardstick = statistics.median(seconds["plain sha256 loop"])
    for name, measured in seconds.items():
        median = statistics.median(measured)
        print(f"{name:32} {median:8.2f} s {given.count / median:10,.0f} files/s  ratio {yardstick / median:5.2f}")


if __name__ == "__main__":
    main()
