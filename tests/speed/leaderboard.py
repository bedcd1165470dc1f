"""A leaderboard of five models at 5,000 queries and 60,000 images, and what reads lists, on random data.

Run as `python -m tests.speed.leaderboard [FOLDER [DEPTH]]`: vectors of 512 numbers, 120,000 labels, default measures
with 2,000 resamples; then lists of DEPTH (600: 15 million rows, 2400: 60 million) for sampled negatives, scores by
lists and exports. Each step runs in a process of its own; printed are its wall and user seconds, and its peak memory.
"""

import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from eds.project import Project
from eds.schema import to_arrow
from eds.tables import IMAGES, NEIGHBORS, SUSPECTS, TRUTH, Provenance
from eds.vectors import Model, write

SIZE, QUERIES, DIMENSION, MODELS, DEPTH, EACH = 60_000, 5_000, 512, 5, 600, 24
AT_ONCE = 250  # queries whose lists are made and written at once
Rows = NDArray[np.int64]
Names = NDArray[np.object_]
STEPS = {
    "status": "from eds.project import Project; Project.open({0!r}).status()",
    "leaderboard, 2,000 resamples": "from eds.project import Project; Project.open({0!r}).score()",
    "sampled negatives": "from eds.project import Project; Project.open({0!r}).draw_negatives(5)",
    "scores by lists": "from eds.project import Project; Project.open({0!r}).score(source='neighbors', resamples=50)",
    "export to trec": "from eds.project import Project; "
    "Project.open({0!r}).export('trec', {0!r} + '/trec', replace=True)",
    "export to hf": "from eds.project import Project; "
    "Project.open({0!r}).export('hf', {0!r} + '/hf', no_images=True, replace=True)",
}


def _schema(made_by: Provenance) -> pa.Schema:
    """The schema of a table neighbors that is written in parts."""
    notes = {"eds.table": "neighbors", "eds.version": str(NEIGHBORS.version), "eds.provenance": made_by.to_json()}
    return to_arrow(NEIGHBORS.empty(), NEIGHBORS).schema.with_metadata(notes)


def _lists(model: str, names: Names, queries: Rows, start: Rows, depth: int) -> pd.DataFrame:
    """Lists of some queries: a walk through the images from a random start, without the query."""
    query, step = np.repeat(queries, depth), 7919  # a permutation of the images for each query
    first = start[queries][:, None]
    candidate = ((first + step * np.arange(1, depth + 1)) % SIZE).ravel()
    candidate = np.where(candidate == query, (first % SIZE).repeat(depth, 1).ravel(), candidate)
    rank, score = np.tile(np.arange(depth), len(queries)), np.tile(np.linspace(0.9, 0.1, depth), len(queries))
    columns = {"model": model, "query_id": names[query], "candidate_id": names[candidate], "rank": rank, "score": score}
    return pd.DataFrame(columns)[NEIGHBORS.names]


def make_project(folder: Path, depth: int) -> None:
    """A project with random vectors, lists and labels; the labelled pairs are the heads of the lists."""
    rng = np.random.default_rng(0)
    project = Project.create(folder)
    names = np.array([f"image-{number:06d}" for number in range(SIZE)], dtype=object)
    images = pd.DataFrame({"image_id": names, "path": names, "product_id": names, "role": "candidate"})
    images.loc[: QUERIES - 1, "role"] = "both"
    for column in IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * SIZE, "Int64") if column.kind == "integer" else None
    project.write(images[IMAGES.names], "images", Provenance("images.import"))
    made_by = project.provenance("test", {}, [project.path("images")])
    heads = []
    for number in range(MODELS):
        model = Model(f"m{number}", {"loader": "test"}, DIMENSION, "float32", "cosine", "", "", provenance=made_by)
        vectors = rng.standard_normal((SIZE, DIMENSION), dtype=np.float32)
        write(project.path("embeddings", model.name), model, names.tolist(), vectors)
        start = rng.integers(1, SIZE, QUERIES)
        file = project.path("neighbors", model.name)
        file.parent.mkdir(exist_ok=True)
        with pq.ParquetWriter(file, _schema(made_by), compression="zstd", write_page_checksum=True) as writer:
            for first in range(0, QUERIES, AT_ONCE):
                lists = _lists(model.name, names, np.arange(first, min(first + AT_ONCE, QUERIES)), start, depth)
                writer.write_table(to_arrow(lists, NEIGHBORS).cast(writer.schema))
                heads.append(lists[lists["rank"] < EACH // MODELS + 1][["query_id", "candidate_id"]])
    pairs = pd.concat(heads).drop_duplicates(ignore_index=True)
    count = len(pairs)
    suspects = pairs.assign(
        origin="pool", batch=0, position=np.arange(count), sources=None, stratum=None, probability=1.0
    )
    lists_of = [project.path("neighbors", model) for model in project.models("neighbors")]
    pooled = project.provenance("suspects.pool", {}, lists_of, params={"k": EACH // MODELS + 1})
    project.write(suspects.reindex(columns=SUSPECTS.names), "suspects", pooled)
    value = (rng.random(count) < 0.1).astype(int)
    truth = pairs.assign(value=value, votes_for=value, votes_against=1 - value, unsure=0, tie=False, rule="majority")
    project.write(truth[TRUTH.names], "truth", made_by)


def measure(name: str, code: str) -> None:
    """Run the code in a process of its own and print what it took."""
    script = f"import resource\n{code}\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    peak = ended.stdout.split()[-1] if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]
    print(f"{name:30} {time.perf_counter() - start:7.1f} s wall {user:7.1f} s user {peak:>7} MB", flush=True)


def main() -> None:
    """Make the project, unless the folder has it, and measure every step."""
    with tempfile.TemporaryDirectory() as temporary:
        depth = int(sys.argv[2]) if len(sys.argv) > 2 else DEPTH
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary) / f"project-{depth}"
        if not folder.exists():  # in a process of its own: the peak memory of a process is that of its parent at least
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                pool.submit(make_project, folder, depth).result()
        for name, code in STEPS.items():
            measure(name, code.format(str(folder)))


if __name__ == "__main__":
    main()
