"""`eds neighbors`: what it writes, keeps and refuses; kill -9 and resume."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds import tables
from eds.backbones.presets import IMAGENET
from eds.cli.neighbors import neighbors
from eds.errors import ProjectError
from eds.neighbors import Rules, mine
from eds.project import Project
from eds.project.mine import refresh
from eds.vectors import Model, Vectors, write
from tests.neighbors.galleries import catalogue
from tests.privileges import needed

MODELS = ("one", "two", "three")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with 300 images and vectors of three models."""
    project = Project.create(tmp_path / "p", {"neighbors.k": 7})
    gallery = catalogue(300, 1, products=80, dimension=12)
    shown = dict.fromkeys(["phase", "width", "height", "sha256", "box_left", "box_top", "box_right", "box_bottom"])
    images = gallery.images.assign(path=gallery.images["image_id"] + ".jpg", **shown)[tables.IMAGES.names]
    project.write(images, "images", tables.Provenance("test"))
    for seed, name in enumerate(MODELS):
        vectors(project, name, images["image_id"].tolist(), seed)
    return project


def vectors(project: Project, name: str, ids: list[str], seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal((len(ids), 12)).astype(np.float32)
    made_by = project.provenance("test", {}, [project.path("images")])
    model = Model(name, {}, 12, "float32", "cosine", "p", str(seed), provenance=made_by)
    write(project.path("embeddings", name), model, ids, values)


def call(project: Project, *words: str) -> Any:
    """The JSON answer; an error of eds is raised."""
    result = CliRunner().invoke(neighbors, [*words, "-p", str(project.root), "--json"], catch_exceptions=True)
    if result.exception:
        raise result.exception
    answer = json.loads(result.stdout)
    return answer["lists"] if words[0] == "mine" else answer["models"]


def test_mines_every_model_by_the_settings(project: Project) -> None:
    answer = call(project, "mine")
    assert [(row["model"], row["made"]) for row in answer] == [(name, True) for name in sorted(MODELS)]
    for name in MODELS:
        expected = mine(Vectors.open(project.path("embeddings", name)), project.read("images"), Rules(7))
        pd.testing.assert_frame_equal(project.read("neighbors", name), expected, check_dtype=False)
        assert project.state("neighbors", name).condition == "fresh"


def test_what_is_fresh_is_kept_and_other_words_mine_anew(project: Project) -> None:
    call(project, "mine")
    before = project.path("neighbors", "one").read_bytes()
    assert {row["made"] for row in call(project, "mine")} == {False}
    assert project.path("neighbors", "one").read_bytes() == before
    assert [row["made"] for row in call(project, "mine", "-k", "3", "-m", "one")] == [True]
    assert project.read("neighbors", "one")["rank"].max() == 2
    assert [row["made"] for row in call(project, "mine", "-m", "one")] == [True]
    assert project.path("neighbors", "one").read_bytes() == before
    assert [row["state"] for row in call(project, "list")] == ["fresh"] * 3
    refresh(project)
    assert project.path("neighbors", "one").read_bytes() == before


def test_of_table_images_only_what_a_search_looks_at_is_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of millions of images the other columns would take more memory than the search."""
    asked, whole = [], tables.read

    def read(path: Path, table: Any, columns: Any = None) -> pd.DataFrame:
        asked.append((table.name, columns))
        return whole(path, table, columns)

    monkeypatch.setattr(tables, "read", read)
    call(project, "mine", "-m", "one", "--category", "same")
    assert [list(columns) for name, columns in asked if name == "images"] == [
        ["image_id", "product_id", "category", "role"]
    ]


def test_options_come_before_settings(project: Project) -> None:
    call(
        project,
        "mine",
        "-m",
        "two",
        "--no-exclude-product",
        "--no-one-per-product",
        "--category",
        "same",
        "--metric",
        "dot",
        "--keep-ties",
    )
    rule = Rules(7, exclude_product=False, one_per_product=False, category="same", keep_ties=True)
    opened = Vectors.open(project.path("embeddings", "two"))
    expected = mine(opened, project.read("images"), rule, metric="dot")
    pd.testing.assert_frame_equal(project.read("neighbors", "two"), expected, check_dtype=False)
    assert project.state("neighbors", "two").made_by == (
        "eds neighbors mine --category same --no-exclude-product --keep-ties --metric dot --no-one-per-product"
    )


def test_short_lists_are_told(project: Project) -> None:
    shown = CliRunner().invoke(neighbors, ["mine", "-k", "500", "-m", "one", "-p", str(project.root)]).stdout
    assert "Where a query has fewer than k = 500 candidates, all of them are listed." in shown


def test_an_index_tells_its_recall_and_keeps_it(project: Project) -> None:
    needed("faiss")
    row = call(project, "mine", "-m", "one", "--search", "faiss-ivf", "--allow-low-recall")[0]
    state = project.state("neighbors", "one")
    assert state.notes["recall"] == round(row["recall"], 4)
    assert state.notes["compared"] == len(project.read("neighbors", "one")["query_id"].unique())
    assert state.params == {"search": "faiss-ivf", "allow_low_recall": True}
    assert "--allow-low-recall" in state.made_by
    again = call(project, "mine", "-m", "one", "--search", "faiss-ivf", "--allow-low-recall")[0]
    assert not again["made"]


def test_stale_and_incomplete_vectors_are_refused_together(project: Project) -> None:
    ids = project.read("images")["image_id"].tolist()
    vectors(project, "two", ids[:-2], 1)
    project.write(project.read("images").assign(phase="x"), "images", tables.Provenance("test"))
    vectors(project, "three", ids, 2)
    with pytest.raises(ProjectError) as caught:
        call(project, "mine")
    assert caught.value.faults == (
        "one: images.parquet has changed since",
        "two: images.parquet has changed since",
        f"two: 2 images have no vector: {ids[-2]}, {ids[-1]}",
    )
    vectors(project, "one", ids, 0)
    vectors(project, "two", ids[:-2], 1)
    call(project, "mine", "--allow-missing")
    for name in MODELS:
        assert not project.read("neighbors", name)[["query_id", "candidate_id"]].isin(ids[-2:]).any().any()
    with pytest.raises(ProjectError, match="no vectors of four"):
        call(project, "mine", "-m", "four")


def remake(project: Project, name: str, spec: dict[str, Any], digest: str, made_from: str) -> None:
    """Vectors that a backbone made, by what their model.json says."""
    ids = project.read("images")["image_id"].tolist()
    made_by = project.provenance("test", {}, [project.path("images")], params={"models": [made_from]})
    shutil.rmtree(project.path("embeddings", name), ignore_errors=True)
    write(
        project.path("embeddings", name),
        Model(name, spec, 12, "float32", "cosine", digest, "w", provenance=made_by),
        ids,
        np.random.default_rng(0).standard_normal((len(ids), 12)).astype(np.float32),
    )


def test_vectors_whose_preprocessing_has_changed_are_refused(project: Project) -> None:
    spec = {"preprocessing": json.loads(IMAGENET.to_json())}
    remake(project, "one", spec, IMAGENET.digest, "one=wheel:net")
    assert call(project, "mine", "-m", "one")[0]["made"]
    remake(project, "one", spec, "0" * 64, "one=wheel:net")
    remake(project, "two", {"preprocessing": {"resize": "no more"}}, "1" * 64, "wheel:net")
    with pytest.raises(ProjectError, match="stale") as caught:
        call(project, "mine")
    now = IMAGENET.digest[:8]
    assert caught.value.faults == (
        f"one: its preprocessing has changed since (digest 00000000, now {now}); "
        "compute it again: eds embeddings compute -m one=wheel:net --replace",
        "two: its preprocessing has changed since (digest 11111111, now unreadable); "
        "compute it again: eds embeddings compute -m wheel:net --replace",
    )


def test_vectors_that_eds_toml_asks_for_otherwise_are_refused(project: Project) -> None:
    remake(project, "one", {}, "p", "one=wheel:net?size=64&pool=avg")
    toml = project.root / "eds.toml"
    before = toml.read_text()
    toml.write_text(before.replace("# models = []", 'models = ["one=wheel:net?pool=avg&size=64", "two=wheel:other"]'))
    assert {row["made"] for row in call(project, "mine")} == {True}
    toml.write_text(before.replace("# models = []", 'models = ["one=wheel:net?size=96&pool=avg"]'))
    with pytest.raises(ProjectError) as caught:
        call(project, "mine")
    assert caught.value.faults == (
        "one: it was made from one=wheel:net?size=64&pool=avg, eds.toml names one=wheel:net?size=96&pool=avg; "
        "compute it again: eds embeddings compute --replace",
    )


def test_a_model_that_is_not_finished_is_told(project: Project) -> None:
    (project.path("embeddings", "three") / "model.json").rename(project.path("embeddings", "three") / "partial.json")
    shown = CliRunner().invoke(neighbors, ["mine", "-p", str(project.root)])
    assert "Left out, not finished: three. Resume with eds embeddings compute." in shown.output
    assert project.models("neighbors") == ["one", "two"]


def test_killed_in_the_second_model_goes_on_there(project: Project) -> None:
    killer = f"""
import os, signal
from pathlib import Path
from eds.project import Project
from eds.project.mine import refresh
from eds import tables
write = tables.pq.write_table
def dying(table, path, **how):
    write(table, path, **how)
    if "three" in str(path):
        os.kill(os.getpid(), signal.SIGKILL)
tables.pq.write_table = dying
refresh(Project.open(Path({str(project.root)!r})))
"""
    died = subprocess.run([sys.executable, "-c", killer], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert died.returncode == -signal.SIGKILL
    assert project.models("neighbors") == ["one"]
    first = project.path("neighbors", "one").stat().st_mtime_ns
    answer = call(project, "mine")
    assert [row["made"] for row in answer] == [False, True, True]
    assert project.path("neighbors", "one").stat().st_mtime_ns == first
    assert [path.name for path in sorted((project.root / "neighbors").iterdir())] == [
        f"{name}.parquet" for name in sorted(MODELS)
    ]
    whole = mine(Vectors.open(project.path("embeddings", "three")), project.read("images"), Rules(7))
    pd.testing.assert_frame_equal(project.read("neighbors", "three"), whole, check_dtype=False)
