"""Data sets as on Hugging Face: shards, splits, a folder with metadata, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eds.errors import InputError
from eds.images.detect import detect
from eds.images.scan import scan
from tests.images.reading import column, png, put, read
from tests.privileges import needed

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


@pytest.mark.parametrize("splits", [False, True])
def test_what_datasets_saves_to_disk_is_read(tmp_path: Path, splits: bool) -> None:
    datasets = needed("datasets")
    (tmp_path / "root").mkdir()
    pictures = [{"bytes": png(number), "path": None} for number in range(150)]
    features = datasets.Features(
        {"id": datasets.Value("string"), "image": datasets.Image(), "label": datasets.ClassLabel(names=["coat", "hat"])}
    )
    whole = datasets.Dataset.from_dict(
        {"id": [f"i{number}" for number in range(150)], "image": pictures, "label": [n % 2 for n in range(150)]},
        features,
    )
    held = datasets.DatasetDict({"train": whole.select(range(100)), "test": whole.select(range(100, 150))})
    (held if splits else whole).save_to_disk(str(tmp_path / "set"), num_shards={"train": 2, "test": 1} if splits else 2)
    assert detect([tmp_path / "set"]) == "huggingface"
    found = read("huggingface", tmp_path / "set", root=tmp_path / "root", columns={"category": "label"})
    ids, kinds = column(found, "image_id"), column(found, "category")
    assert sorted(ids) == sorted(f"i{number}" for number in range(150))
    for name, path, kind in zip(ids, column(found, "path"), kinds, strict=True):
        assert (tmp_path / "root" / path).read_bytes() == png(int(name[1:]))
        assert kind == ("coat", "hat")[int(name[1:]) % 2]
    phases = dict(zip(ids, column(found, "phase"), strict=True))
    assert (phases["i0"], phases["i149"]) == (("train", "test") if splits else ("data", "data"))
    torn = next((tmp_path / "set").rglob("*.arrow"))
    torn.write_bytes(torn.read_bytes()[:200])
    with pytest.raises(InputError, match=r"\.arrow: cannot be read"):
        read("huggingface", tmp_path / "set", root=tmp_path / "root")


def test_queries_and_corpus_give_roles(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for config, names in [("queries", ["a", "b"]), ("corpus", ["b", "c"])]:
        pictures = [{"bytes": png(ord(name)), "path": name} for name in names]
        shard(tmp_path / "set" / config / "test-0.parquet", id=names, image=pictures)
    pq.write_table(pa.table({"query-id": ["a"], "corpus-id": ["b"]}), tmp_path / "set" / "qrels.parquet")
    found = read("huggingface", tmp_path / "set", root=tmp_path / "root")
    roles = dict(zip(column(found, "image_id"), column(found, "role"), strict=True))
    assert roles == {"a": "query", "b": "both", "c": "candidate"}
    left_out, products = found.notes
    assert left_out == "qrels.parquet holds no images: left out"
    assert "--map product=COLUMN" in products


def test_one_id_for_two_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    for number, config in enumerate(["queries", "corpus"]):
        shard(tmp_path / "set" / config / "test-0.parquet", id=["a"], image=[{"bytes": png(number), "path": None}])
    with pytest.raises(InputError, match="one image in queries and another in corpus"):
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
        ("a.parquet row 2", "neither bytes nor path"),
    )
    shard(tmp_path / "b.parquet", image=[one], other=[one])
    with pytest.raises(InputError, match="2 columns hold images"):
        read("huggingface", tmp_path / "b.parquet", root=tmp_path / "root")
