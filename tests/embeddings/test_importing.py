"""Vectors brought in: the same from every format, and refused with every fault when they cannot be used."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from eds.embeddings.formats import read_ids
from eds.embeddings.importing import import_vectors
from eds.errors import InputError, ProjectError
from eds.tables import Provenance
from eds.vectors import Vectors

MADE = Provenance("test")
COUNT, DIMENSION = 11, 5
Floats = np.ndarray[Any, np.dtype[Any]]


def images(count: int = COUNT) -> pd.DataFrame:
    return pd.DataFrame({"image_id": [f"i{number}" for number in range(count)]})


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that eleven vectors come in several blocks."""
    monkeypatch.setattr("eds.embeddings.formats.BLOCK", 4)


@pytest.fixture
def values() -> Floats:
    return np.random.default_rng(0).standard_normal((COUNT, DIMENSION)).astype(np.float32)


@pytest.fixture
def ids(tmp_path: Path) -> Path:
    path = tmp_path / "ids.txt"
    path.write_text("".join(f"{name}\n" for name in images()["image_id"]))
    return path


def bring(
    vectors: Path, ids: Path | None, into: Path, catalogue: pd.DataFrame | None = None, **options: Any
) -> Vectors:
    given = images() if catalogue is None else catalogue
    import_vectors("v", vectors, ids, given, into, provenance=MADE, shard_rows=4, **options)
    opened = Vectors.open(into)
    opened.verify()
    return opened


@pytest.mark.parametrize(
    "kind", ["npy", "fortran", "float16", "float64", "npz", "list", "fixed", "safetensors", "half"]
)
def test_every_format_gives_the_same_vectors(tmp_path: Path, values: Floats, ids: Path, kind: str) -> None:
    named: Path | None = ids
    path = tmp_path / f"given.{ {'npz': 'npz', 'safetensors': 'safetensors', 'half': 'safetensors'}.get(kind, 'npy') }"
    if kind in ("npy", "fortran", "float16", "float64"):
        dtype = kind if kind.startswith("float") else "float32"
        np.save(path, np.asarray(values, dtype=dtype, order="F" if kind == "fortran" else "C"))
    elif kind == "npz":
        np.savez_compressed(path, vectors=values, notes=np.array(["a"]))
    elif kind in ("safetensors", "half"):
        save_file({"vectors": values.astype(np.float16) if kind == "half" else values}, path)
    else:
        path, named = tmp_path / "given.parquet", None
        column = pa.array(values.tolist(), pa.list_(pa.float32(), DIMENSION if kind == "fixed" else -1))
        pq.write_table(pa.table({"image_id": images()["image_id"].tolist(), "vector": column}), path, row_group_size=3)
    opened = bring(path, named, tmp_path / "v")
    exact = values.astype(np.float16).astype(np.float32) if kind in ("float16", "half") else values
    assert opened.model.dtype == ("float16" if kind in ("float16", "half") else "float32")
    assert opened.ids.tolist() == images()["image_id"].tolist()
    assert np.array_equal(opened.gather(images()["image_id"].tolist()), exact)


def test_two_lists_of_images_may_not_contradict_each_other(tmp_path: Path, values: Floats, ids: Path) -> None:
    path = tmp_path / "given.parquet"
    column = pa.array(values.tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"image_id": images()["image_id"].tolist()[::-1], "vector": column}), path)
    with pytest.raises(InputError, match=r"those that given.parquet names for its vectors\. Leave the list out"):
        bring(path, ids, tmp_path / "v")
    ids.write_text("".join(f"{name}\n" for name in images()["image_id"][::-1]))
    assert np.array_equal(bring(path, ids, tmp_path / "v").gather(["i0"])[0], values[-1])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "i0\ni1\n"),
        ("a.csv", "i0,x\ni1,y\n"),
        ("a.csv", "name,x\ni0,x\ni1,y\n"),
        ("a.csv", "x,image_id\n9,i0\n9,i1\n"),
        ("a.tsv", '\ufeffimage_id\tx\n"i0"\t1\ni1\t1'),
    ],
)
def test_ids_are_read_from_text_of_any_shape(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_ids(tmp_path / name, 2, {"i0", "i1"}) == ["i0", "i1"]


def test_ids_are_read_from_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2], "image_id": ["i0", "i1"]}), tmp_path / "a.parquet")
    assert read_ids(tmp_path / "a.parquet", 2, set()) == ["i0", "i1"]


