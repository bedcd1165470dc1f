"""The cost of images in a bucket beside images in a folder: python -m tests.speed.remote_images [COUNT] [DELAY IN MS].

A local S3 server (moto's) answers behind a proxy that waits before each answer, as a network would. Told: scans with
one thread and with the default, as ratios; requests for each picture, of a first scan, a second one and a computation.
"""

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from eds import io as storage
from eds.embeddings.pipeline import Job, prepared
from eds.embeddings.sources import Sources
from eds.images.folder import read
from eds.images.scan import scan
from eds.images.sources import Source
from tests.embeddings.toy import Toy
from tests.object_storage import storage as served

ROOT = "s3://shop/pictures"


def main(count: str = "400", delay: str = "20") -> None:
    """Draw pictures, put them here and there, and look at both."""
    with served() as server, tempfile.TemporaryDirectory() as temporary:
        os.environ.update(server.environment())
        server.bucket("shop")
        here = Path(temporary) / "images"
        for number in range(int(count)):
            noise = np.random.default_rng(number).integers(0, 256, (24, 24, 3), dtype=np.uint8)
            stream = io.BytesIO()
            Image.fromarray(noise).resize((256, 256)).save(stream, "JPEG", quality=88)
            for root in (here, ROOT):
                storage.put(storage.join(root, f"{number:05d}.jpg"), stream.getvalue())

        def wait(method: str, path: str) -> None:
            time.sleep(int(delay) / 1000)

        server.fault = wait
        images = read(Source((), here)).images

        def timed(work: Callable[[], object]) -> float:
            server.seen.clear()
            begun = time.perf_counter()
            work()
            return time.perf_counter() - begun

        memory = Path(temporary) / "scan.parquet"
        folder = timed(lambda: scan(images, here, near=None))
        alone = timed(lambda: scan(images, ROOT, near=None, workers=1))
        many = timed(lambda: scan(images, ROOT, near=None, cache=memory))
        first = sum(server.seen.values())
        again = timed(lambda: scan(images, ROOT, near=None, cache=memory))
        second = sum(server.seen.values())
        toy = Toy()
        parts = list(Sources(scan(images, here, near=None).images, ROOT).parts(np.arange(len(images))))
        jobs = [Job(row, part, frozenset([toy.spec.preprocessing.pixels_key])) for row, part in enumerate(parts)]
        decode = timed(lambda: list(prepared(iter(jobs), ROOT, [toy], workers=0, ahead=64)))
        third = sum(server.seen.values())
    print(f"{count} pictures, {delay} ms before each answer")
    print(f"scan: folder {folder:.2f} s, bucket with one thread {alone:.2f} s, with the default {many:.2f} s")
    print(f"one thread / default {alone / many:.1f}; second scan / first {again / many:.3f}")
    print(
        f"requests a picture: first scan {first / len(images):.3f}, second {second / len(images):.3f}, "
        f"computation {third / len(images):.3f} in {decode:.2f} s"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
