"""From images to suspects, in Python and on the command line: the same numbers, tables and provenance."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import eds
from eds.cli import cli
from eds.errors import EdsError, InputError, ProjectError

MODELS = ("hsv=descriptor:hsv", "hog=descriptor:hog")
TIMES = {"seconds", "images_per_second", "lists"}  # `lists` of a scan is a folder


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES or isinstance(item, list)}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class Twins:
    """Two projects on one folder of images: verbs are called in one, commands typed in the other."""

    def __init__(self, folder: Path) -> None:
        self.photos = folder / "photos"
        eds.draw_catalogue(self.photos, products=12, views=2, size=40, workers=1)
        self.called = eds.Project.create(folder / "called")
        self.typed = eds.Project.create(folder / "typed")

    def same(self, result: Any, *words: object) -> Any:
        """The verb's result, which is what the command answers."""
        done = CliRunner().invoke(cli, [*map(str, words), "-p", str(self.typed.root), "--json", "-q"])
        if done.exception:
            raise done.exception
        answer = result.to_dict()
        assert without_times(json.loads(json.dumps(answer))) == without_times(json.loads(done.stdout)), words
        return result


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    """Both projects with a catalogue, vectors, lists and a pool."""
    made = Twins(tmp_path_factory.mktemp("flow"))
    project = made.called
    catalogue = made.same(project.scan(made.photos, layout="flat"), "images", "scan", made.photos, "--layout", "flat")
    assert catalogue.images == 24
    models = [word for model in MODELS for word in ("-m", model)]
    vectors = made.same(project.embed(MODELS), "embeddings", "compute", *models)
    assert [(item.model, item.rows, item.computed) for item in vectors.models] == [("hsv", 24, 24), ("hog", 24, 24)]
    lists = made.same(
        project.mine(k=12, exclude_product=False, threads=1),
        "neighbors",
        "mine",
        "-k",
        12,
        "--no-exclude-product",
        "--threads",
        1,
    )
    assert [(item.queries, item.rows) for item in lists.lists] == [(24, 24 * 12)] * 2
    pool = made.same(project.pool(k=2, batch=20), "suspects", "pool", "-k", 2, "--batch", 20)
    assert pool.size == pool.new == len(pool.table) == pool.growth["size"][1]
    return made


def test_tables_and_provenance_are_the_same(twins: Twins) -> None:
    pairs = [("images", None), ("suspects", None), *(("neighbors", name) for name in ("hsv", "hog"))]
    for table, model in pairs:
        called, typed = (project.read(table, model) for project in (twins.called, twins.typed))
        pd.testing.assert_frame_equal(called, typed)
    for called, typed in zip(twins.called.states(), twins.typed.states(), strict=True):
        assert (called.table, called.made_by, called.params) == (typed.table, typed.made_by, typed.params)
        assert called.condition == ("absent" if called.table in ("labels", "truth", "scores") else "fresh")
    commands = {state.table: state.made_by for state in twins.called.states()}
    assert commands["neighbors"] == "eds neighbors mine --no-exclude-product -k 12"


