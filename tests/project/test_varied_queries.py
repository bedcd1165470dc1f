"""`--queries diverse`: of each kind of image one, however rare, by vectors that are there."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image

from eds.cli import cli
from eds.errors import EdsError
from eds.project import Project
from eds.project.catalogue import ScanOptions

KINDS = 6  # the last of them with one image of 60


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rng = np.random.default_rng(0)
    sizes = [30, 15, 8, 4, 2, 1]
    kind = np.repeat(np.arange(KINDS), sizes)
    (tmp_path / "pictures").mkdir()
    for number, one in enumerate(kind):
        Image.new("RGB", (8, 8), (int(number), int(40 * one), 7)).save(tmp_path / f"pictures/k{one}-{number:02d}.png")
    made = Project.create(tmp_path / "p")
    made.scan(tmp_path / "pictures", options=ScanOptions(queries=10))
    ids = made.read("images")["image_id"]
    middle = ids.str.extract(r"k(\d)")[0].astype(int).to_numpy()
    vectors = 5 * np.eye(KINDS)[middle] + 0.1 * rng.standard_normal((len(ids), KINDS))
    np.save(tmp_path / "v.npy", vectors.astype(np.float32))
    (tmp_path / "ids.txt").write_text("\n".join(ids) + "\n")
    made.import_vectors("seen", tmp_path / "v.npy", tmp_path / "ids.txt")
    return made


def kinds_of(project: Project) -> "pd.Series[int]":
    images = project.read("images")
    return images.loc[images["role"] != "candidate", "image_id"].str.extract(r"k(\d)")[0].value_counts()


def test_every_kind_has_a_query(project: Project) -> None:
    assert len(kinds_of(project)) < KINDS  # of 10 that are drawn, not every rare kind has one
    project.scan(options=ScanOptions(queries=f"diverse:{KINDS}"))
    assert kinds_of(project).to_dict() == {str(kind): 1 for kind in range(KINDS)}
    before = project.read("images")["role"].tolist()
    project.scan()  # as in the last scan
    assert project.read("images")["role"].tolist() == before
    project.scan(options=ScanOptions(queries="diverse"))
    assert kinds_of(project).sum() == 60


@pytest.mark.parametrize("queries", ["diverse:0", "diverse:x", "diverse:", "varied", "diverse:61"])
def test_what_cannot_be_chosen_is_refused(project: Project, queries: str) -> None:
    before = project.read("images")
    with pytest.raises(EdsError):
        project.scan(options=ScanOptions(queries=queries))
    assert project.read("images").equals(before)


def test_without_vectors_it_says_what_to_do_first(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "pictures/a.png")
    made = Project.create(tmp_path / "p")
    words = ["images", "scan", str(tmp_path / "pictures"), "--queries", "diverse:1", "-p", str(made.root), "-q"]
    with pytest.raises(EdsError, match="there are none yet"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
    assert not made.path("images").exists()
