"""From raw files to the published numbers, as a user types it, against the evaluator that the specification tells."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.vsd_files import Release, release
from tests.reference.official_vsd import official

CASES = {
    "closed": {"wild": False, "seed": 1},
    "closed, split by a manifest": {"wild": False, "seed": 2, "split": True},
    "closed, without a seeds file": {"wild": False, "seed": 3, "seeds": False},
    "wild": {"wild": True, "seed": 4},
    "wild, split by a manifest": {"wild": True, "seed": 5, "split": True},
}
MEASURES = {
    "HR@5": "VSD-HR@5",
    "HR@9": "VSD-HR@9",
    "MRR@5": "VSD-MRR@5",
    "MRR@9": "VSD-MRR@9",
    "ROC-AUC": "ROC-AUC(average=micro,negatives=annotated)",
    "PR-AUC": "PR-AUC(average=micro,negatives=annotated)",
}


def eds(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "eds.cli", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def typed(data: Release, folder: Path, order: int) -> dict[str, Any]:
    """The value of every measure over all queries."""
    project = ["--project", str(folder / "p")]
    eds("init", str(folder / "p"))
    eds("benchmarks", "import", "vsd", *data.write(folder / "files", order), *project)
    eds(
        "embeddings",
        "import",
        "modelA",
        *(str(folder / "files" / name) for name in ("vectors.npy", "ids.txt")),
        *project,
    )
    rows = json.loads(eds("metrics", "score", "--json", *project))["scores"]
    assert all({"model", "measure", "query_id", "value", "low", "high", "n"} <= row.keys() for row in rows)
    return {row["measure"]: row for row in rows if row["query_id"] is None}


def expected(data: Release) -> dict[str, float]:
    return official(
        data.metadata,
        data.annotations,
        data.vectors,
        seeds=data.seeds,
        manifest=data.manifest,
        gallery_phases=data.gallery_phases,
    )


@pytest.mark.parametrize("case", CASES)
def test_the_path_gives_what_the_official_evaluator_gives(case: str, tmp_path: Path) -> None:
    data = release(**CASES[case])  # type: ignore[arg-type]
    found, wanted = typed(data, tmp_path, 7), expected(data)
    assert all(0 < value < 1 for value in wanted.values())
    for name, text in MEASURES.items():
        assert math.isclose(found[text]["value"], wanted[name], rel_tol=0, abs_tol=1e-12), name
        assert found[text]["low"] <= found[text]["value"] <= found[text]["high"]


def test_row_order_and_encoding_never_matter(tmp_path: Path) -> None:
    data = release(wild=True, seed=6)
    first, second = (typed(data, tmp_path / str(order), order) for order in (0, 3))
    assert first == second