def test_every_draw_is_the_same(twins: Twins, tmp_path: Path) -> None:
    project, same = twins.called, twins.same
    names = project.read("images")["image_id"].tolist()
    (tmp_path / "own.csv").write_text(f"query_id,candidate_id\n{names[0]},{names[5]}\n{names[1]},{names[7]}\n")
    (tmp_path / "known.csv").write_text(f"query_id,candidate_id,value\n{names[2]},{names[3]},1\n")
    near = same(
        project.draw_random(5, stratum="near", max_rank=8),
        "suspects",
        "random",
        "-n",
        5,
        "--stratum",
        "near",
        "--max-rank",
        8,
    )
    assert near.probability == 5 / near.stratum_size
    rest = same(
        project.draw_random(7, stratum="rest", max_rank=8),
        "suspects",
        "random",
        "-n",
        7,
        "--stratum",
        "rest",
        "--max-rank",
        8,
    )
    pooled = (project.read("suspects")["origin"] == "pool").sum()
    assert near.stratum_size + rest.stratum_size + pooled == 24 * 23, "the strata and the pool are all pairs"
    negatives = same(
        project.draw_negatives(2, min_rank=6, max_rank=12),
        "suspects",
        "negatives",
        "-n",
        2,
        "--min-rank",
        6,
        "--max-rank",
        12,
    )
    assert negatives.drawn == len(negatives.table[negatives.table["origin"] == "negative"])
    assert same(project.draw_repeats(4), "suspects", "repeats", "-n", 4).drawn == 4
    assert same(project.draw_gold(tmp_path / "known.csv", 1), "suspects", "gold", tmp_path / "known.csv", "-n", 1)
    assert same(project.add_pairs(str(tmp_path / "own.csv")), "suspects", "add", tmp_path / "own.csv").drawn == 2
    counts = same(project.suspects(), "suspects", "list")
    assert counts.by_origin["pairs"].sum() == counts.pairs == len(project.read("suspects"))
    growth = same(project.pool_growth(k_max=5), "suspects", "growth", "--k-max", 5).growth
    assert growth["new"].cumsum().tolist() == growth["size"].tolist()
    before = project.read("suspects")
    deeper = same(project.pool(k=3, batch=20), "suspects", "pool", "-k", 3, "--batch", 20)
    assert deeper.new == len(deeper.table) - len(before) > 0
    kept = ["query_id", "candidate_id", "origin", "batch", "position", "probability"]
    pd.testing.assert_frame_equal(deeper.table[kept].head(len(before)), before[kept])
    pd.testing.assert_frame_equal(project.read("suspects"), twins.typed.read("suspects"))


def test_states_and_checks_are_the_same(twins: Twins) -> None:
    project, same = twins.called, twins.same
    assert {item.state for item in same(project.embeddings(), "embeddings", "list").models} == {"fresh"}
    assert {item.fault for item in same(project.check_vectors(), "embeddings", "check").models} == {None}
    assert {item.state for item in same(project.neighbors(), "neighbors", "list").models} == {"fresh"}
    kept = same(project.mine(k=12, exclude_product=False), "neighbors", "mine", "-k", 12, "--no-exclude-product")
    assert not any(item.made for item in kept.lists)
    assert [item.model for item in project.mine("hsv", k=12, exclude_product=False).lists] == ["hsv"]


def test_results_show_themselves_in_a_notebook(twins: Twins) -> None:
    shown = twins.called.pool_growth(k_max=2)._repr_html_()
    assert "<table" in shown
    assert "size" in shown


@pytest.mark.parametrize(
    ("verb", "error"),
    [
        (lambda project: project.embed(["nonsense"]), InputError),
        (lambda project: project.mine(["nobody"]), ProjectError),
        (lambda project: project.mine(search="slow"), EdsError),
        (lambda project: project.mine(category="none"), InputError),
        (lambda project: project.pool(k=13), InputError),
        (lambda project: project.pool(order="backwards"), EdsError),
        (lambda project: project.pool(symmetric="both"), InputError),
        (lambda project: project.draw_random(5, stratum="far"), InputError),
        (lambda project: project.draw_negatives(min_rank=5, max_rank=2), InputError),
        (lambda project: project.add_pairs("nowhere.csv"), InputError),
        (lambda project: project.add_model_pairs("nobody"), InputError),
        (lambda project: project.reorder(), ProjectError),
        (lambda project: project.import_vectors("ours", "nowhere.npy"), EdsError),
    ],
)
def test_bad_input_raises_from_the_one_tree_and_changes_nothing(twins: Twins, verb: Any, error: type[EdsError]) -> None:
    before = {path: path.stat().st_mtime_ns for path in twins.called.root.rglob("*.parquet")}
    with pytest.raises(error):
        verb(twins.called)
    assert {path: path.stat().st_mtime_ns for path in twins.called.root.rglob("*.parquet")} == before
