"""Each reader against small files made up here, and what each refuses."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from eds import tables
from eds.errors import EdsError, InputError
from eds.images.detect import detect
from eds.images.scan import scan
from eds.images.sources import READERS, Found, Source


def read(kind: str, *files: Path, root: Path = Path("nowhere"), **options: Any) -> Found:
    """Read, and hold what comes out against the table's declaration."""
    found: Found = READERS.load(kind)(Source(files, root, **options))
    tables.check(found.images, tables.IMAGES)
    return found


def column(found: Found, name: str) -> list[Any]:
    return [None if pd.isna(value) else value for value in found.images[name]]


def png(value: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((5, 7, 3), value, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def put(root: Path, *paths: str) -> Path:
    for number, path in enumerate(paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(png(number))
    return root


# Folders


def test_a_tree_tells_category_and_product(tmp_path: Path) -> None:
    put(tmp_path, "shirts/p1/a.png", "shirts/p1/b.png", "men/coats/p1/a.png", ".hidden/p/x.png")
    found = read("folder", root=tmp_path)
    assert column(found, "image_id") == ["men/coats/p1/a.png", "shirts/p1/a.png", "shirts/p1/b.png"]
    assert column(found, "product_id") == ["men/coats/p1", "shirts/p1", "shirts/p1"]
    assert column(found, "category") == ["men/coats", "shirts", "shirts"]
    assert column(found, "path") == column(found, "image_id")


def test_other_layouts(tmp_path: Path) -> None:
    put(tmp_path, "x/a.png", "x/b.png")
    assert column(read("folder", root=tmp_path, layout="flat"), "product_id") == ["x/a.png", "x/b.png"]
    assert column(read("folder", root=tmp_path, layout="product"), "product_id") == ["x", "x"]
    assert column(read("folder", root=tmp_path, layout="category"), "category") == ["x", "x"]
    with pytest.raises(InputError, match="neither flat nor"):
        read("folder", root=tmp_path)
    with pytest.raises(InputError, match="too high for layout tree"):
        read("folder", root=tmp_path, layout="tree")


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(InputError, match="not one picture"):
        read("folder", root=tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        read("folder", root=tmp_path / "none")


# CSV, Parquet, JSON


def test_csv_with_a_map(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(
        'sku,file,colour,box_left,product_id\n007,a.jpg,"red, dark",3,NA\n008,b.jpg,,,\n', encoding="utf-8-sig"
    )
    found = read("csv", file, columns={"id": "sku", "path": "file"})
    assert column(found, "image_id") == ["007", "008"]
    assert column(found, "product_id") == ["NA", "008"]
    assert column(found, "colour") == ["red, dark", None]
    assert column(found, "box_left") == [3, None]
    assert column(found, "role") == ["both", "both"]
    assert column(found, "sha256") == [None, None]
    assert detect([file]) == "csv"


def test_parquet_and_json_keep_what_they_do_not_know(tmp_path: Path) -> None:
    rows = [{"image_id": 1, "path": "a.jpg", "tags": ["x", "y"], "price": 1.5},
            {"image_id": 2, "path": "b.jpg", "tags": ["z"], "price": None}]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps({"images": rows}))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, kind in [("a.parquet", "parquet"), ("a.json", "json"), ("a.jsonl", "json")]:
        found = read(kind, tmp_path / name)
        assert detect([tmp_path / name]) == kind
        assert column(found, "image_id") == ["1", "2"]
        assert column(found, "price") == [1.5, None]
        assert [list(tags) for tags in found.images["tags"]] == [["x", "y"], ["z"]]


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        ("a,b\n1,2\n", {}, "no column holds the path"),
        ("a,b\n1,2\n", {"path": "file"}, "no column 'file'"),
        ("a,b\n1,2\n", {"paths": "a"}, "images has no column paths"),
        ("path,path\n1,2\n", {}, "names a column twice"),
        ("path,b\n1,2,3\n", {}, "line 2 has 3 fields"),
        ("path,width\na,1.5\nb,x\n", {}, "row 1 has width '1.5'"),
        ("path\n", {}, "not one image"),
        ("image_id,path\n1,a\n1,b\n", {}, "image '1' stands there again .row 1, 2. with different path"),
        ("image_id,path\n1,a\n2,a\n", {}, "path 'a' belongs to images '1', '2'"),
        ("path,role\na,judge\n", {}, "role may hold query, candidate, both"),
    ],
)
def test_faulty_tables_are_refused(tmp_path: Path, text: str, columns: dict[str, str], reason: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=reason):
        read("csv", tmp_path / "a.csv", columns=columns)


def test_repeated_rows_count_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("path,category\na,x\nb,y\na,x\n")
    assert column(read("csv", tmp_path / "a.csv"), "path") == ["a", "b"]


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"path\ncaf\xe9.jpg\n")
    with pytest.raises(InputError, match="UTF-8"):
        read("csv", tmp_path / "a.csv")


# VSD

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
    assert "1 product ids stand in more than one folder (p1)" in found.notes[0]


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
    assert any("whole data set" in note for note in everything.notes)


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
        ({"m": {"images": [ENTRIES[0], {**ENTRIES[0], "id": "p9"}]}}, r"\(entry 0, 1\) with different product_id"),
        ({"m": {"images": [{"id": "p1"}]}}, "entry 0 has no path"),
        ({"m": {"images": [{**ENTRIES[0], "bbox": [1, 2, 3]}]}}, "entry 0 has bbox"),
        ({"m": {"images": [{**ENTRIES[0], "bbox": [1, 2, -3, 4]}]}}, "entry 0 has box"),
        ({"m": {"images": ENTRIES}, "s": {"seeds": ["x.jpg"]}}, "'x.jpg' is not in the metadata"),
        ({"m": {"images": ENTRIES}, "s": {"images": [{"path": "x.jpg"}]}}, "'x.jpg' is not in the metadata"),
        ({"m": {"images": ENTRIES}, "s": {"images": ENTRIES}}, "second file of metadata"),
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
    with pytest.raises(InputError, match="Say which"):
        detect(files[1:])


# DeepFashion


def listed(folder: Path, name: str, columns: str, *rows: str) -> None:
    (folder / name).write_text("\n".join([str(len(rows)), *([columns] if columns else []), *rows]) + "\n")


def inshop(folder: Path) -> Path:
    listed(
        folder,
        "list_eval_partition.txt",
        "image_name item_id evaluation_status",
        "img/WOMEN/Dresses/id_1/01_1_front.jpg  id_1  query",
        "img/WOMEN/Dresses/id_1/01_2_side.jpg   id_1  gallery",
        "img/MEN/Tees/id_2/01_1_front.jpg       id_2  train",
    )
    listed(folder, "list_item_inshop.txt", "", "id_1", "id_2")
    listed(
        folder,
        "list_bbox_inshop.txt",
        "image_name clothes_type pose_type x_1 y_1 x_2 y_2",
        "img/WOMEN/Dresses/id_1/01_1_front.jpg 3 1 050 049 208 254",
        "img/MEN/Tees/id_2/01_1_front.jpg 1 1 010 020 030 040",
    )
    return folder


def test_inshop(tmp_path: Path) -> None:
    found = read("deepfashion-inshop", inshop(tmp_path))
    assert detect([tmp_path]) == "deepfashion-inshop"
    assert column(found, "product_id") == ["id_1", "id_1", "id_2"]
    assert column(found, "category") == ["WOMEN/Dresses", "WOMEN/Dresses", "MEN/Tees"]
    assert column(found, "phase") == ["query", "gallery", "train"]
    assert column(found, "box_right") == [208, None, 30]
    assert column(found, "clothes_type") == ["3", None, "1"]
    assert found.notes == ("1 images have no box in list_bbox_inshop.txt: they are used whole",)


def test_consumer2shop(tmp_path: Path) -> None:
    listed(
        tmp_path,
        "list_eval_partition.txt",
        "image_pair_name_1 image_pair_name_2 item_id evaluation_status",
        "img/TOPS/T/id_1/comsumer_01.jpg img/TOPS/T/id_1/shop_01.jpg id_1 train",
        "img/TOPS/T/id_1/comsumer_02.jpg img/TOPS/T/id_1/shop_01.jpg id_1 train",
    )
    listed(
        tmp_path,
        "list_bbox_consumer2shop.txt",
        "image_name clothes_type source_type x_1 y_1 x_2 y_2",
        "img/TOPS/T/id_1/shop_01.jpg 1 1 1 2 30 40",
    )
    found = read("deepfashion-c2s", tmp_path)
    assert detect([tmp_path]) == "deepfashion-c2s"
    assert column(found, "role") == ["query", "query", "candidate"]
    assert column(found, "domain") == ["consumer", "consumer", "shop"]
    assert column(found, "category") == ["TOPS/T"] * 3
    assert column(found, "box_bottom") == [None, None, 40]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("3\n", "4\n", "line 1 says 4 rows, there are 3"),
        ("id_2  train", "id_3  train", "item id_3 is not in list_item_inshop.txt"),
        ("id_1  query", "query", "line 3 has 2 fields"),
        ("evaluation_status", "status", "has the columns"),
        ("3\n", "three\n", "line 1 is not the number"),
        ("01_2_side", "01_1_front", ".line 3, 4. with different phase"),
    ],
)
def test_faulty_lists_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    file = inshop(tmp_path) / "list_eval_partition.txt"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=reason):
        read("deepfashion-inshop", tmp_path)


