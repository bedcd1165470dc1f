"""Engines beside one another: embedding by two processes, Ray beside the pool, many vectors in little memory.

`python -m tests.speed.executors embedding` needs the extras vision and offline; `ray` makes a network namespace and so
needs root; `mining [--rows 5000000]` first writes vectors of 128 numbers to --folder (2.6 GB). Only ratios within one
run mean anything. Every process has one thread for its network or its matrix products; where it embeds, one decodes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from eds import tables
from eds.backbones import load
from eds.cli import cli
from eds.config import ExecutorSettings
from eds.embeddings.compute import compute
from eds.embeddings.tasks import Recipe
from eds.io.files import digest, write_text
from eds.parallel import Backend, Executor, start
from eds.project import Project
from eds.tables import Provenance
from eds.vectors import Model, Shard
from tests.parallel.isolated import Isolated
from tests.parallel.tasks import Busy, busy
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
        recipes = [Recipe("m", given.spec, backbone.spec.digest, random_init=given.random_init)]
        kinds = {"two processes": 2, "one, on a core": 1, "one, on both": 1}
        backends, seconds = {}, {kind: [float("inf")] for kind in kinds}
        settings = {
            kind: ExecutorSettings(use="processes", workers=workers, images=given.images // 8)
            for kind, workers in kinds.items()
        }
        for kind in kinds:
            backends[kind] = stack.enter_context(start(settings[kind]))
        for turn in range(given.repeats + 1):
            for kind, backend in backends.items():
                executor = Executor(backend, folder / f"{kind}-{turn}", settings[kind])
                table = images if turn else images.head(given.images // 4)
                target = {"m": folder / f"{kind}-vectors-{turn}"}
                with _cores(1 if kind == "one, on a core" else 2):
                    begun = time.perf_counter()
                    compute(
                        table,
                        folder / "images",
                        {"m": backbone},
                        target,
                        executor=executor,
                        recipes=recipes,
                        provenance={"m": MADE},
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
        settings = [ExecutorSettings(use=kind, workers=2) for kind in ("processes", "ray")]
        with start(settings[0]) as pool, Isolated(settings[1]) as cluster:
            times: dict[str, list[float]] = {"processes": [], "ray": []}
            for turn in range(given.repeats + 1):
                for kind, engine in (("processes", pool), ("ray", cluster)):
                    times[kind] += [_timed(engine, folder / f"{kind}-{turn}", 4 if turn == 0 else 16)]
        pairs = list(zip(times["processes"][1:], times["ray"][1:], strict=True))
        ratio = statistics.median(there / here for here, there in pairs)
        print(f"16 tasks of 0.5 s, warm: Ray / pool {ratio:.3f} (goal 1.15); load {os.getloadavg()[0]:.1f}")


def _timed(engine: Backend, folder: Path, count: int) -> float:
    begun = time.perf_counter()
    list(engine.map(busy, [Busy(str(folder / f"{number}.txt"), 0.5) for number in range(count)]))
    return time.perf_counter() - begun


def mining(given: argparse.Namespace) -> None:
    """Time by rows, and the memory of all processes together beyond the memory map; every run is a fresh process."""
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        shards, folders = _written(Path(name), given.rows), {}
        for share in (0.5, 1.0):
            folder = Path(name, str(share))
            folders[_described(folder, shards, int(given.rows * share))] = folder
        seconds: dict[int, list[float]] = {rows: [] for rows in folders}
        peak: dict[int, dict[str, float]] = {rows: {} for rows in folders}
        for turn in range(given.repeats + 1):  # the first one reads the files into memory
            for rows, folder in folders.items():
                found, most = _watched(
                    [
                        sys.executable,
                        "-m",
                        "tests.speed.executors",
                        "one",
                        "--folder",
                        str(folder),
                        "--executor",
                        given.executor,
                        "--repeats",
                        str(turn),
                    ]
                )
                seconds[rows] += [found] if turn else []
                peak[rows] = {kind: max(peak[rows].get(kind, 0.0), most[kind]) for kind in most}
        for rows, most in peak.items():
            print(f"{rows:,} x 128, {QUERIES:,} queries, {given.executor}: {min(seconds[rows]):.1f} s")
            print(
                f"  beyond the map, with program and table images: {most['together']:.0f} MB together (goal 1000); "
                f"driver {most['driver']:.0f}, largest worker {most['worker']:.0f}"
            )
        half, whole = (min(seconds[rows]) / rows for rows in folders)
        print(f"seconds a row, all / half: {whole / half:.3f} (goal 0.9 to 1.1); load {os.getloadavg()[0]:.1f}")


def one(given: argparse.Namespace) -> None:
    """`eds neighbors mine` in the project in a folder, as `mining` starts it; prints its seconds."""
    words = ["neighbors", "mine", "--force", "--executor", given.executor, "-q", "-p", given.folder]
    begun = time.perf_counter()
    with redirect_stdout(StringIO()):
        cli.main(words, standalone_mode=False)
    seconds = time.perf_counter() - begun
    assert tables.read_provenance(Path(given.folder, "neighbors", "m.parquet"), tables.NEIGHBORS)[1] == QUERIES * 10
    print(seconds)


def _written(folder: Path, rows: int, step: int = 250_000) -> list[Shard]:
    draw, shards = np.random.default_rng(0), []
    for number, first in enumerate(range(0, rows, step)):
        path, count = folder / f"{number:05d}.npy", min(step, rows - first)
        np.save(path, draw.standard_normal((count, 128), dtype=np.float32))
        shards.append(Shard(path.name, count, digest(path)))
    return shards


def _described(folder: Path, shards: list[Shard], rows: int) -> int:
    """Make the folder a project of the first `rows` vectors, rounded up to whole shards; gives how many they are."""
    kept = [shard for number, shard in enumerate(shards) if number * shards[0].rows < rows]
    project = Project.create(folder, {"neighbors.k": 10, "executor.workers": 2})
    vectors = project.path("embeddings", "m")
    vectors.mkdir(parents=True)
    for shard in kept:
        (vectors / shard.file).hardlink_to(folder.parent / shard.file)
    total = sum(shard.rows for shard in kept)
    ids = pd.Series([f"i{number:08d}" for number in range(total)], dtype="str")
    within = np.concatenate([np.arange(shard.rows) for shard in kept])
    of = np.repeat([shard.number for shard in kept], [shard.rows for shard in kept])
    nothing = pd.Series([None] * total, dtype="str")
    listed = pd.DataFrame({"model": "m", "image_id": ids, "shard": of, "row": within, "source": nothing})
    tables.write(listed.astype({"model": "str"}), tables.EMBEDDINGS, vectors / "ids.parquet", MADE)
    model = Model("m", {}, 128, "float32", "cosine", "p", "w", rows=total, shards=tuple(kept), provenance=MADE)
    write_text(vectors / "model.json", model.to_json())
    role = pd.Series(np.where(np.arange(total) % -(-total // QUERIES) == 0, "both", "candidate"), dtype="str")
    told = {"image_id": ids, "path": ids, "product_id": ids, "role": role}
    numbers = dict.fromkeys(("width", "height", "box_left", "box_top", "box_right", "box_bottom"), None)
    images = pd.DataFrame({**told, **dict.fromkeys(("category", "phase", "sha256"), nothing), **numbers})
    project.write(images.astype(dict.fromkeys(numbers, "Int64")), "images", MADE)
    return total


def _watched(command: list[str]) -> tuple[float, dict[str, float]]:
    """The seconds that a command prints, and the anonymous memory (MB) of it and its descendants at their highest."""
    peak = {"together": 0.0, "driver": 0.0, "worker": 0.0}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        while driver.poll() is None:
            workers = [_anonymous(process) for process in _descendants(driver.pid)]
            here = _anonymous(driver.pid)
            now = {"together": here + sum(workers), "driver": here, "worker": max(workers, default=0.0)}
            peak = {kind: max(peak[kind], now[kind]) for kind in peak}
            time.sleep(0.05)
        assert driver.stdout
        return float(driver.stdout.read()), peak


def _descendants(process: int) -> list[int]:
    """The processes below one, but for those that are about to become others: their memory is their parent's yet."""
    try:
        told = Path(f"/proc/{process}/task/{process}/children").read_text()
        children = [child for child in map(int, told.split()) if _words(child) != _words(process)]
    except OSError:
        return []
    return [found for child in children for found in (child, *_descendants(child))]


def _words(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def _anonymous(process: int) -> float:
    """What several processes share counts for each in part."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Pss_Anon"))


def main() -> None:
    """Do one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["embedding", "ray", "mining", "one"])
    parser.add_argument("--spec", default=SPEC)
    parser.add_argument("--random-init", action="store_true")
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--executor", default="processes")
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    {"embedding": embedding, "ray": ray, "mining": mining, "one": one}[given.what](given)


if __name__ == "__main__":
    main()
