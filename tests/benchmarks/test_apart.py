"""Products that two collections number alike: set apart in the catalogue that is taken in, and in no other."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.benchmarks.folder import export_folder
from eds.benchmarks.formats import trec
from eds.cli import cli
from eds.errors import InputError
from tests.benchmarks.cases import benchmark


@pytest.fixture
def project(tmp_path: Path) -> Path:
    CliRunner().invoke(cli, ["init", str(tmp_path / "p")], catch_exceptions=False)
    return tmp_path / "p"


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with export_folder(tmp_path / "trec") as folder:
        trec.write(benchmark(tmp_path / "root"), folder)
    return tmp_path / "trec"


def bring(project: Path, *words: object) -> list[str]:
    """An import's notes."""
    asked = ["benchmarks", "import", "trec", *map(str, words), "-p", str(project), "--json"]
    notes: list[str] = json.loads(CliRunner().invoke(cli, asked, catch_exceptions=False).stdout)["notes"]
    return notes


def test_a_kept_catalogue_cannot_be_set_apart(project: Path, exported: Path, tmp_path: Path) -> None:
    """It stays as it is: --apart is refused, and no note recommends it."""
    bring(project, exported)
    kept = (project / "images.parquet").read_bytes()
    with pytest.raises(InputError, match="Use --replace, too"):
        bring(project, exported, "--separate")
    names = pd.read_csv(exported / "ids.tsv", sep="\t", dtype=str)
    plain = {one: other for one, other in zip(names["id"], names["image_id"], strict=True) if " " not in other}
    rows = [line.split() for line in (exported / "qrels.txt").read_text().splitlines()]
    named = [[plain[q], zero, plain[d], value] for q, zero, d, value in rows if q in plain and d in plain]
    bare = tmp_path / "own.txt"
    bare.write_text("".join(" ".join(row) + "\n" for row in named))
    with pytest.raises(InputError, match="eds images import --map product_id=COLUMN"):
        bring(project, "--qrels", bare, "--separate")
    notes = bring(project, "--qrels", bare)
    assert any("of another domain" in one and "--map product_id" in one for one in notes)
    assert not any("--separate" in one for one in notes)
    assert (project / "images.parquet").read_bytes() == kept
    assert not any("--separate" in one for one in bring(project, exported, "--separate", "--replace"))
    assert (project / "images.parquet").read_bytes() != kept
