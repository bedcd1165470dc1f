"""CIFAR and IDX in their true formats, and what is refused: cut files, other versions, pickles that run something."""

import gzip
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from eds.errors import InputError
from eds.images.detect import detect
from eds.images.folder import read as scan_folder
from eds.images.readers import cifar, idx
from eds.images.sources import Source
from tests.images.reading import column, read

RNG = np.random.default_rng(5)
GREY = RNG.integers(0, 256, (6, 4, 3), dtype=np.uint8)  # 6 images, 4 high, 3 wide
COLOUR = RNG.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)


def idx_bytes(array: NDArray[np.uint8]) -> bytes:
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def mnist(folder: Path, pack: Callable[[bytes], bytes] = bytes, end: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, part, labels in (("train", GREY[:4], [3, 1, 0, 3]), ("t10k", GREY[4:], [9, 0])):
        (folder / f"{name}-images-idx3-ubyte{end}").write_bytes(pack(idx_bytes(part)))
        (folder / f"{name}-labels-idx1-ubyte{end}").write_bytes(pack(idx_bytes(np.array(labels, np.uint8))))
    return folder


def flat(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return pictures.transpose(0, 3, 1, 2).reshape(len(pictures), -1)


def cifar10_binary(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows, labels in (("data_batch_1", [0, 1], [2, 0]), ("data_batch_2", [2], [1]), ("test_batch", [3], [2])):
        records: NDArray[np.uint8] = np.column_stack([np.array(labels, np.uint8), flat(COLOUR[rows])])
        (folder / f"{name}.bin").write_bytes(records.tobytes())
    (folder / "batches.meta.txt").write_text("airplane\nautomobile\nbird\n\n")
    return folder


def cifar10_python(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows, labels in (("data_batch_1", [0, 1], [2, 0]), ("data_batch_2", [2], [1]), ("test_batch", [3], [2])):
        content = {b"data": flat(COLOUR[rows]), b"labels": labels, b"filenames": [b"a.png"]}
        (folder / name).write_bytes(pickle.dumps(content, 2))
    names = {b"label_names": [b"airplane", b"automobile", b"bird"]}
    (folder / "batches.meta").write_bytes(pickle.dumps(names, 2))
    return folder


def cifar100_binary(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    labels = np.array([[1, 2], [0, 0], [1, 1], [0, 0]], np.uint8)  # superclass, class
    records = np.column_stack([labels, flat(COLOUR)])
    (folder / "train.bin").write_bytes(records[:3].tobytes())
    (folder / "test.bin").write_bytes(records[3:].tobytes())
    (folder / "fine_label_names.txt").write_text("apple\nbaby\nbear\n")
    (folder / "coarse_label_names.txt").write_text("fruit\nliving\n")
    return folder


def cifar100_python(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows, coarse, fine in (("train", [0, 1, 2], [1, 0, 1], [2, 0, 1]), ("test", [3], [0], [0])):
        content = {"data": np.asfortranarray(flat(COLOUR[rows])), "coarse_labels": coarse, "fine_labels": fine}
        (folder / name).write_bytes(pickle.dumps(content, 2))
    names = {"fine_label_names": ["apple", "baby", "bear"], "coarse_label_names": ["fruit", "living"]}
    (folder / "meta").write_bytes(pickle.dumps(names, 2))
    return folder


@pytest.mark.parametrize("end", ["", ".gz"])
def test_idx_files_become_pictures_with_phase_and_label(end: str, tmp_path: Path) -> None:
    place = mnist(tmp_path / "mnist", gzip.compress if end else bytes, end)
    assert detect([place]) == "idx"
    found = read("idx", place, root=tmp_path / "root")
    assert dict(zip(column(found, "path"), column(found, "category"), strict=True)) == {
        "mnist/train/00000.png": "3",
        "mnist/train/00001.png": "1",
        "mnist/train/00002.png": "0",
        "mnist/train/00003.png": "3",
        "mnist/test/00000.png": "9",
        "mnist/test/00001.png": "0",
    }
    assert set(column(found, "phase")) == {"train", "test"}
    assert found.images["product_id"].nunique() == 6
    for at, path in ((1, "mnist/train/00001.png"), (5, "mnist/test/00001.png")):
        assert (np.asarray(Image.open(tmp_path / "root" / path)) == GREY[at]).all()


@pytest.mark.parametrize("write", [cifar10_binary, cifar10_python])
def test_both_versions_of_cifar10_give_the_same_pictures_and_words(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    place = write(tmp_path / "c10")
    assert detect([place]) == "cifar"
    found = read("cifar", place, root=tmp_path / "root")
    assert column(found, "category") == ["bird", "airplane", "automobile", "bird"]
    assert column(found, "phase") == ["train", "train", "train", "test"]
    pictures = [np.asarray(Image.open(tmp_path / "root" / path)) for path in column(found, "path")]
    assert (np.stack(pictures) == COLOUR).all()


@pytest.mark.parametrize("write", [cifar100_binary, cifar100_python])
def test_cifar100_has_classes_and_superclasses(write: Callable[[Path], Path], tmp_path: Path) -> None:
    place = write(tmp_path / "c100")
    found = read("cifar", place, root=tmp_path / "root")
    assert column(found, "category") == column(found, "fine") == ["bear", "apple", "baby", "apple"]
    assert column(found, "coarse") == ["living", "fruit", "living", "fruit"]
    two = read("cifar", place, root=tmp_path / "root", columns={"product": "fine", "category": "coarse"})
    assert column(two, "product_id") == column(found, "fine")
    assert column(two, "category") == column(found, "coarse")
    with pytest.raises(InputError, match="no column 'colour'"):
        read("cifar", place, root=tmp_path / "root", columns={"category": "colour"})


def test_reading_again_writes_no_picture_again(tmp_path: Path) -> None:
    place = mnist(tmp_path / "mnist")
    first = read("idx", place, root=tmp_path / "root")
    file = tmp_path / "root" / "mnist/train/00000.png"
    before = file.stat().st_mtime_ns
    assert read("idx", place, root=tmp_path / "root").images.equals(first.images)
    assert file.stat().st_mtime_ns == before


def test_a_scan_of_such_a_folder_says_to_import_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="eds images import"):
        scan_folder(Source((), mnist(tmp_path / "mnist")))


class Runs:
    """What a pickle from a stranger may ask for."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(Runs.mark),)

    mark: Path


@pytest.mark.parametrize("batch", [{"data": Runs(), "labels": [0]}, Runs(), [Runs()]])
def test_a_pickle_that_would_run_something_is_refused_and_runs_nothing(batch: Any, tmp_path: Path) -> None:
    place = cifar10_python(tmp_path / "c10")
    Runs.mark = tmp_path / "made"
    (place / "data_batch_1").write_bytes(pickle.dumps(batch, 2))
    with pytest.raises(InputError, match="asks to run") as refused:
        cifar.read_arrays([place])
    assert str(place / "data_batch_1") in str(refused.value)
    assert "binary version" in str(refused.value)
    assert not Runs.mark.exists()


def cut(path: Path, length: int = -1) -> None:
    path.write_bytes(path.read_bytes()[:length])


def batch(path: Path, **changed: Any) -> None:
    path.write_bytes(pickle.dumps({"data": flat(COLOUR[:1]), "labels": [1], **changed}, 2))


IDX_FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut": (lambda place: cut(place / "train-images-idx3-ubyte"), "ends after 47 of 48 bytes"),
    "cut in its head": (lambda place: cut(place / "train-images-idx3-ubyte", 9), "states no size"),
    "empty": (lambda place: cut(place / "train-images-idx3-ubyte", 0), "begins with nothing"),
    "longer": (
        lambda place: (place / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(np.array([1, 2], np.uint8)) + b"?"),
        "goes on after its 2 bytes",
    ),
    "another kind of number": (
        lambda place: (place / "train-images-idx3-ubyte").write_bytes(bytes([0, 0, 13, 3]) + bytes(60)),
        "not an IDX file of bytes in 3 dimensions",
    ),
    "a size beyond all bounds": (
        lambda place: (place / "train-images-idx3-ubyte").write_bytes(bytes([0, 0, 8, 3]) + b"\xff" * 12),
        "4294967295",
    ),
    "labels of another file": (
        lambda place: (place / "train-labels-idx1-ubyte").write_bytes(idx_bytes(np.array([1], np.uint8))),
        "1 labels for 4 images",
    ),
    "no labels": (lambda place: (place / "train-labels-idx1-ubyte").unlink(), "no such file"),
    "cut archive": (
        lambda place: (place / "train-images-idx3-ubyte").write_bytes(gzip.compress(idx_bytes(GREY[:4]))[:-12]),
        "cannot be read as IDX",
    ),
    "other sizes": (
        lambda place: (place / "t10k-images-idx3-ubyte").write_bytes(idx_bytes(GREY[4:, :2])),
        "different sizes",
    ),
}
CIFAR_FAULTS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any], str]] = {
    "cut": (cifar10_binary, lambda place: cut(place / "data_batch_2.bin"), "no whole number of records"),
    "empty": (cifar10_binary, lambda place: cut(place / "data_batch_2.bin", 0), "0 bytes are no whole number"),
    "records of CIFAR-10 as CIFAR-100": (
        cifar100_binary,
        lambda place: (place / "train.bin").write_bytes(np.full(3073 * 3074, 250, np.uint8).tobytes()),
        "class 250 of 100",
    ),
    "both versions": (cifar10_binary, lambda place: cifar10_python(place), "several versions"),
    "both datasets": (cifar10_binary, lambda place: cifar100_binary(place), "several versions"),
    "cut pickle": (cifar10_python, lambda place: cut(place / "test_batch", 900), "cannot be read as a pickle"),
    "no labels": (
        cifar10_python,
        lambda place: (place / "test_batch").write_bytes(pickle.dumps({"data": flat(COLOUR[:1])}, 2)),
        "holds no labels",
    ),
    "no dictionary": (
        cifar10_python,
        lambda place: (place / "test_batch").write_bytes(pickle.dumps([1], 2)),
        "no dictionary",
    ),
    "labels of another number": (cifar10_python, lambda place: batch(place / "test_batch", labels=[1, 2]), "wanted (2"),
    "words as labels": (cifar10_python, lambda place: batch(place / "test_batch", labels=["a"]), "labels cannot be"),
    "numbers that are no bytes": (
        cifar10_python,
        lambda place: batch(place / "test_batch", data=flat(COLOUR[:1]).astype(np.float32)),
        "something else than bytes",
    ),
    "fewer words than classes": (
        cifar10_binary,
        lambda place: (place / "batches.meta.txt").write_text("airplane"),
        "names 1 classes, wanted 3",
    ),
}


@pytest.mark.parametrize("fault", IDX_FAULTS)
def test_damaged_idx_files_are_named_in_one_line(fault: str, tmp_path: Path) -> None:
    place = mnist(tmp_path / "mnist")
    damage, text = IDX_FAULTS[fault]
    damage(place)
    with pytest.raises(InputError) as refused:
        idx.read_arrays([place])
    assert text in str(refused.value)
    assert str(place) in str(refused.value)


@pytest.mark.parametrize("fault", CIFAR_FAULTS)
def test_damaged_batches_of_cifar_are_named_in_one_line(fault: str, tmp_path: Path) -> None:
    write, damage, text = CIFAR_FAULTS[fault]
    place = write(tmp_path / "c")
    damage(place)
    with pytest.raises(InputError) as refused:
        cifar.read_arrays([place])
    assert text in str(refused.value)
    assert str(place) in str(refused.value)