def test_all_faults_are_told_at_once(tmp_path: Path, values: Floats) -> None:
    values[0, 1], values[1], values[7, 0] = np.nan, 0, np.inf
    np.save(tmp_path / "v.npy", values)
    (tmp_path / "ids.txt").write_text("i0\ni1\ni2\ni3\ni3\nstranger\ni6\ni7\n")
    with pytest.raises(InputError) as caught:
        bring(tmp_path / "v.npy", tmp_path / "ids.txt", tmp_path / "v")
    for told in (
        "8 ids for 11 vectors",
        "1 duplicate ids: 'i3'",
        "1 ids are not in table images: 'stranger'",
        "5 images have no vector (--partial allows that): 'i10', 'i4', 'i5', 'i8', 'i9'",
        "2 vectors are not finite as float32: 'i0', 'i7'",
        "1 vectors are all zero: 'i1'",
    ):
        assert told in str(caught.value)
    assert not (tmp_path / "v").exists()


def test_images_without_a_vector_are_allowed_on_request(tmp_path: Path, values: Floats, ids: Path) -> None:
    np.save(tmp_path / "v.npy", values)
    assert len(bring(tmp_path / "v.npy", ids, tmp_path / "v", images(20), partial=True)) == COUNT


def test_what_half_precision_cannot_hold_is_refused(tmp_path: Path, values: Floats, ids: Path) -> None:
    values[4] = 1e6
    np.save(tmp_path / "v.npy", values)
    with pytest.raises(InputError, match="not finite as float16: 'i4'"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v", dtype="float16")


@pytest.mark.parametrize("kind", ["01", "bool", "signs", "packed", "packed 12"])
def test_codes_of_every_kind_become_the_same_bits(tmp_path: Path, ids: Path, kind: str) -> None:
    bits = np.random.default_rng(1).integers(0, 2, (COUNT, 12 if kind == "packed 12" else 16)).astype(np.uint8)
    stored = {"01": bits, "bool": bits.astype(bool), "signs": bits * 2.0 - 1}.get(kind, np.packbits(bits, axis=1))
    np.save(tmp_path / "v.npy", stored)
    limit = 12 if kind == "packed 12" else None
    opened = bring(tmp_path / "v.npy", ids, tmp_path / "v", similarity="hamming", bits=limit)
    assert (opened.model.dtype, opened.model.dimension) == ("bits", bits.shape[1])
    assert np.array_equal(opened.gather(images()["image_id"].tolist()), bits * 2.0 - 1)


def test_codes_of_more_than_two_values_are_refused(tmp_path: Path, values: Floats, ids: Path) -> None:
    np.save(tmp_path / "v.npy", values)
    with pytest.raises(InputError, match="not 0 and 1, -1 and 1 or packed"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v", similarity="hamming")


def test_other_vectors_of_the_same_name_are_refused_and_replaced_on_request(
    tmp_path: Path, values: Floats, ids: Path
) -> None:
    np.save(tmp_path / "v.npy", values)
    bring(tmp_path / "v.npy", ids, tmp_path / "v")
    bring(tmp_path / "v.npy", ids, tmp_path / "v")
    np.save(tmp_path / "v.npy", values + 1)
    with pytest.raises(ProjectError, match="stale"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v")
    opened = bring(tmp_path / "v.npy", ids, tmp_path / "v", replace=True)
    assert np.array_equal(opened.gather(["i3"])[0], values[3] + 1)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.parquet", "a.safetensors"])
@pytest.mark.parametrize(
    "content",
    [b"", b"rubbish", gzip.compress(b"x" * 99, mtime=0), b"\x08\0\0\0\0\0\0\0{}      "],
    ids=["empty", "rubbish", "compressed", "header"],
)
def test_damaged_files_are_told(tmp_path: Path, ids: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=str(tmp_path / name)):
        bring(tmp_path / name, ids, tmp_path / "v")


def test_what_is_not_a_matrix_of_numbers_is_refused(tmp_path: Path, values: Floats, ids: Path) -> None:
    for name, array in (("flat", values[0]), ("text", values.astype(str)), ("complex", values.astype(complex))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(InputError, match="Give"):
            bring(tmp_path / f"{name}.npy", ids, tmp_path / "v")
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):
        bring(tmp_path / "object.npy", ids, tmp_path / "v")
    np.savez(tmp_path / "two.npz", a=values, b=values)
    with pytest.raises(InputError, match="--part: a, b"):
        bring(tmp_path / "two.npz", ids, tmp_path / "v")
    assert len(bring(tmp_path / "two.npz", ids, tmp_path / "v", part="b")) == COUNT
    with pytest.raises(InputError, match=r"\.h5"):
        bring(tmp_path / "v.h5", ids, tmp_path / "v")
    with pytest.raises(InputError, match="whose vectors"):
        bring(tmp_path / "two.npz", None, tmp_path / "w", part="a")


def test_vectors_of_images_that_are_left_out_are_passed_over(tmp_path: Path, values: Floats, ids: Path) -> None:
    np.save(tmp_path / "v.npy", values)
    kept = images().iloc[[0, 3, 4, 9]]
    names = sorted(set(images()["image_id"]) - set(kept["image_id"]))
    done = import_vectors(
        "v", tmp_path / "v.npy", ids, kept, tmp_path / "m", provenance=MADE, shard_rows=3, left_out=names
    )
    assert (done.model.rows, done.computed, done.kept) == (4, 4, 0)
    opened = Vectors.open(tmp_path / "m")
    opened.verify()
    assert opened.ids.tolist() == kept["image_id"].tolist()
    assert np.array_equal(opened.gather(kept["image_id"].tolist()), values[[0, 3, 4, 9]])
    with pytest.raises(InputError, match="1 ids are not in table images: 'i1'"):
        bring(tmp_path / "v.npy", ids, tmp_path / "n", kept, left_out=names[1:])


def test_ids_may_hold_signs_that_unicode_takes_for_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_bytes("a\x85b\r\nc d\nü\u2028\n".encode())
    assert read_ids(path, 3, set()) == ["a\x85b", "c d", "ü\u2028"]


def test_other_ids_are_other_vectors(tmp_path: Path, values: Floats, ids: Path) -> None:
    np.save(tmp_path / "v.npy", values)
    (tmp_path / "wrong.txt").write_text("".join(f"{name}\n" for name in images()["image_id"][::-1]))
    bring(tmp_path / "v.npy", tmp_path / "wrong.txt", tmp_path / "v")
    with pytest.raises(ProjectError, match="stale"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v")
    opened = bring(tmp_path / "v.npy", ids, tmp_path / "v", replace=True)
    assert np.array_equal(opened.gather(["i3"])[0], values[3])


def test_plain_codes_with_a_wrong_value_are_not_taken_for_packed_ones(tmp_path: Path, ids: Path) -> None:
    codes = np.random.default_rng(1).integers(0, 2, (COUNT, 32)).astype(np.uint8)
    codes[6, 3] = 2
    np.save(tmp_path / "v.npy", codes)
    with pytest.raises(InputError, match=r"1 of 352 values are neither 0 nor 1, first of 'i6': .*--bits 256"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v", similarity="hamming")
    opened = bring(tmp_path / "v.npy", ids, tmp_path / "v", similarity="hamming", bits=256)
    assert opened.model.dimension == 256


def test_bits_of_vectors_that_are_no_codes_are_refused(tmp_path: Path, values: Floats, ids: Path) -> None:
    np.save(tmp_path / "v.npy", values)
    with pytest.raises(InputError, match="9 bits count of packed codes only"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v", bits=9)


@pytest.mark.parametrize("place", ["numpy.load", "pathlib.Path.read_text"])
def test_files_that_may_not_be_read_are_not_called_damaged(
    tmp_path: Path, values: Floats, ids: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "v.npy", values)

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(place, refused)
    with pytest.raises(InputError, match=r"(v.npy|ids.txt): it may not be read \(permission denied\). Ask its owner"):
        bring(tmp_path / "v.npy", ids, tmp_path / "v")
