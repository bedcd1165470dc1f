"""The report at the paper's size: 2,000 queries, 52,712 images, 6 + 8 models, about 54,170 pairs, 2,000 resamples.

Run as `python -m tests.speed.report [FOLDER]`. Goals: below 60 s and 2 GB. The project (synthetic vectors, lists of the
generators mined by the product itself, drawn truth) is made first and not counted; a FOLDER that has one is used again.
The report is made in a process of its own, from nothing but the project, with ranks and scores from the vectors.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from eds.neighbors import Rules, mine
from eds.project import Project
from eds.suspects import pool
from eds.tables import IMAGES, TRUTH, Provenance
from eds.vectors import Model, Vectors, write

QUERIES, IMAGES_, PAIRS, DIMENSION, PRODUCTS, K = 2000, 52712, 54170, 384, 8000, 6
GENERATORS, OUTSIDERS = [f"made{number}" for number in range(6)], [f"new{number}" for number in range(8)]
CHILD = """
import json, resource, sys, time
from pathlib import Path
start = time.perf_counter()
from eds.project import Project
from eds.project.report_inputs import ReportOptions, collect
from eds.reports import build, write_report
material = collect(Project.open(sys.argv[1]), ReportOptions(pictures=False))
read = time.perf_counter() - start
report = build(material, {"when": "now"})
built = time.perf_counter() - start - read
files = write_report(report, Path(sys.argv[1]) / "report.html")
seconds = time.perf_counter() - start
import numpy as np
one = np.random.default_rng(0).normal(size=(52712, 384)).astype(np.float32)
begun = time.perf_counter()
for _ in range(14):
    for first in range(0, 52712, 8192):
        np.matmul(one[:2000], one[first : first + 8192].T)
product = time.perf_counter() - begun
print(json.dumps({
    "seconds": seconds, "product": product, "gathering": read, "computing": built,
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "html": files[0].stat().st_size,
    "missing": [block.what for part in report.sections for block in part.blocks if type(block).__name__ == "Gap"],
}))
"""


def project_in(folder: Path, outsiders: Sequence[str] = OUTSIDERS, noise: float = 1.15) -> Project:
    """The project; models see a shared picture of the catalogue, each through noise of its own."""
    rng = np.random.default_rng(0)
    project = Project.create(folder)
    names = [f"img/{number:06}.jpg" for number in range(IMAGES_)]
    product = rng.integers(0, PRODUCTS, IMAGES_).astype(str)
    kind = rng.choice(["tops", "shoes", "bags", "trousers", "coats"], IMAGES_)
    images = pd.DataFrame(
        {"image_id": names, "path": names, "product_id": product, "category": kind, "role": "candidate"}
    )
    images.loc[: QUERIES - 1, "role"] = "both"
    for column in IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * len(images), "Int64") if column.kind == "integer" else None
    project.write(images, "images", Provenance("images.import"))
    shared = rng.normal(0, 1, (IMAGES_, DIMENSION)).astype(np.float32)
    lists = []
    for name in (*GENERATORS, *outsiders):
        vectors = shared + noise * rng.normal(0, 1, shared.shape).astype(np.float32)
        model = Model(name, {"loader": "test"}, DIMENSION, "float32", "cosine", "", "")
        write(project.path("embeddings", name), model, names, vectors)
        if name in GENERATORS:
            found = mine(Vectors.open(project.path("embeddings", name)), images, Rules(100))
            made_by = project.provenance("neighbors.mine", {"neighbors.k": 100}, [project.path("images")])
            project.write(found, "neighbors", made_by, name)
            lists.append(found[found["rank"] < K])
    suspects = pool(pd.concat(lists, ignore_index=True), K)
    pairs = suspects[["query_id", "candidate_id"]].head(PAIRS)
    drawn = pairs.assign(query_id=pairs["query_id"].to_numpy(), origin="negative")
    drawn = drawn.assign(candidate_id=rng.choice(names[QUERIES:], len(pairs)))
    drawn = drawn.drop_duplicates(["query_id", "candidate_id"]).groupby("query_id").head(5)
    drawn = drawn.assign(
        batch=0,
        position=range(len(suspects), len(suspects) + len(drawn)),
        sources=None,
        stratum="ranks 100..499",
        probability=0.01,
    )
    both = pd.concat([suspects, drawn], ignore_index=True)
    made_by = project.provenance("suspects.pool", {"suspects.k": K}, [])
    project.write(both, "suspects", made_by)
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 1)
    value = (rng.random(len(pairs)) < 0.85).astype(int)
    truth = pairs.assign(value=value, **votes, tie=False, rule="majority")
    project.write(truth[TRUTH.names], "truth", Provenance("truth.decide"))
    return project


def measured(folder: Path) -> None:
    """Make the report, and tell what it took."""
    done = subprocess.run([sys.executable, "-c", CHILD, str(folder)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    truth = Project.open(folder).read("truth")
    sys.stdout.write(
        f"{truth['query_id'].nunique():,} queries, {IMAGES_:,} images, {len(truth):,} pairs, {len(GENERATORS)} +"
        f" {len(OUTSIDERS)} models: {told['seconds']:.1f} s (goal 60), of which gathering {told['gathering']:.1f} and"
        f" computing {told['computing']:.1f}; the matrix"
        f" products alone {told['product']:.1f} s: {told['seconds'] / told['product']:.1f} times;"
        f" {told['memory']:,.0f} MB"
        f" (goal 2,048); page {told['html'] / 1e6:.1f} MB"
        f" (goal 5)\nmissing: {'; '.join(told['missing']) or 'nothing'}\n"
    )


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        if not (folder / "eds.toml").exists():
            project_in(folder)
        measured(folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        measured(project_in(Path(scratch) / "p").root)


if __name__ == "__main__":
    main()
