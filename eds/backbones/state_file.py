"""The tensors of a file of `torch.save`, as arrays: read without torch, and without running code in the file.

The older form is a sequence of pickles (magic number, protocol, machine, the tensors' shapes, the storages' names) and
the storages' bytes; the newer one a zip, with the shapes in `data.pkl` and each storage in `data/`. A restricted
unpickler builds dictionaries and arrays; any other global in it is an error.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.io.files import forbidden
from eds.io.unpickling import PlainUnpickler

Arrays = dict[str, npt.NDArray[Any]]

MAGIC = 0x1950A86A20F9469CFC6C  # begins the older form
STORAGES = {
    "FloatStorage": np.dtype("<f4"),
    "HalfStorage": np.dtype("<f2"),
    "DoubleStorage": np.dtype("<f8"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ByteStorage": np.dtype("u1"),
    "BoolStorage": np.dtype("?"),
}


def read_arrays(path: Path) -> Arrays:
    """The tensors of the file's state dict, by name."""
    try:
        with path.open("rb") as file:
            loaded = _of_zip(file) if file.read(2) == b"PK" else _of_pickles(file)
        if not isinstance(loaded, Mapping) or not loaded:
            raise pickle.UnpicklingError("no dictionary of tensors")
        return {str(name): _array(value) for name, value in loaded.items()}
    except PermissionError as error:
        raise forbidden(path) from error
    except FileNotFoundError as error:
        raise InputError("weights file not found", where=str(path), hint="Install its package again.") from error
    except Exception as error:  # of pickle and zipfile, in damaged files, any
        raise InputError(
            f"the file contains no plain tensors, or is damaged ({error or type(error).__name__})",
            where=str(path),
            hint="Install its package again.",
        ) from error


class _Storage:
    """The values of a storage, which the older form reads after the shapes."""

    def __init__(self, dtype: np.dtype[Any], count: int) -> None:
        self.dtype, self.count = dtype, count
        self.values: npt.NDArray[Any] | None = None

    def fill(self, data: bytes) -> None:
        """Keep the bytes; a storage that is cut is refused."""
        if len(data) != self.count * self.dtype.itemsize:
            raise pickle.UnpicklingError("a storage is cut")
        self.values = np.frombuffer(data, self.dtype)


class _Tensor:
    """A view of a storage."""

    def __init__(self, storage: _Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> None:
        self.storage, self.offset, self.size, self.stride = storage, offset, size, stride


class _Reader(PlainUnpickler):
    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> _Storage:
        """The storage of that key; its values come later."""
        kind, dtype, key, _, count, *view = pid
        if kind != "storage" or any(part is not None for part in view):
            raise pickle.UnpicklingError(f"unexpected {kind}")
        return self.storages.setdefault(str(key), _Storage(dtype, int(count)))


def _of_pickles(file: IO[bytes]) -> Any:
    file.seek(0)
    if _Reader(file).load() != MAGIC:
        raise pickle.UnpicklingError("not a file of torch.save")
    for _ in ("protocol", "machine"):
        _Reader(file).load()
    reader = _Reader(file)
    loaded = reader.load()
    for key in _Reader(file).load():
        storage, count = reader.storages[key], int.from_bytes(file.read(8), "little", signed=True)
        if count != storage.count:
            raise pickle.UnpicklingError(f"storage {key} has {count} values, not {storage.count}")
        storage.fill(file.read(count * storage.dtype.itemsize))
    return loaded


def _of_zip(file: IO[bytes]) -> Any:
    with zipfile.ZipFile(file) as archive:
        root = next(name for name in [*archive.namelist(), ""] if name.count("/") == 1 or not name).partition("/")[0]
        reader = _Reader(io.BytesIO(archive.read(f"{root}/data.pkl")))
        loaded = reader.load()
        for key, storage in reader.storages.items():
            storage.fill(archive.read(f"{root}/data/{key}"))
    return loaded


def _array(tensor: Any) -> npt.NDArray[Any]:
    """The values of a tensor, in a contiguous array."""
    if not isinstance(tensor, _Tensor) or not isinstance(tensor.storage, _Storage) or tensor.storage.values is None:
        raise pickle.UnpicklingError("not every entry is a tensor")
    values, stride = tensor.storage.values, tensor.stride
    last = tensor.offset + sum((side - 1) * step for side, step in zip(tensor.size, stride, strict=True))
    if min(tensor.offset, *tensor.size, *stride, 0) < 0 or (0 not in tensor.size and last >= len(values)):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    if math.prod(tensor.size) > len(values):  # a stride of 0 makes any number of values of one
        raise pickle.UnpicklingError("a tensor has more values than its storage")
    strides = [step * values.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(values[tensor.offset :], tensor.size, strides).copy()
