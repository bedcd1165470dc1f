"""Products that two collections number alike: set apart in the catalogue that is taken in, and in no other."""

from pathlib import Path

import pandas as pd
import pytest

from eds.benchmarks.folder import export_folder
from eds.benchmarks.formats import trec
from eds.errors import InputError
from eds.project import Project
from tests.benchmarks.cases import benchmark


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p")


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with export_folder(tmp_path / "trec") as folder:
        trec.write(benchmark(tmp_path / "root"), folder)
    return tmp_path / "trec"


def test_products_of_a_kept_catalogue_cannot_be_separated(project: Project, exported: Path, tmp_path: Path) -> None:
    """It stays as it is: separation is refused, and no note recommends it."""
    project.import_benchmark("trec", exported)
    kept = project.path("images").read_bytes()
    with pytest.raises(InputError, match="Use --replace, too"):
        project.import_benchmark("trec", exported, separate=True)
    names = pd.read_csv(exported / "ids.tsv", sep="\t", dtype=str)
    plain = {one: other for one, other in zip(names["id"], names["image_id"], strict=True) if " " not in other}
    rows = [line.split() for line in (exported / "qrels.txt").read_text().splitlines()]
    named = [[plain[q], zero, plain[d], value] for q, zero, d, value in rows if q in plain and d in plain]
    bare = tmp_path / "own.txt"
    bare.write_text("".join(" ".join(row) + "\n" for row in named))
    with pytest.raises(InputError, match="eds images import --map product_id=COLUMN"):
        project.import_benchmark("trec", qrels=bare, separate=True)
    notes = project.import_benchmark("trec", qrels=bare).notes
    assert any("of another domain" in one and "--map product_id" in one for one in notes)
    assert not any("--separate" in one for one in notes)
    assert project.path("images").read_bytes() == kept
    replaced = project.import_benchmark("trec", exported, separate=True, replace=True)
    assert not any("--separate" in one for one in replaced.notes)
    assert project.path("images").read_bytes() != kept
