"""How long a benchmark of the paper's size takes to leave in each format, and back: python -m tests.speed.benchmarks

52,712 images, 2,000 queries, 54,170 pairs with three votes each, lists of six models; no pictures. Each export is the
whole verb: reading the project, the card with agreement and recall, the format, the checksums. Ratios are to copying
the export's bytes with checksums, the least that any writer does.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from eds.benchmarks.benchmark import Benchmark, images_from_ids
from eds.benchmarks.folder import export_folder, verify_checksums
from eds.benchmarks.formats import hf
from eds.project import Project
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES, NEIGHBORS, SUSPECTS, TRUTH

IMAGES_, QUERIES, PAIRS, MODELS, K = 52_712, 2_000, 54_170, 6, 50
PAIR = ["query_id", "candidate_id"]


def drawn(seed: int = 0) -> Benchmark:
    """A benchmark of the paper's size."""
    rng = np.random.default_rng(seed)
    names = pd.Series([f"img/WOMEN/Dresses/id_{number // 4:08d}/{number:06d}_1_front.jpg" for number in range(IMAGES_)])
    images = to_frame(to_arrow(images_from_ids(names[:QUERIES], names), IMAGES))
    keys = rng.choice(QUERIES * (IMAGES_ - QUERIES), PAIRS, replace=False)
    query, candidate = names[keys % QUERIES].to_numpy(), names[QUERIES + keys // QUERIES].to_numpy()
    answers = (rng.random((PAIRS, 3)) < 0.3).astype(int)
    ayes = answers.sum(axis=1)
    truth = pd.DataFrame(
        {
            "query_id": query,
            "candidate_id": candidate,
            "value": (ayes > 1).astype(int),
            "votes_for": ayes,
            "votes_against": 3 - ayes,
            "unsure": 0,
            "tie": False,
            "rule": "majority",
        }
    )
    suspects = truth[PAIR].assign(
        origin="pool", batch=0, position=range(PAIRS), sources="beit:3;clip:0", stratum=None, probability=1.0
    )
    start = pd.Timestamp("2026-01-01", tz="UTC")
    votes = pd.DataFrame(
        {
            "vote_id": [f"vote-{number:08d}" for number in range(3 * PAIRS)],
            "query_id": np.repeat(query, 3),
            "candidate_id": np.repeat(candidate, 3),
            "expert_id": np.tile(["a", "b", "c"], PAIRS),
            "value": pd.array(answers.ravel(), dtype="Int64"),
            "seconds": rng.random(3 * PAIRS) * 9,
            "session_id": "s",
            "created_at": start + pd.to_timedelta(np.arange(3 * PAIRS), unit="s"),
            "guideline": "v1",
            "kind": "normal",
            "supersedes": None,
            "campaign": "main",
            "mode": "pair",
            "polarity": None,
        }
    )
    runs = {}
    for number in range(MODELS):
        found = np.argsort(rng.random((QUERIES, 400)), axis=1)[:, :K] + rng.integers(
            QUERIES, IMAGES_ - 400, (QUERIES, 1)
        )
        scores = -np.sort(-rng.random((QUERIES, K)).astype(np.float32).astype(np.float64), axis=1)
        run = pd.DataFrame(
            {
                "model": f"m{number}",
                "query_id": np.repeat(names[:QUERIES].to_numpy(), K),
                "candidate_id": names.to_numpy()[found.ravel()],
                "rank": np.tile(np.arange(K), QUERIES),
                "score": scores.ravel(),
            }
        )
        runs[f"m{number}"] = to_frame(to_arrow(run, NEIGHBORS))
    return Benchmark(images, to_frame(to_arrow(truth, TRUTH)), to_frame(to_arrow(suspects, SUSPECTS)), votes, runs)


def main() -> None:
    """Print seconds and ratios for every format."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        with export_folder(root / "given") as folder:
            hf.write(drawn(), folder, no_images=True)
        project = Project.create(root / "p")
        project.import_benchmark("hf", root / "given")
        print(f"{PAIRS:,} pairs, {3 * PAIRS:,} votes, {MODELS} lists of {QUERIES * K:,} places, {IMAGES_:,} images")
        for name in ("vsd", "trec", "hf", "croissant", "label-studio", "votes"):
            more = {"no_images": True} if name in ("hf", "croissant") else {}
            out = _timed(lambda name=name, more=more: project.export(name, root / name, **more))  # type: ignore[misc]
            copying = _timed(lambda name=name: _copy(root / name, root / "copy"))  # type: ignore[misc]
            shutil.rmtree(root / "copy")
            size = sum(path.stat().st_size for path in (root / name).rglob("*")) / 1e6
            other = Project.create(root / f"in-{name}")
            back = _timed(lambda name=name, other=other: other.import_benchmark(name, root / name))  # type: ignore[misc]
            ratio = f"{out / copying:5.0f} times a copy of its {size:5.0f} MB"
            print(f"{name:13} out {out:5.1f} s ({ratio}), back {back:.1f} s")


def _copy(folder: Path, target: Path) -> None:
    shutil.copytree(folder, target)
    verify_checksums([target])


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
