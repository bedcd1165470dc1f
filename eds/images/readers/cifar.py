"""CIFAR-10 and CIFAR-100, the binary or the Python version, as their archives unpack.

    cifar-10-batches-bin   data_batch_1.bin ... data_batch_5.bin, test_batch.bin, batches.meta.txt
    cifar-10-batches-py    data_batch_1 ... data_batch_5, test_batch, batches.meta
    cifar-100-binary       train.bin, test.bin, fine_label_names.txt, coarse_label_names.txt
    cifar-100-python       train, test, meta

Name the folder, or some of its files. The images are written as PNG below the image root, with their phase (train or
test). The category is the class, of CIFAR-100 the fine one; its superclass is the column `coarse` (`--map
category=coarse`, or with the fine class as product `--map product_id=fine,category=coarse`). The pickles of the Python
version are read without running what they ask for: they may build bytes, lists, dictionaries and arrays of bytes.
"""

import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError
from eds.images.embedded import ImageArrays, folder_name, write_arrays
from eds.images.sources import Catalogue, Source
from eds.io.reading import reading
from eds.io.unpickling import PlainUnpickler

USES = ("columns",)
SIDE, PIXELS = 32, 3 * 32 * 32
FILES = {  # name -> phase, and whether it is of CIFAR-100
    **{f"data_batch_{number}": ("train", False) for number in range(1, 6)},
    "test_batch": ("test", False),
    "train": ("train", True),
    "test": ("test", True),
}
AGAIN = "Unpack the archive again."
BINARY = "Use the binary version, which holds nothing but pixels and labels."
ARRAYS = ("numpy.core.multiarray", "numpy._core.multiarray")


class Batch(NamedTuple):
    """One file: pixels (n, 3072), the class of each image, and of CIFAR-100 its superclass."""

    pixels: NDArray[np.uint8]
    fine: NDArray[np.int64]
    coarse: NDArray[np.int64] | None


def fits(files: Sequence[Path]) -> bool:
    """Whether these are batches of CIFAR, or a folder with some."""
    return bool(_batches(files))


def read(source: Source) -> Catalogue:
    """Read the images with their classes, and write them below the root."""
    return write_arrays(read_arrays(source.files), source)


def read_whole(folder: Path, hundred: bool) -> ImageArrays:
    """The images of CIFAR-100, or of CIFAR-10, of a folder that holds all of it; else raises InputError."""
    wanted = {name for name, (_, of_hundred) in FILES.items() if of_hundred == hundred}
    if lacking := sorted(wanted - {path.name.removesuffix(".bin") for path in _batches([folder])}):
        raise InputError(
            f"is not the whole of CIFAR-{100 if hundred else 10}: there is no {', no '.join(lacking)}",
            where=str(folder),
            hint=AGAIN,
        )
    return read_arrays([folder])


def read_arrays(files: Sequence[Path]) -> ImageArrays:
    """The images of these files or this folder, (n, 32, 32, 3) uint8, with phase, category, fine and coarse."""
    found = _batches(files)
    kinds = {FILES[path.name.removesuffix(".bin")][1] for path in found}
    if len(kinds) != 1 or len({path.suffix for path in found}) != 1:
        raise InputError(
            "files of several versions" if found else "there are no batches of CIFAR-10 or CIFAR-100",
            where=str(files[0]) if files else "",
            hint="Name the folder that one archive unpacks to, such as cifar-10-batches-bin or cifar-100-python.",
        )
    folder, hundred = found[0].parent, kinds.pop()
    batches = [_binary(path, hundred) if path.suffix == ".bin" else _pickled(path, hundred) for path in found]
    pixels = np.concatenate([batch.pixels for batch in batches])
    phase = [FILES[path.name.removesuffix(".bin")][0] for path in found]
    rows: dict[str, Any] = {"phase": np.repeat(phase, [len(batch.pixels) for batch in batches])}
    rows["category"] = _words(folder, "fine" if hundred else "", np.concatenate([batch.fine for batch in batches]))
    if hundred:
        coarse = [batch.coarse for batch in batches if batch.coarse is not None]
        rows["fine"], rows["coarse"] = rows["category"], _words(folder, "coarse", np.concatenate(coarse))
    pictures = pixels.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
    return ImageArrays(folder_name(folder.resolve().name), np.ascontiguousarray(pictures), pd.DataFrame(rows))


