"""Every format of benchmarks, out of a project and into a copy of its catalogue: no number changes by the trip."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eds.benchmarks.formats import format_names
from eds.project import Project
from eds.project.inputs import Inputs
from eds.project.prevalence import project_prevalence
from tests.project.shops import PAIR, Design, draw_shop, judge, make_project

FORMATS = sorted({*format_names("read")} & {*format_names("write")})
WITHOUT_ORIGINS = ("trec", "vsd")  # they cannot say which pairs were drawn at random
WITHOUT_CATALOGUE = ("label-studio", "votes")
OPTIONS: dict[str, dict[str, Any]] = {"croissant": {"no_images": True}, "hf": {"no_images": True}}
MEASURES = ["VSD-HR@5", "ROC-AUC", "ROC-AUC(average=micro)"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A judged project whose random pairs and negatives overlap with the pool."""
    folder = tmp_path_factory.mktemp("shop")
    shop = draw_shop(Design(products=60, queries=20, prevalence=0.05), 3)
    made = make_project(shop, folder)
    made.mine(k=30)
    made.pool(k=5)
    made.draw_random(300)
    made.draw_negatives(3, min_rank=8, max_rank=30, keep_top=True)
    suspects = made.read("suspects")
    overlapping = suspects[suspects.duplicated(PAIR, keep=False)]
    assert {*overlapping["origin"]} == {"pool", "random", "negative"}
    judge(shop, made, suspects, folder / "votes.csv")
    return made


def shares(project: Project) -> dict[str, Any] | None:
    found = project_prevalence(Inputs(project))
    if found is None or found.p is None:
        return None
    return {name: getattr(found, name).to_dict() for name in ("p", "gain", "found", "recall")}


def scores(project: Project) -> pd.DataFrame:
    table = project.score(MEASURES, resamples=50).table
    return table[["model", "measure", "value", "n"]].sort_values(["model", "measure"], ignore_index=True)


@pytest.mark.parametrize("name", FORMATS)
def test_a_round_trip_changes_no_number(project: Project, tmp_path: Path, name: str) -> None:
    project.export(name, tmp_path / "out", lists=False, **OPTIONS.get(name, {}))
    copy = Project.create(tmp_path / "copy")
    if name in WITHOUT_CATALOGUE:
        shutil.copy(project.path("images"), copy.path("images"))
    copy.import_benchmark(name, tmp_path / "out")
    for model in project.models("embeddings"):
        copy.import_vectors(model, project.root.parent / f"{model}.npy", project.root.parent / "ids.txt")
    copy.mine(k=30)
    before, after = shares(project), shares(copy)
    assert before is not None
    assert after == (None if name in WITHOUT_ORIGINS else before)
    pd.testing.assert_frame_equal(scores(copy), scores(project))
    if name not in WITHOUT_ORIGINS:
        suspects = [one.read("suspects").sort_values([*PAIR, "origin"], ignore_index=True) for one in (project, copy)]
        pd.testing.assert_frame_equal(suspects[1][suspects[0].columns.tolist()], suspects[0])
