"""The commands that work in parts write the files of those that do not, and say no to what makes no sense."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.tables import IMAGES, Provenance, write
from eds.vectors import Model, read_model
from eds.vectors import write as write_vectors
from eds.workspace import Project


def shop(root: Path) -> Project:
    """A project of 120 images with vectors of one model."""
    project = Project.create(root)
    ids = [f"i{number:03d}" for number in range(120)]
    images = pd.DataFrame(
        {"image_id": ids, "path": ids, "product_id": [f"p{n // 3}" for n in range(120)], "role": "both"}
    )
    images = images.join(IMAGES.empty().reindex(range(120))[[name for name in IMAGES.names if name not in images]])
    write(images, IMAGES, project.path("images"), Provenance("test"))
    model = Model("m", {}, 8, "float32", "cosine", "p", "w", provenance=Provenance("test"))
    values = np.random.default_rng(0).standard_normal((120, 8), dtype=np.float32)
    write_vectors(project.path("embeddings", "m"), model, ids, values, shard_rows=50)
    return project


def run(project: Project, line: str, **variables: str) -> str:
    done = CliRunner().invoke(cli, [*line.split(), "-p", str(project.root)], env=variables)
    if isinstance(done.exception, EdsError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_lists_and_pool_are_the_same_files(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop")
    assert read_model(project.path("embeddings", "m")).rows == 120
    kept: dict[str, tuple[Any, ...]] = {}
    for name, engines, variables in (
        ("plain", "", {}),
        ("serial", "--engine serial", {}),
        ("both", "--engine faiss --engine serial", {}),
        ("variable", "", {"EDS_ENGINE": "serial"}),
        ("back", "--engine plain", {"EDS_ENGINE": "ray"}),
    ):
        run(project, f"neighbors mine -k 10 --force {engines}", EDS_ENGINE_ROWS="40", **variables)
        project.path("suspects").unlink(missing_ok=True)
        pooling = engines.replace("--engine faiss", "")
        run(project, f"suspects pool -k 3 {pooling}", **variables)
        kept[name] = project.read("neighbors", "m"), project.read("suspects")
        if "faiss" not in engines:
            kept[name] += (project.path("neighbors", "m").read_bytes(), project.path("suspects").read_bytes())
    for name in ("serial", "variable", "back"):
        assert kept[name][2:] == kept["plain"][2:], name
    for found, expected in zip(kept["both"], kept["plain"], strict=False):
        pd.testing.assert_frame_equal(found, expected)
    assert not any((project.root / ".eds" / "work").glob("*"))


def test_two_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--engine is given twice: serial and pool"):
        run(shop(tmp_path / "shop"), "neighbors mine --engine serial --engine pool")


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop")
    with pytest.raises(InputError, match=r"nothing answers at 127\.0\.0\.1:1 "):
        run(project, "neighbors mine --engine ray", EDS_ENGINE_CLUSTER="127.0.0.1:1")
