"""An export "in MTEB's layout", evaluated by MTEB itself: it prints our numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eds
from eds.metrics import preset
from eds.suspects import benchmark_labels
from eds.vectors import Vectors

THEIRS = {"nDCG": "ndcg", "AP": "map", "Recall": "recall", "P": "precision", "Success": "hit_rate", "RR": "mrr"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> eds.Project:
    """Pool and random pairs, all judged; catalogue columns with gaps, as real ones have."""
    project = eds.Project.create(tmp_path_factory.mktemp("mteb") / "shop")
    project.draw_catalogue(products=20, views=2, wild=4, size=48)
    project.embed(["hsv=descriptor:hsv", "hog=descriptor:hog"])
    project.mine(k=20)
    project.pool(k=4)
    project.draw_random(60)
    project.simulate_experts()
    project.decide()
    return project


def told_by_mteb(folder: Path, vectors: Path, home: Path) -> Any:
    program = Path(__file__).with_name("mteb_judge.py")
    settings = {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home),
        "HF_DATASETS_CACHE": str(home / "cache"),
        "MTEB_CACHE": str(home),
    }
    done = subprocess.run(
        [sys.executable, program, folder, vectors], capture_output=True, text=True, env={**os.environ, **settings}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_mteb_prints_our_numbers(shop: eds.Project, tmp_path: Path) -> None:
    labels, suspects = shop.read("truth"), shop.read("suspects")
    assert len(benchmark_labels(labels, suspects)) < len(labels), "random pairs are judged, too"
    shop.export("hf", tmp_path / "out")
    scores = shop.score(["mteb"], resamples=0).table
    held = Vectors.open(shop.path("embeddings", "hog"))
    np.savez(
        tmp_path / "hog.npz",
        ids=np.array(held.id_column.to_pylist()),
        vectors=np.concatenate([block for _, block in held.blocks(500)]),
    )
    told = told_by_mteb(tmp_path / "out", tmp_path / "hog.npz", tmp_path / "home")
    compared = 0
    for row in scores[(scores["model"] == "hog") & scores["query_id"].isna()].to_dict(orient="records"):
        name, _, k = row["measure"].removeprefix("Reranked-").partition("@")
        theirs = f"{THEIRS[name]}_at_{k}"
        exact = told["exact"].get(theirs, told["printed"][theirs])  # reciprocal ranks are printed unrounded
        assert row["value"] == pytest.approx(exact, abs=1e-9), row["measure"]
        assert row["value"] == pytest.approx(told["printed"][theirs], abs=5.1e-6), row["measure"]
        compared += 1
    assert compared == len(preset("mteb").measures)
