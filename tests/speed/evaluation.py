"""One model's whole evaluation from vectors (official HR, MRR, ROC, PR) against the matrix product alone.

Run as `python -m tests.speed.evaluation`: the published benchmark's size, 2,000 queries, 52,712 images, 54,170 labelled
pairs. Prints the ratio (tables are read, too) and how far the peak of memory grows.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.cli.console import Console
from eds.cli.metrics import scored
from eds.metrics import Measure
from eds.tables import IMAGES, TRUTH, Provenance
from eds.vectors import Model, write
from eds.workspace import Project

QUERIES, IMAGES_, PAIRS, DIMENSION, PRODUCTS = 2000, 52712, 54170, 384, 8000
MEASURES = ("VSD-HR@5", "VSD-HR@9", "VSD-MRR@5", "VSD-MRR@9", "ROC-AUC(average=micro)", "PR-AUC(average=micro)")


def pool_of(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]], rng: np.random.Generator
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Pairs as a pool has them: near by other models, whose scores agree with this one's in part."""
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    each = -(-PAIRS // QUERIES) + 1
    found = []
    for first in range(0, QUERIES, 250):
        scores = unit[first : first + 250] @ unit.T
        scores += rng.normal(0, scores.std(), scores.shape).astype(np.float32)
        found.append(np.argpartition(-scores, each, axis=1)[:, :each])
    return np.repeat(np.arange(QUERIES), each), np.concatenate(found).ravel().astype(np.int64)


def project_in(folder: Path, vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Project:
    """A project of that size with one model."""
    rng = np.random.default_rng(1)
    project = Project.create(folder)
    names = [f"img/{number:06}.jpg" for number in range(IMAGES_)]
    product = rng.integers(0, PRODUCTS, IMAGES_).astype(str)
    images = pd.DataFrame({"image_id": names, "path": names, "product_id": product, "role": "candidate"})
    images.loc[: QUERIES - 1, "role"] = "both"
    for column in IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * len(images), "Int64") if column.kind == "integer" else None
    project.write(images, "images", Provenance("eds images import"))
    query, candidate = pool_of(vectors, rng)
    pairs = pd.DataFrame({"query_id": [names[q] for q in query], "candidate_id": [names[c] for c in candidate]})
    pairs = pairs[query != candidate].drop_duplicates().head(PAIRS)
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    truth = pairs.assign(value=rng.integers(0, 2, len(pairs)), **votes, tie=False, rule="majority")
    project.write(truth[TRUTH.names], "truth", Provenance("eds truth decide"))
    model = Model("m", {"loader": "test"}, DIMENSION, "float32", "cosine", "", "")
    write(project.path("embeddings", "m"), model, names, vectors)
    return project


def main() -> None:
    vectors = np.random.default_rng(0).normal(0, 1, (IMAGES_, DIMENSION)).astype(np.float32)
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    with tempfile.TemporaryDirectory() as folder:
        project = project_in(Path(folder) / "p", vectors)
        measures = [Measure.parse(text) for text in MEASURES]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = []
        for _ in range(3):
            start = time.perf_counter()
            scored(Console(project.root, verbosity=-1), measures, (), resamples=0)
            times.append(time.perf_counter() - start)
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        alone = []
        for _ in range(3):
            start = time.perf_counter()
            for first in range(0, IMAGES_, 8192):
                np.matmul(unit[:QUERIES], unit[first : first + 8192].T)
            alone.append(time.perf_counter() - start)
    ratio = min(times) / min(alone)
    sys.stdout.write(
        f"evaluation {min(times):.2f} s, matrix product {min(alone):.2f} s: {ratio:.2f} times; peak memory grew by"
        f" {memory:,.0f} MB\n"
    )


if __name__ == "__main__":
    main()
