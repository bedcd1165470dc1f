"""A folder of vectors in a bucket, read in ranges: the same numbers as the mapped folder, few bytes, faults named."""

import gc
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eds import io as storage
from eds import tables
from eds.errors import InputError, TableError
from eds.vectors import Model, Vectors, copy_remote, open_remote, write
from tests.object_storage import Storage

PLACE = "s3://shop/embeddings/m"
IDS = [f"i{number:03d}" for number in range(300)]


@pytest.fixture(params=["float32", "float16", "bits"])
def mapped(request: pytest.FixtureRequest, tmp_path: Path, shop: Storage) -> Vectors:
    """Vectors in three shards, and the same in the bucket."""
    kind = request.param
    model = Model(
        "m", {}, 20, kind, "hamming" if kind == "bits" else "cosine", "", "", provenance=tables.Provenance("")
    )
    draw = np.random.default_rng(1)
    array = draw.integers(0, 256, (300, 3), dtype=np.uint8) if kind == "bits" else draw.standard_normal((300, 20))
    found = write(tmp_path / "m", model, IDS, array, shard_rows=128)
    assert len(found.model.shards) == 3
    for file in (tmp_path / "m").iterdir():
        storage.put(storage.join(PLACE, file.name), file.read_bytes())
    shop.well()
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(rows=st.lists(st.integers(0, 299), max_size=12), block=st.integers(60, 200))
def test_the_numbers_are_those_of_the_mapped_folder(mapped: Vectors, rows: list[int], block: int) -> None:
    found = open_remote(PLACE)
    asked = np.array(rows, dtype=np.int64)
    np.testing.assert_array_equal(found.take(asked), mapped.take(asked))
    np.testing.assert_array_equal(found.gather([IDS[row] for row in rows]), mapped.gather([IDS[row] for row in rows]))
    for (first, theirs), (same, ours) in zip(found.blocks(block), mapped.blocks(block), strict=True):
        assert first == same
        np.testing.assert_array_equal(theirs, ours)


def test_only_what_is_asked_for_is_read(mapped: Vectors, shop: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    found = open_remote(PLACE)
    monkeypatch.setattr("eds.vectors.remote.GAP", 0)
    shop.well()
    found.take(np.array([0, 1, 2, 50, 299, 0]))
    width = mapped.model.width * np.dtype(mapped.take(np.array([0])).dtype).itemsize
    ranges = [part.removeprefix("bytes=").split("-") for method, _, part in shop.paths if method == "GET"]
    assert sorted(int(last) - int(first) + 1 for first, last in ranges) == [width, width, 3 * width]


def test_what_was_fetched_goes_with_the_object(
    mapped: Vectors, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = open_remote(PLACE)
    folder = found.folder
    assert (folder / "ids.parquet").exists()
    found.verify()
    del found
    gc.collect()
    assert not folder.exists()


def test_a_copy_is_the_folder_and_goes_on_where_it_broke(mapped: Vectors, shop: Storage, tmp_path: Path) -> None:
    shop.fault = lambda method, path: "AccessDenied" if "00002" in path else None
    with pytest.raises(InputError, match="permission denied"):
        copy_remote(PLACE, tmp_path / "copy")
    shop.well()
    told: list[tuple[int, int]] = []
    found = Vectors.open(copy_remote(PLACE, tmp_path / "copy", lambda done, total: told.append((done, total))))
    found.verify()
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert [path for method, path, _ in shop.paths if method == "GET" and ".npy" in path] == [
        "/shop/embeddings/m/00002.npy"
    ]
    np.testing.assert_array_equal(found.gather(IDS), mapped.gather(IDS))


@pytest.mark.parametrize("mapped", ["float32"], indirect=True)
def test_every_shard_that_is_not_what_it_should_be_is_named(mapped: Vectors, shop: Storage) -> None:
    storage.put(f"{PLACE}/00000.npy", storage.read(f"{PLACE}/00000.npy")[:-1])
    storage.put(f"{PLACE}/00001.npy", storage.read(f"{PLACE}/00002.npy"))
    shop.client().delete_object(Bucket="shop", Key="embeddings/m/00002.npy")
    with pytest.raises(
        TableError,
        match=r"(?s)3 faults.*00000.npy is truncated: .* of .* bytes"
        r".*00001.npy holds float32.*00002.npy: there is no such object",
    ):
        open_remote(PLACE)
    storage.put(f"{PLACE}/00000.npy", b"\x93NUMPY")
    with pytest.raises(TableError, match=r"00000.npy is damaged"):
        open_remote(PLACE)


@pytest.mark.parametrize("mapped", ["float32"], indirect=True)
def test_a_changed_shard_is_found_by_its_digest(mapped: Vectors, shop: Storage, tmp_path: Path) -> None:
    whole = bytearray(storage.read(f"{PLACE}/00001.npy"))
    whole[-1] ^= 1
    storage.put(f"{PLACE}/00001.npy", bytes(whole))
    with pytest.raises(TableError, match=r"00001.npy is not the file that was written"):
        open_remote(PLACE).verify()
    with pytest.raises(TableError, match=r"00001.npy: the object is not the one that was written"):
        copy_remote(PLACE, tmp_path / "copy")


@pytest.mark.parametrize("mapped", ["float32"], indirect=True)
@pytest.mark.parametrize(
    ("key", "value", "what"),
    [("rows", 301, "301 rows"), ("file", "../../x.npy", "names a shard"), ("file", "/tmp/x.npy", "names a shard")],
)
def test_a_description_that_lies_is_refused(
    mapped: Vectors, shop: Storage, tmp_path: Path, key: str, value: object, what: str
) -> None:
    told = json.loads(storage.read(f"{PLACE}/model.json"))
    (told["shards"][0] if key == "file" else told)[key] = value
    storage.put(f"{PLACE}/model.json", json.dumps(told).encode())
    for act in (lambda: open_remote(PLACE), lambda: copy_remote(PLACE, tmp_path / "copy")):
        with pytest.raises(TableError, match=what):
            act()


def test_nothing_there_is_told(shop: Storage) -> None:
    with pytest.raises(TableError, match=r"model.json is missing.*embeddings/<model>"):
        open_remote("s3://shop/none")
