"""Engines beside one another: embedding by two processes, Ray beside the pool, many vectors in little memory.

`python -m tests.speed.engines embedding` needs the extras vision and offline; `ray` makes a network namespace and so
needs root; `mining [--rows 5000000]` first writes vectors of 128 numbers to --folder (2.6 GB). Only ratios within one
run mean anything. Every process has one thread for its network or its matrix products; where it embeds, one decodes.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from eds import tables
from eds.backbones import load
from eds.config import EngineSettings
from eds.embeddings.sharded import Asked, compute_in_parts
from eds.engines import Engine, Site, start
from eds.files import digest, write_text
from eds.neighbors import Rules
from eds.neighbors.sharded import mine_in_parts
from eds.tables import Provenance
from eds.vectors import Model, Shard, Vectors
from tests.engines.elsewhere import Elsewhere
from tests.engines.tasks import Busy, busy
from tests.speed.pipeline import _draw

MADE = Provenance("speed")
QUERIES = 1000
SPEC = "wheel:efficientnet_lite0"


def embedding(given: argparse.Namespace) -> None:
    """Images a second of two processes, of one with a core of its own, and of one that has both cores; all warm.

    One thread computes in each. A process that has both cores decodes on the second one while it computes on the first.
    """
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, backbone = Path(name), load(given.spec, threads=1, random_init=given.random_init)
        images = _draw(folder / "images", given.images, 256)
        models = [Asked("m", given.spec, backbone.spec.digest, random_init=given.random_init)]
        kinds = {"two processes": 2, "one, on a core": 1, "one, on both": 1}
        engines, seconds = {}, {kind: [float("inf")] for kind in kinds}
        settings = {kind: EngineSettings(use="pool", workers=workers, images=given.images // 8)
                    for kind, workers in kinds.items()}  # fmt: skip
        for kind in kinds:
            engines[kind] = stack.enter_context(start(settings[kind]))
        for turn in range(given.repeats + 1):
            for kind, engine in engines.items():
                site = Site(engine, folder / f"{kind}-{turn}", settings[kind])
                table = images if turn else images.head(given.images // 4)
                target = {"m": folder / f"{kind}-vectors-{turn}"}
                with _cores(1 if kind == "one, on a core" else 2):
                    begun = time.perf_counter()
                    compute_in_parts(
                        table, folder / "images", {"m": backbone}, target, models, site, provenance={"m": MADE}
                    )
                seconds[kind] += [time.perf_counter() - begun] if turn else []
        best = {kind: min(times) for kind, times in seconds.items()}
        rates = ", ".join(f"{kind}: {given.images / time:.0f}" for kind, time in best.items())
        print(f"{given.spec}, {given.images} pictures of 256 pixels, images/s: {rates}")
        for kind in ("one, on a core", "one, on both"):
            print(f"two processes / {kind}: {best[kind] / best['two processes']:.2f} (goal 1.6)")


@contextmanager
def _cores(count: int) -> Iterator[None]:
    """Processes that are started now may use so many cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def ray(given: argparse.Namespace) -> None:
    """Warm Ray beside the warm pool, for tasks of half a second; two at once in both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = [EngineSettings(use=kind, workers=2) for kind in ("pool", "ray")]
        with start(settings[0]) as pool, Elsewhere(settings[1]) as cluster:
            times: dict[str, list[float]] = {"pool": [], "ray": []}
            for turn in range(given.repeats + 1):
                for kind, engine in (("pool", pool), ("ray", cluster)):
                    times[kind] += [_timed(engine, folder / f"{kind}-{turn}", 4 if turn == 0 else 16)]
        pairs = list(zip(times["pool"][1:], times["ray"][1:], strict=True))
        ratio = statistics.median(there / here for here, there in pairs)
        print(f"16 tasks of 0.5 s, warm: Ray / pool {ratio:.3f} (goal 1.15); load {os.getloadavg()[0]:.1f}")


def _timed(engine: Engine, folder: Path, count: int) -> float:
    begun = time.perf_counter()
    list(engine.map(busy, [Busy(str(folder / f"{number}.txt"), 0.5) for number in range(count)]))
    return time.perf_counter() - begun


def mining(given: argparse.Namespace) -> None:
    """Time by rows, and memory that is not the memory map, of this process and of each worker."""
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        shards = _written(folder, given.rows)
        settings = EngineSettings(use=given.engine, workers=2)
        rates = []
        for share in (0.5, 1.0):
            rows = int(given.rows * share)
            vectors, table = _opened(folder, shards, rows)
            begun, parts = time.perf_counter(), folder / f"work-{share}"
            with _watched() as peak, start(settings) as engine:
                found = mine_in_parts(vectors, table, Rules(10), Site(engine, parts, settings))
            seconds = time.perf_counter() - begun
            rates.append(seconds / rows)
            print(f"{rows:,} x 128, 1,000 queries, {given.engine}: {seconds:.1f} s, {len(found.lists):,} rows")
            grown = peak["here"] - peak["before"]
            print(f"  beyond the map: {grown:.0f} MB here, {peak['worker']:.0f} MB in the largest worker")
        print(f"seconds a row, all / half: {rates[1] / rates[0]:.3f} (goal 0.9 to 1.1); load {os.getloadavg()[0]:.1f}")


def _written(folder: Path, rows: int, step: int = 250_000) -> list[Shard]:
    draw, shards = np.random.default_rng(0), []
    for number, first in enumerate(range(0, rows, step)):
        path, count = folder / f"{number:05d}.npy", min(step, rows - first)
        np.save(path, draw.standard_normal((count, 128), dtype=np.float32))
        shards.append(Shard(path.name, count, digest(path)))
    return shards


def _opened(folder: Path, shards: list[Shard], rows: int) -> tuple[Vectors, pd.DataFrame]:
    """The first `rows` vectors, rounded up to whole shards, and a table images with a query among each few thousand."""
    kept = [shard for number, shard in enumerate(shards) if number * shards[0].rows < rows]
    total = sum(shard.rows for shard in kept)
    ids = pd.Series([f"i{number:08d}" for number in range(total)], dtype="str")
    within = np.concatenate([np.arange(shard.rows) for shard in kept])
    of = np.repeat([shard.number for shard in kept], [shard.rows for shard in kept])
    listed = pd.DataFrame({"model": "m", "image_id": ids, "shard": of, "row": within, "source": None})
    tables.write(listed.astype({"model": "str", "source": "str"}), tables.EMBEDDINGS, folder / "ids.parquet", MADE)
    model = Model("m", {}, 128, "float32", "cosine", "p", "w", rows=total, shards=tuple(kept), provenance=MADE)
    write_text(folder / "model.json", model.to_json())
    roles = np.full(total, "candidate", dtype=object)
    roles[:: -(-total // QUERIES)] = "both"
    role = pd.Series(roles, dtype="str")
    return Vectors.open(folder), pd.DataFrame({"image_id": ids, "product_id": ids, "category": None, "role": role})


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Look at the anonymous memory of this process and its children, ten times a second; in MB, at its highest."""
    peak, over = {"before": _anonymous(os.getpid()), "here": 0.0, "worker": 0.0}, threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            peak["here"] = max(peak["here"], _anonymous(os.getpid()))
            workers = [_anonymous(child.pid or 0) for child in multiprocessing.active_children()]
            peak["worker"] = max([peak["worker"], *workers])

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _anonymous(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def main() -> None:
    """Do one of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["embedding", "ray", "mining"])
    parser.add_argument("--spec", default=SPEC)
    parser.add_argument("--random-init", action="store_true")
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--engine", default="pool")
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    {"embedding": embedding, "ray": ray, "mining": mining}[given.what](given)


if __name__ == "__main__":
    main()
