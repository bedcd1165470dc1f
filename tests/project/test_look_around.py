"""The map, pairs of chosen images, and who proposed a pair, on a drawn catalogue whose labels are known."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eds
from eds.errors import EdsError, InputError, MissingExtraError, ProjectError
from eds.project.campaigns import CampaignPlan
from eds.vectors import Vectors

PAIR = ["query_id", "candidate_id"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> eds.Project:
    project = eds.Project.create(tmp_path_factory.mktemp("looking") / "p", {"suspects.k": 2, "neighbors.k": 6})
    project.draw_catalogue(products=10, views=2, wild=4, size=32, workers=1)
    project.embed(["hsv=descriptor:hsv", "lbp=descriptor:lbp"])
    project.mine()
    project.pool()
    project.simulate_experts()
    project.decide()
    return project


def test_the_map_shows_the_first_two_principal_components(project: eds.Project, tmp_path: Path) -> None:
    found = project.map_images("hsv", clusters=4, out=tmp_path / "map.csv")
    vectors = Vectors.open(project.path("embeddings", "hsv"))
    x = vectors.gather(found.table["image_id"].tolist()).astype(np.float64)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    centred = x - x.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    for place, name in enumerate(("x", "y")):
        wanted = u[:, place] * s[place]
        assert np.abs(found.table[name].to_numpy()) == pytest.approx(np.abs(wanted), abs=1e-4)
    assert found.explained == pytest.approx(float((s[:2] ** 2).sum() / (s**2).sum()), abs=1e-4)
    sizes = found.table["cluster"].value_counts().sort_index()
    assert sizes.index.tolist() == [1, 2, 3, 4]
    assert sizes.is_monotonic_decreasing
    truth = project.read("truth")
    similar = truth[truth["value"] == 1]
    assert set(found.table.loc[found.table["label"] == "similar", "image_id"]) == {
        *similar["query_id"],
        *similar["candidate_id"],
    }
    assert len(pd.read_csv(tmp_path / "map.csv")) == len(found.table) == len(project.read("images"))
    assert project.map_images("hsv", clusters=4).table.equals(found.table)  # what was kept is the same


def test_without_umap_the_remedy_is_said(project: eds.Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)  # as where it is not installed
    with pytest.raises(MissingExtraError) as caught:
        project.map_images("hsv", method="umap")
    assert "eds-benchmark[scale]" in caught.value.hint


def test_pairs_of_chosen_images_are_priced_added_asked_and_undone(project: eds.Project, tmp_path: Path) -> None:
    images, before = project.read("images"), project.read("suspects")
    chosen = images["image_id"].tolist()
    plan = project.add_image_pairs(chosen, partners="each-other", dry_run=True)
    assert project.read("suspects").equals(before)
    added = project.add_image_pairs(chosen, partners="each-other")
    assert added.price == plan.price
    asked, offered = images[images["role"] != "candidate"], images[images["role"] != "query"]
    every = asked.merge(offered, how="cross", suffixes=("", "_c"))
    every = every[every["product_id"] != every["product_id_c"]]
    assert len(added.pairs) == len(every)
    assert added.added == len(every) - len(before[before["origin"] == "pool"])
    heads = project.add_image_pairs(chosen[:9], k=1).pairs
    first = pd.concat([project.read("neighbors", name) for name in ("hsv", "lbp")])
    first = first[(first["rank"] == 0) & first["query_id"].isin(chosen[:9])][PAIR].drop_duplicates()
    assert {tuple(pair) for pair in heads.to_numpy()} == {tuple(pair) for pair in first.to_numpy()}

    project.experts.add("region")
    some = added.pairs.head(7)
    progress = project.campaigns.create(
        "Region", ["region"], pairs=some, plan=CampaignPlan(gold_share=0, repeat_share=0)
    )
    assert progress["total"].tolist() == [7]
    some.to_csv(tmp_path / "some.csv", index=False)
    plan_of_file = CampaignPlan(gold_share=0, repeat_share=0)
    assert project.campaigns.price("File", ["region"], pairs=tmp_path / "some.csv", plan=plan_of_file).judgements == 7
    project.undo("campaign-Region")
    last = [entry for entry in project.journal().entries if entry.name.startswith("draw")][-1]
    assert last.what.startswith("eds suspects add-images")
    project.undo(last.name)
    assert len(project.read("suspects")) == len(before)


def test_who_proposed_a_pair_is_what_the_lists_say(project: eds.Project) -> None:
    suspects = project.read("suspects")
    truth = project.read("truth").set_index(PAIR)["value"]
    for row in suspects.head(6).itertuples():
        found = project.pair_origin(row.query_id, row.candidate_id)
        assert found.origins == ("pool",)
        assert found.label == {1: "similar", 0: "different"}[truth[row.query_id, row.candidate_id]]
        named = dict(part.split(":") for part in row.sources.split(";"))
        models = found.models.set_index("model")
        for name in ("hsv", "lbp"):
            assert models.loc[name, "proposed"] == (name in named)
            if name in named:
                assert models.loc[name, "rank"] == int(named[name]) + 1


def test_bad_choices_are_one_clear_error(project: eds.Project, tmp_path: Path) -> None:
    candidates = project.read("images").query("role == 'candidate'")["image_id"].tolist()
    for images in ([], ["nowhere.png"], candidates[:3]):
        with pytest.raises(EdsError):
            project.add_image_pairs(images)
    with pytest.raises(InputError):
        project.map_images("unknown")
    with pytest.raises(InputError):
        project.map_images(clusters=1)
    with pytest.raises(InputError):
        project.pair_origin("nowhere", candidates[0])
    with pytest.raises(ProjectError) as caught:
        eds.Project.create(tmp_path / "empty").map_images()
    assert "eds embeddings compute" in caught.value.hint


def test_maps_are_prepared_once_and_again_when_they_are_damaged(project: eds.Project) -> None:
    shutil.rmtree(project.root / ".eds" / "map", ignore_errors=True)
    models = len(project.models("embeddings"))
    assert project.prepare_maps() == models > 0
    assert project.prepare_maps() == 0
    name = project.models("embeddings")[0]
    kept = project.root / ".eds" / "map" / f"{name}-pca-{project.config.project.seed}.npz"
    before = kept.read_bytes()
    prepared = project.map_images(name).table
    assert kept.read_bytes() == before  # nothing was computed
    kept.unlink()
    pd.testing.assert_frame_equal(project.map_images(name).table, prepared)
    kept.write_bytes(before[:100])
    assert project.prepare_maps() == 1  # a damaged file is none
