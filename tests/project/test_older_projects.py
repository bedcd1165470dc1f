"""Every version opens, runs and reports the projects that older versions made, with the numbers they had."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eds.project import Project

FOLDER = Path(__file__).parents[1] / "fixtures" / "projects"
VERSIONS = sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_project_of_an_older_version_opens_runs_and_reports(version: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER / version, tmp_path / "project")
    project = Project.open(tmp_path / "project")
    project.labels.upgrade()  # what eds says to do with labels of an older version
    names = ("images", "suspects", "truth", "scores")
    before = {name: project.read(name) for name in names}
    acts = len(project.experts.list()), int(project.experts.list()["labels"].sum())
    assert {state.condition for state in project.status().tables} == {"fresh"}
    project.run()
    assert {state.condition for state in project.status().tables} == {"fresh"}
    assert acts == (3, int(project.experts.list()["labels"].sum()))
    assert all(project.read(name).equals(before[name]) for name in names)
    assert (
        project.decide()
        .table[["query_id", "candidate_id", "value"]]
        .equals(before["truth"][["query_id", "candidate_id", "value"]])
    )
    assert (tmp_path / "project" / "report.html").stat().st_size > 50_000


def test_there_is_such_a_project() -> None:
    assert VERSIONS


def test_pairs_that_left_the_pool_before_the_column_existed_return(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=6, views=1, wild=0, size=32)
    project.embed(["hsv=descriptor:hsv"])
    project.mine(k=4)
    first = project.pool(k=3)
    project.pool(k=1)
    for file in (project.root / "journal").glob("*.parquet"):
        pq.write_table(pq.read_table(file).drop_columns("stratum"), file)  # as if the column were new
    assert project.pool(k=3).size == first.size
