"""The JSON files of the VSD data set: roles, boxes, phases, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from eds.errors import InputError
from eds.images.detect import detect
from tests.images.reading import column, read

ENTRIES: list[dict[str, Any]] = [
    {"id": "p1", "path": "img/WOMEN/a/id_1/1.jpg", "phase": "query", "bbox": [10, 20, 30, 40], "color": "red"},
    {"id": "p1", "path": "img/WOMEN/a/id_1/2.jpg", "phase": "gallery", "bbox": {"x1": 1, "y1": 2, "x2": 3, "y2": 4}},
    {"id": "p2", "path": "img/MEN/b/id_2/1.jpg", "phase": "gallery", "category": "coat", "bbox": None},
    {"id": "p1", "path": "img/TOPS/c/id_1/consumer.jpg", "phase": "search"},
]


def vsd(tmp_path: Path, **contents: Any) -> list[Path]:
    files = []
    for name, content in contents.items():
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(content))
    return files


def test_vsd_without_any_picture_on_disk(tmp_path: Path) -> None:
    seeds = {"seeds": [ENTRIES[0]["path"]]}
    found = read("vsd", *vsd(tmp_path, meta={"images": [*ENTRIES, ENTRIES[0]]}, seeds=seeds))
    assert column(found, "image_id") == [entry["path"] for entry in ENTRIES]
    assert column(found, "product_id") == ["p1", "p1", "p2", "p1"]
    assert column(found, "role") == ["both", "candidate", "candidate", "candidate"]
    assert column(found, "color") == ["red", None, None, None]
    boxes = found.images[["box_left", "box_top", "box_right", "box_bottom"]].astype(object)
    assert boxes.where(boxes.notna(), None).to_numpy().tolist() == [
        [10, 20, 50, 50],  # x, y, h, w = 10, 20, 30, 40
        [1, 2, 3, 4],
        [None] * 4,
        [None] * 4,
    ]
    assert column(found, "sha256") == [None] * 4
    assert "1 product ids occur in more than one folder (p1)" in found.notes[0]


def test_vsd_seeds_from_annotations_and_a_manifest(tmp_path: Path) -> None:
    paths = [entry["path"] for entry in ENTRIES]
    tags = [{"key": [paths[2], paths[0]], "value": 1}, {"key": [paths[2], paths[1]], "value": 0}]
    files = vsd(tmp_path, m={"images": ENTRIES}, tags=tags, split={"images": [{"path": paths[0]}, {"path": paths[1]}]})
    found = read("vsd", *files)
    assert dict(zip(column(found, "path"), column(found, "role"), strict=True)) == {
        paths[0]: "candidate",
        paths[1]: "candidate",
        paths[2]: "query",
    }
    assert any("not in the manifest" in note for note in found.notes)
    everything = read("vsd", *vsd(tmp_path, m={"images": ENTRIES}, tags=tags, split={"images": []}))
    assert len(everything.images) == 4
    assert any("whole dataset" in note for note in everything.notes)


def test_vsd_wild_warns_of_shared_products(tmp_path: Path) -> None:
    files = vsd(tmp_path, m={"images": ENTRIES}, s={"seeds": [ENTRIES[3]["path"]]})
    found = read("vsd", *files, gallery_phases=("gallery",))
    assert column(found, "role") == ["candidate", "candidate", "query"]
    assert any("queries and candidates of different domains (p1)" in note for note in found.notes)
    assert any("1 images are neither queries nor of a gallery phase" in note for note in found.notes)
    with pytest.raises(InputError, match="no image has phase 'shop'"):
        read("vsd", *files, gallery_phases=("shop",))


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ({"m": {"images": [ENTRIES[0], {**ENTRIES[0], "id": "p9"}]}}, r"\(entry 1, 2\) with different product_id"),
        ({"m": {"images": [{"id": "p1"}]}}, "entry 1 has no path"),
        ({"m": {"images": [{**ENTRIES[0], "bbox": [1, 2, 3]}]}}, "entry 1 has bbox"),
        ({"m": {"images": [{**ENTRIES[0], "bbox": [1, 2, -3, 4]}]}}, "entry 1 has box"),
        ({"m": {"images": ENTRIES}, "s": {"seeds": ["x.jpg"]}}, "'x.jpg' is not in the metadata"),
        ({"m": {"images": ENTRIES}, "s": {"images": [{"path": "x.jpg"}]}}, "'x.jpg' is not in the metadata"),
        ({"m": {"images": ENTRIES}, "n": {"images": [{**ENTRIES[0], "id": "p9"}]}}, r"m.json, n.json.*\(entry 1, 5\)"),
        ({"m": {"images": []}}, "no file holds metadata"),
        ({"m": {"pictures": []}}, "neither metadata"),
    ],
)
def test_vsd_faults(tmp_path: Path, contents: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read("vsd", *vsd(tmp_path, **contents))


def test_vsd_is_told_by_its_shape_and_doubt_is_an_error(tmp_path: Path) -> None:
    files = vsd(tmp_path, m={"images": ENTRIES}, plain={"images": [{"id": "1", "path": "a"}]})
    assert detect(files[:1]) == "vsd"
    with pytest.raises(InputError, match="Choose one"):
        detect(files[1:])
