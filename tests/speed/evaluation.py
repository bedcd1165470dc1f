"""One model's whole evaluation from vectors (official HR, MRR, ROC, PR) against the matrix product alone.

Run as `python -m tests.speed.evaluation`: the published benchmark's size, 2,000 queries, 52,712 images, 54,170 labelled
pairs, six models. Prints the ratio of each and of all together (tables are read, too), and how far the peak of memory
grows; pages of the memory-mapped vectors count in it, though the kernel may drop them at any time. BLAS's threads spin
for a while after each product: before either is timed they are let come to rest.
"""

import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.metrics import Measure
from eds.project import Project
from eds.project.evaluate import evaluate_models
from eds.project.inputs import Inputs
from eds.project.score import ScoreOptions, add_intervals
from eds.tables import IMAGES, TRUTH, Provenance
from eds.vectors import Model, write
from tests.speed.neighbors import IMAGES as SIZE
from tests.speed.neighbors import MODELS, QUERIES, products_alone, shop

PAIRS = 54_170
ALLOWED = 500  # megabytes
ROUNDS = 5
REST = 0.3  # seconds
MEASURES = ("VSD-HR@5", "VSD-HR@9", "VSD-MRR@5", "VSD-MRR@9", "ROC-AUC(average=micro)", "PR-AUC(average=micro)")


Values = np.ndarray[Any, np.dtype[np.float32]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


def pairs_of(vectors: Values, asked: Rows, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Pairs as a pool has them: near by other models, whose scores agree with this one's in part."""
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    each = -(-PAIRS // len(asked)) + 1
    found = []
    for first in range(0, len(asked), 250):
        scores = unit[asked[first : first + 250]] @ unit.T
        scores += rng.normal(0, scores.std(), scores.shape).astype(np.float32)
        found.append(np.argpartition(-scores, each, axis=1)[:, :each])
    return np.repeat(asked, each), np.concatenate(found).ravel().astype(np.int64)


def project_in(folder: Path, vectors: Values, table: pd.DataFrame) -> Project:
    """A project of that size with one model."""
    rng = np.random.default_rng(1)
    project = Project.create(folder)
    names = table["image_id"].to_numpy()
    images = table.assign(path=table["image_id"] + ".jpg")
    for column in IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * len(images), "Int64") if column.kind == "integer" else None
    project.write(images, "images", Provenance("images.import"))
    query, candidate = pairs_of(vectors, np.flatnonzero(table["role"] == "both"), rng)
    pairs = pd.DataFrame({"query_id": names[query], "candidate_id": names[candidate]})
    pairs = pairs[query != candidate].drop_duplicates().head(PAIRS)
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    truth = pairs.assign(value=rng.integers(0, 2, len(pairs)), **votes, tie=False, rule="majority")
    project.write(truth[TRUTH.names], "truth", Provenance("truth.decide"))
    model = Model("m", {"loader": "test"}, vectors.shape[1], "float32", "cosine", "", "")
    write(project.path("embeddings", "m"), model, names.tolist(), vectors)
    return project


def measured(dimension: int) -> tuple[float, float, float]:
    """Seconds of the evaluation and of the product alone, and megabytes by which the peak grew."""
    held, table = shop(SIZE, QUERIES, dimension)
    vectors, asked = held.take(np.arange(SIZE)), np.flatnonzero(table["role"] == "both")
    measures = [Measure.parse(text) for text in MEASURES]
    with tempfile.TemporaryDirectory() as folder:
        project = project_in(Path(folder) / "p", vectors, table)
        unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
        times, alone, grown = [], [], []
        for _ in range(ROUNDS):
            before = peak_from_here()
            time.sleep(REST)
            start = time.perf_counter()
            results = evaluate_models(Inputs(project), measures).results
            add_intervals(Inputs(project), results, ScoreOptions(resamples=0))
            times.append(time.perf_counter() - start)
            grown.append(peak() - before)
            time.sleep(REST)
            start = time.perf_counter()
            products_alone(unit, unit[asked])
            alone.append(time.perf_counter() - start)
    return min(times), min(alone), max(grown)


def peak() -> float:
    """The largest resident memory since `peak_from_here`, in megabytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def peak_from_here() -> float:
    """Let the kernel forget the peak so far; what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def told(memory: float) -> str:
    """Megabytes, held against those that are allowed."""
    return f"{memory:,.0f} MB ({'within' if memory <= ALLOWED else 'above'} {ALLOWED})"


def main() -> None:
    sums = [0.0, 0.0]
    for dimension in MODELS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:  # a peak of its own
            evaluation, product, memory = fresh.submit(measured, dimension).result()
        sums[0], sums[1] = sums[0] + evaluation, sums[1] + product
        mapped = SIZE * dimension * 4 / 2**20
        sys.stdout.write(
            f"d={dimension:<5} evaluation {evaluation:5.2f} s, product {product:5.2f} s: "
            f"{evaluation / product:.2f} times; peak memory grew by {told(memory - mapped)} beyond the mapped vectors, "
            f"by {told(memory)} with them\n"
        )
    sys.stdout.write(f"six models: {sums[0] / sums[1]:.2f} times\n")


if __name__ == "__main__":
    main()
