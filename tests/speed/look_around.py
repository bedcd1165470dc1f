"""Look around at 50,000 images: search by an image, the map of a model, and what a page of it weighs.

Run: python -m tests.speed.look_around [--images N]
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from eds.project import Project
from eds.tables import IMAGES, Provenance

DIMENSIONS = {"small": 384, "large": 768}


def catalogue(folder: Path, count: int) -> Project:
    """A project with so many images in 40 groups, and the vectors of two models; no picture is there."""
    rng = np.random.default_rng(1)
    names = [f"photos/{number:06d}.jpg" for number in range(count)]
    group = rng.integers(0, 40, count)
    frame = pd.DataFrame(
        {
            "image_id": names,
            "path": names,
            "product_id": [f"p{number // 2}" for number in range(count)],
            "category": [f"category {number % 20}" for number in group],
            "role": "both",
        }
    )
    for column in IMAGES.columns:
        if column.name not in frame:
            frame[column.name] = pd.array([pd.NA] * count, "Int64") if column.kind == "integer" else None
    project = Project.create(folder / "p")
    project.write(frame[IMAGES.names], "images", Provenance("images.import"))
    (folder / "ids.txt").write_text("\n".join(names) + "\n")
    for name, dimension in DIMENSIONS.items():
        centres = rng.standard_normal((40, dimension)).astype(np.float32)
        vectors = centres[group] + 0.8 * rng.standard_normal((count, dimension)).astype(np.float32)
        np.save(folder / f"{name}.npy", vectors)
        project.import_vectors(name, folder / f"{name}.npy", folder / "ids.txt")
    return project


def seconds(act: Callable[[], object], times: int = 1) -> float:
    """The median of some calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=50_000)
    count = parser.parse_args().images
    with tempfile.TemporaryDirectory() as folder:
        project = catalogue(Path(folder), count)
        queries = iter(project.read("images", columns=["image_id"])["image_id"][::997])
        for name, dimension in DIMENSIONS.items():
            first = seconds(lambda: project.search(next(queries), models=name))  # noqa: B023
            again = seconds(lambda: project.search(next(queries), models=name), 9)  # noqa: B023
            print(f"search, {count:,} x {dimension}: first {first * 1e3:.0f} ms, then {again * 1e3:.0f} ms")
        both = seconds(lambda: project.search(next(queries)), 9)
        print(f"search by both models: {both * 1e3:.0f} ms (200 ms is the aim)")


if __name__ == "__main__":
    main()