def _batches(files: Sequence[Path]) -> list[Path]:
    named = [path for place in files for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
    known = [path for path in named if path.suffix in ("", ".bin") and path.name.removesuffix(".bin") in FILES]
    found = [path for path in known if path.is_file() and (path.suffix == ".bin" or _is_pickle(path))]
    return sorted(found, key=lambda path: list(FILES).index(path.name.removesuffix(".bin")))


def _is_pickle(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1) == pickle.PROTO


def _binary(path: Path, hundred: bool) -> Batch:
    """Records of one label (CIFAR-100: superclass and class) and 3,072 pixels, channel by channel."""
    with reading(path):
        content = np.frombuffer(path.read_bytes(), np.uint8)
    labels = 2 if hundred else 1
    if not len(content) or len(content) % (labels + PIXELS):
        raise InputError(
            f"{len(content):,} bytes are no whole number of records of {labels + PIXELS:,}",
            where=str(path),
            hint=f"The file is cut, or of another version. {AGAIN}",
        )
    records = content.reshape(-1, labels + PIXELS)
    coarse = records[:, 0] if hundred else None
    return _checked(path, records[:, labels:], records[:, labels - 1], coarse, hundred)


def _pickled(path: Path, hundred: bool) -> Batch:
    """A dictionary with `data`, and `labels` or `fine_labels` and `coarse_labels`."""
    content = _load(path)
    names = ("data", *(("fine_labels", "coarse_labels") if hundred else ("labels",)))
    if not isinstance(content, dict) or (lacking := [name for name in names if name not in content]):
        what = f"holds no {' and no '.join(lacking)}" if isinstance(content, dict) else "holds no dictionary"
        raise InputError(what, where=str(path), hint=f"The file is of another version. {AGAIN}")
    data = content["data"]
    with reading(path, "its labels cannot be read"):
        classes = [np.array(content[name], dtype=np.int64) for name in names[1:]]
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape != (len(classes[0]), PIXELS):
        shape = f"of shape {data.shape}" if isinstance(data, np.ndarray) else "no array"
        raise InputError(
            f"data is {shape}, wanted ({len(classes[0]):,}, {PIXELS:,})",
            where=str(path),
            hint=f"Other version? {AGAIN}",
        )
    return _checked(path, data, classes[0], classes[1] if hundred else None, hundred)


def _checked(path: Path, pixels: Any, fine: Any, coarse: Any, hundred: bool) -> Batch:
    """The batch; refuse labels that the dataset does not have, as a file read with the wrong record has."""
    most = {"class": (fine, 100 if hundred else 10), "superclass": (coarse, 20)}
    for what, (values, classes) in most.items():
        if values is not None and len(values) and not 0 <= int(min(values)) <= int(max(values)) < classes:
            raise InputError(
                f"{what} {int(max(values))} of {classes}",
                where=str(path),
                hint=f"Is the file of CIFAR-{10 if hundred else 100}? {AGAIN}",
            )
    if coarse is not None and len(coarse) != len(fine):
        raise InputError(f"{len(coarse):,} superclasses of {len(fine):,} images", where=str(path), hint=AGAIN)
    wide = None if coarse is None else np.asarray(coarse, np.int64)
    return Batch(np.asarray(pixels, np.uint8), np.asarray(fine, np.int64), wide)


def _words(folder: Path, level: str, labels: NDArray[np.int64]) -> list[str]:
    """The labels' names by the file that the archive brings, or their numbers where it is not there."""
    lists = [f"{level}_label_names.txt" if level else "batches.meta.txt", "meta" if level else "batches.meta"]
    there = next((folder / name for name in lists if (folder / name).is_file()), None)
    names: list[str] = []
    if there is not None and there.suffix == ".txt":
        with reading(there):
            names = there.read_text(encoding="utf-8").split()
    elif there is not None:
        content = _load(there)
        listed = content.get(f"{level}_label_names" if level else "label_names") if isinstance(content, dict) else []
        names = [str(name) for name in listed or []]
    if there is not None and len(names) <= labels.max():
        raise InputError(f"names {len(names)} classes, wanted {labels.max() + 1}", where=str(there), hint=AGAIN)
    return [names[label] if names else str(label) for label in labels.tolist()]


def _load(path: Path) -> Any:
    """A pickle of plain values and arrays of bytes, with text for bytes; nothing that it names is run."""
    with reading(path, "cannot be read as a pickle of CIFAR", f"{AGAIN} {BINARY}"):
        return _text(_Plain(path).load(), path)


def _text(value: Any, path: Path) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, dict):
        return {_text(key, path): _text(entry, path) for key, entry in value.items()}
    return [_text(entry, path) for entry in value] if isinstance(value, list) else _array(value, path)


class _Plain(PlainUnpickler):
    """An unpickler that knows arrays of bytes alone, as values of its own: numpy reads nothing of a strange file."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.BytesIO(path.read_bytes()), encoding="bytes")
        self.path = str(path)

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            **{(place, "_reconstruct"): _reconstruct for place in ARRAYS},
            ("_codecs", "encode"): _encode,
        }
        known |= {("numpy", "ndarray"): _Array, ("numpy", "dtype"): _Kind}
        if (module, name) not in known:
            raise InputError(f"asks to run {module}.{name}: this is not a batch of CIFAR", where=self.path, hint=BINARY)
        return known[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("asks for something outside of itself", where=self.path, hint=BINARY)


class _Kind:
    """A dtype: its name."""

    def __init__(self, name: Any = "", *rest: Any) -> None:
        self.name = name

    def __setstate__(self, state: Any) -> None:
        """Byte order and alignment, which bytes do not have."""


class _Array:
    """An array's shape, kind and bytes."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: Any) -> None:
        self.state = tuple(state)


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """Bytes as protocol 2 of Python 3 writes them."""
    return text.encode("latin1")


def _array(value: Any, path: Path) -> Any:
    """The numpy array of what was read; other values as they are."""
    if not isinstance(value, _Array):
        return value
    _, shape, kind, turned, content = value.state
    if not isinstance(kind, _Kind) or kind.name not in ("u1", b"u1", "|u1") or not isinstance(content, bytes):
        raise InputError("holds an array of something else than bytes", where=str(path), hint=BINARY)
    return np.frombuffer(content, np.uint8).reshape(shape, order="F" if turned else "C")
