"""Near duplicates: what is decided changes the catalogue at once, holds at every scan, and can be undone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import eds
from eds.errors import EdsError, InputError, ProjectError
from eds.images.duplicate_decisions import DecidedPair, apply_decisions, without_decisions
from eds.project.near_duplicates import is_searched
from eds.tables import Provenance


@pytest.fixture
def project(tmp_path: Path) -> eds.Project:
    """Six products of one image; b is a and d is c, each saved again a little darker."""
    project = eds.Project.create(tmp_path / "p", {"suspects.k": 1, "neighbors.k": 3})
    project.image_root.mkdir()
    rng = np.random.default_rng(5)
    for name in ("a", "c", "e", "f"):
        coarse = Image.fromarray(rng.integers(40, 200, (6, 6, 3), dtype=np.uint8))
        picture = coarse.resize((96, 96), Image.Resampling.BICUBIC)
        picture.save(project.image_root / f"{name}.png")
        if name in "ac":
            picture.point(lambda value: value - 2).save(project.image_root / f"{chr(ord(name) + 1)}.png")
    project.scan(layout="flat")
    return project


def _images(project: eds.Project) -> pd.DataFrame:
    images: pd.DataFrame = project.read("images").set_index("image_id")
    return images


def test_decisions_change_the_catalogue_hold_at_a_scan_and_are_undone(project: eds.Project) -> None:
    before = project.read("images")
    found = project.near_duplicates()
    assert [tuple(pair) for pair in found.table[["left_id", "right_id"]].to_numpy()] == [
        ("a.png", "b.png"),
        ("c.png", "d.png"),
    ]
    assert found.open == 2
    plan = project.plan(lambda one: one.decide_duplicates([("a.png", "b.png")], "drop"))
    assert plan.changes
    assert project.read("images").equals(before)

    dropped = project.decide_duplicates([("a.png", "b.png")], "drop")
    merged = project.decide_duplicates([("c.png", "d.png")], "merge")
    assert (dropped.dropped, merged.merged) == (1, 1)
    images = _images(project)
    assert list(images.index) == ["a.png", "c.png", "d.png", "e.png", "f.png"]
    product = before.set_index("image_id")["product_id"]
    assert set(images.loc[["c.png", "d.png"], "product_id"]) == {min(product[["c.png", "d.png"]])}
    listed = project.near_duplicates().table.set_index("left_id")
    assert listed.loc["a.png", "decision"] == "drop"
    assert listed.loc["c.png", "decision"] == "merge"
    assert listed.loc["c.png", "same_product"]
    assert project.near_duplicates(open_only=True).table.empty

    bytes_before = project.path("images").read_bytes()
    project.scan()
    assert project.path("images").read_bytes() == bytes_before  # so that later tables stay fresh

    names = [entry.name for entry in project.journal().entries]
    assert names == ["duplicates-1", "duplicates-2"]
    project.undo("duplicates-1")
    assert list(_images(project).index) == sorted(before["image_id"])
    assert _images(project)["product_id"]["d.png"] == images["product_id"]["d.png"]
    project.undo()
    assert project.read("images").equals(before)
    project.scan()
    assert project.read("images").equals(before)
    with pytest.raises(InputError, match="undone already"):
        project.undo("duplicates-2")


def test_later_stages_obey(project: eds.Project) -> None:
    project.embed("hsv=descriptor:hsv")
    project.mine()
    project.pool()
    project.decide_duplicates([("a.png", "b.png")], "drop")
    project.decide_duplicates([("c.png", "d.png")], "merge")
    assert project.state("embeddings", "hsv").condition == "stale"
    project.run(until="suspects")
    lists = project.read("neighbors", "hsv")
    assert "b.png" not in {*lists["query_id"], *lists["candidate_id"]}
    pairs = {tuple(pair) for pair in lists[["query_id", "candidate_id"]].to_numpy()}
    assert not {("c.png", "d.png"), ("d.png", "c.png")} & pairs  # one product now


def test_a_query_that_is_left_out_hands_its_role_on() -> None:
    images = pd.DataFrame(
        {"image_id": list("abcd"), "product_id": list("abcd"), "role": ["candidate"] * 2 + ["both"] * 2}
    )
    decisions = [DecidedPair("a", "b", "drop"), DecidedPair("b", "c", "drop"), DecidedPair("d", "x", "merge")]
    after, before = apply_decisions(images, decisions)
    assert after.to_dict("list") == {"image_id": ["a", "d"], "product_id": ["a", "d"], "role": ["both", "both"]}
    assert without_decisions(after, before).equals(images)


def test_faults_are_named_and_nothing_is_written(project: eds.Project, tmp_path: Path) -> None:
    for pairs, decision in (
        ([("a.png", "nowhere.png")], "keep"),
        ([("a.png", "a.png")], "merge"),
        ([], "drop"),
        ([("a.png", "b.png")], "forget"),
    ):
        with pytest.raises(EdsError):
            project.decide_duplicates(pairs, decision)
    assert not (project.root / "duplicates.csv").exists()
    empty = eds.Project.create(tmp_path / "empty")
    with pytest.raises(ProjectError) as caught:
        empty.near_duplicates()
    assert "eds images duplicates search" in caught.value.hint


def test_a_catalogue_that_no_scan_has_read_is_searched_and_stays_as_it_is(tmp_path: Path) -> None:
    project = eds.Project.create(tmp_path / "drawn")
    project.draw_catalogue(products=3, views=2, wild=0, size=48, workers=1)
    first = project.read("images").iloc[[0]]
    (project.image_root / "again.jpg").write_bytes((project.image_root / first["path"].iloc[0]).read_bytes() + b"\0")
    again = first.assign(image_id="again", path="again.jpg")
    project.write(pd.concat([project.read("images"), again]), "images", Provenance("images.import"))
    before = project.path("images").read_bytes()
    with pytest.raises(InputError, match="near is 17"):
        project.find_near_duplicates(near=17)
    assert project.plan(lambda one: one.find_near_duplicates()).changes
    assert not is_searched(project)
    found = project.find_near_duplicates(near=0)
    assert "again" in found.table[["left_id", "right_id"]].to_numpy()
    assert found.table.equals(project.near_duplicates().table)
    assert project.path("images").read_bytes() == before