# Hugging Face

FEATURES = {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": ["coat", "hat"]}}


def shard(file: Path, **columns: list[Any]) -> None:
    table = pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": FEATURES}})})
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file)


def test_shards_write_their_pictures_below_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    pictures = [{"bytes": png(1), "path": "../../evil.png"}, {"bytes": png(2), "path": None}]
    shard(tmp_path / "set" / "data" / "train-0.parquet", image=pictures, label=[1, 0], note=["a", "b"])
    found = read("huggingface", tmp_path / "set", root=root, columns={"category": "label"})
    assert detect([tmp_path / "set"]) == "huggingface"
    paths = column(found, "path")
    assert paths == ["data-train-0/00000000.png", "data-train-0/00000001.png"]
    assert [(root / path).read_bytes() for path in paths] == [png(1), png(2)]
    assert column(found, "category") == ["hat", "coat"]
    assert column(found, "phase") == ["train", "train"]
    assert column(found, "note") == ["a", "b"]
    before = (root / paths[0]).stat().st_mtime_ns
    read("huggingface", tmp_path / "set", root=root)
    assert (root / paths[0]).stat().st_mtime_ns == before
    assert len(scan(found.images, root, workers=1).images) == 2


def test_queries_and_corpus_give_roles(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for config, names in [("queries", ["a", "b"]), ("corpus", ["b", "c"])]:
        pictures = [{"bytes": png(ord(name)), "path": name} for name in names]
        shard(tmp_path / "set" / config / "test-0.parquet", id=names, image=pictures)
    pq.write_table(pa.table({"query-id": ["a"], "corpus-id": ["b"]}), tmp_path / "set" / "qrels.parquet")
    found = read("huggingface", tmp_path / "set", root=tmp_path / "root")
    roles = dict(zip(column(found, "image_id"), column(found, "role"), strict=True))
    assert roles == {"a": "query", "b": "both", "c": "candidate"}
    assert found.notes == ("qrels.parquet holds no pictures: left out",)


def test_one_id_for_two_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for number, config in enumerate(["queries", "corpus"]):
        shard(tmp_path / "set" / config / "test-0.parquet", id=["a"], image=[{"bytes": png(number), "path": None}])
    with pytest.raises(InputError, match="one picture in queries and another in corpus"):
        read("huggingface", tmp_path / "set", root=tmp_path / "root")


def test_a_folder_with_metadata(tmp_path: Path) -> None:
    put(tmp_path, "set/train/a.png", "set/train/b.png")
    (tmp_path / "set" / "train" / "metadata.csv").write_text("file_name,category\na.png,hat\nb.png,coat\n")
    found = read("huggingface", tmp_path / "set", root=tmp_path)
    assert column(found, "path") == ["set/train/a.png", "set/train/b.png"]
    assert column(found, "category") == ["hat", "coat"]
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(InputError, match="outside the image root"):
        read("huggingface", tmp_path / "set", root=tmp_path / "elsewhere")


def test_an_empty_picture_is_listed_and_two_columns_are_asked_about(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    one, none = {"bytes": png(1), "path": None}, {"bytes": None, "path": None}
    shard(tmp_path / "a.parquet", image=[one, none])
    assert read("huggingface", tmp_path / "a.parquet", root=tmp_path / "root").bad == (
        ("a.parquet row 1", "neither bytes nor path"),
    )
    shard(tmp_path / "b.parquet", image=[one], other=[one])
    with pytest.raises(InputError, match="2 columns hold pictures"):
        read("huggingface", tmp_path / "b.parquet", root=tmp_path / "root")


# The family


def test_unknown_readers_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EdsError, match="Did you mean csv"):
        READERS.load("csw")
    with pytest.raises(InputError, match="no such file"):
        detect([tmp_path / "none.csv"])
    (tmp_path / "a.xlsx").touch()
    with pytest.raises(InputError, match="Say --format"):
        detect([tmp_path / "a.xlsx"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="eds images scan"):
        detect([tmp_path / "empty"])


@pytest.mark.parametrize("name", READERS.entries())
def test_every_reader_is_there(name: str) -> None:
    assert callable(READERS.load(name))
