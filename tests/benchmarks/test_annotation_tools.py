"""What comes from annotation tools, and goes to them: FiftyOne's samples, Argilla's records, CVAT's boxes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eds.benchmarks.formats import argilla, fiftyone
from eds.errors import InputError
from eds.io.fiftyone import read_samples, vector
from eds.project import Project
from eds.vectors import Vectors
from tests.benchmarks.cases import benchmark

# As fiftyone 1.22 writes the array [0, 1, 2, 3] of float32 into samples.json.
PACKED = {
    "$binary": {
        "base64": "eJyb7BfqGxDJyFDGUK2eklqcXKRupaBuk2airqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RomOpo6CrUKFAAu"
        "BjBosAcSDkDkAAASIBza",
        "subType": "00",
    }
}
# As argilla 2.8 writes a record with responses of two users.
RECORD: dict[str, Any] = {
    "id": "q1|c1",
    "fields": {"query": "q1", "candidate": "c1"},
    "metadata": {"query_id": "q1", "candidate_id": "c1"},
    "suggestions": {"similar": {"value": "yes", "score": 0.7, "agent": "m"}},
    "responses": {
        "similar": [
            {"value": "yes", "user_id": "00000000-0000-0000-0000-000000000001"},
            {"value": "no", "user_id": "00000000-0000-0000-0000-000000000002"},
        ]
    },
    "vectors": {},
    "status": "pending",
    "_server_id": None,
}


def test_samples_hold_the_catalogue_and_what_was_judged(tmp_path: Path) -> None:
    given = benchmark(tmp_path / "root")
    assert given.images is not None
    assert given.truth is not None
    (tmp_path / "out").mkdir()
    fiftyone.write(given, tmp_path / "out")
    samples = read_samples(tmp_path / "out")
    assert [one.field("image_id") for one in samples] == given.images["image_id"].tolist()
    for sample in samples:
        assert (tmp_path / "out" / sample.filepath).is_file()
    pairs = {
        (sample.field("image_id"), other, value)
        for sample in samples
        for name, value in (("similar", 1), ("different", 0))
        for other in sample.field(name)
    }
    decided = given.truth[given.truth["value"].notna()]
    columns = (decided["query_id"], decided["candidate_id"], decided["value"].astype(int))
    assert pairs == set(zip(*columns, strict=True))
    boxes = [one.field("box") for one in samples if one.field("box")]
    assert all(len(box["detections"][0]["bounding_box"]) == 4 for box in boxes)


def test_a_project_comes_back_from_its_samples_with_vectors_that_were_added_there(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.draw_catalogue(products=4, views=2, wild=1, size=32, workers=1)
    project.embed(["hog=descriptor:hog"])
    project.mine(k=3)
    project.pool(k=1)
    project.export("fiftyone", tmp_path / "out")
    file = tmp_path / "out" / "samples.json"
    content = json.loads(file.read_text())
    for number, sample in enumerate(content["samples"]):
        sample["clip"] = PACKED if number else [float(one) for one in range(4)]
    file.write_text(json.dumps(content))
    other = Project.create(tmp_path / "other", {"images.root": str(tmp_path / "out" / "data")})
    other.import_images(file)
    own, came = project.read("images"), other.read("images")
    for column in ("image_id", "path", "product_id", "category", "role"):
        assert dict(zip(came["image_id"], came[column], strict=True)) == dict(
            zip(own["image_id"], own[column], strict=True)
        )
    other.import_vectors("clip", file)
    held = Vectors.open(other.path("embeddings", "clip"))
    assert set(held.id_column.to_pylist()) == set(own["image_id"])
    np.testing.assert_array_equal(
        held.take(np.arange(len(held))), np.tile(np.arange(4, dtype=np.float32), (len(own), 1))
    )


def test_a_damaged_or_enormous_vector_is_told() -> None:
    text = PACKED["$binary"]["base64"]
    with pytest.raises(InputError, match="damaged"):
        vector({"$binary": {"base64": text[:40] + "AAAA" + text[44:]}})
    assert vector({"$binary": {"base64": text}}) is not None
    assert vector({"_cls": "Classification"}) is None


def test_responses_of_users_are_votes(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text(json.dumps([RECORD]))
    votes = argilla.read(file).votes
    assert votes is not None
    rows = votes[["query_id", "candidate_id", "expert_id", "value"]].to_numpy().tolist()
    users = [one["user_id"] for one in RECORD["responses"]["similar"]]
    assert rows == [["q1", "c1", users[0], 1], ["q1", "c1", users[1], 0]]
    both = {**RECORD, "responses": {**RECORD["responses"], "why": [{"value": "hem", "user_id": users[0]}]}}
    file.write_text(json.dumps([both]))
    with pytest.raises(InputError, match="2 questions"):
        argilla.read(file)
    assert argilla.read(file, question="similar").votes is not None
    faults: list[dict[str, Any]] = [
        {"metadata": {}},
        {"responses": {"similar": [{"value": "maybe", "user_id": "u"}]}},
        {"responses": {}},
    ]
    for wrong in faults:
        file.write_text(json.dumps([RECORD | wrong]))
        with pytest.raises(InputError):
            argilla.read(file)


def test_boxes_and_attributes_of_cvat_become_columns_and_entities_are_refused(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "shop")
    project.image_root.mkdir()
    Image.new("RGB", (40, 30)).save(project.image_root / "a.png")
    file = tmp_path / "annotations.xml"
    body = (
        '<image id="0" name="a.png" width="40" height="30"><box label="dress" occluded="0" xtl="1.6" ytl="2.00"'
        ' xbr="30.2" ybr="20.00" z_order="0"><attribute name="product_id">p1</attribute></box></image>'
    )
    file.write_text(f"<annotations><version>1.1</version>{body}</annotations>")
    project.import_images(file)
    row = project.read("images").iloc[0]
    assert (row["product_id"], row["category"]) == ("p1", "dress")
    assert [int(row[f"box_{edge}"]) for edge in ("left", "top", "right", "bottom")] == [1, 2, 31, 20]
    file.write_text(f'<!DOCTYPE x [<!ENTITY a "b">]><annotations>{body}</annotations>')
    with pytest.raises(InputError, match="document type"):
        Project.create(tmp_path / "other").import_images(file)
