"""The tensors of a TorchScript archive (OpenAI's CLIP files), read without running the program that it holds.

`torch.jit.load` would run it. The archive is a zip: `data.pkl` describes a tree of modules, whose tensors are in
`data/`. A restricted unpickler builds the tree from plain objects; any other global in it is an error.
"""

import io
import math
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch

from eds.io.unpickling import PlainUnpickler

MARK = "constants.pkl"  # what a TorchScript archive has and one of torch.save has not
STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "BoolStorage": torch.bool,
}


class _Module:
    """A module of the archive: its attributes, modules and tensors among them."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class _Reader(PlainUnpickler):
    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{root}/data.pkl")))
        self._archive, self._root = archive, root

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("__torch__"):
            return _Module
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        if module == "torch.jit._pickle":  # build_intlist and its like: typed lists
            return list
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> torch.Tensor:
        """All values of a storage, as a flat tensor."""
        _, dtype, key, _, count = pid
        data = bytearray(self._archive.read(f"{self._root}/data/{key}"))
        if len(data) != count * dtype.itemsize:
            raise pickle.UnpicklingError(f"tensor {key} is cut")
        return torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)


def _tensor(values: torch.Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> torch.Tensor:
    last = offset + sum((side - 1) * step for side, step in zip(size, stride, strict=True))
    if offset < 0 or min(stride, default=0) < 0 or (0 not in size and last >= len(values)):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    if math.prod(size) > len(values):  # a stride of 0 makes any number of values of one
        raise pickle.UnpicklingError("a tensor has more values than its storage")
    return values.as_strided(size, stride, offset)


def is_torchscript(path: Path) -> bool:
    """Whether the file is a TorchScript archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.count("/") == 1 and name.endswith(f"/{MARK}") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def read_torchscript(path: Path) -> dict[str, torch.Tensor]:
    """The parameters and buffers of the archive by their dotted names, as `state_dict()` of the module has them."""
    with zipfile.ZipFile(path) as archive:
        root = next(name for name in archive.namelist() if name.endswith(f"/{MARK}")).partition("/")[0]
        top = _Reader(archive, root).load()
    state: dict[str, torch.Tensor] = {}
    waiting = [("", top)]
    while waiting:
        prefix, module = waiting.pop()
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                state[prefix + name] = value
            elif isinstance(value, _Module):
                waiting.append((f"{prefix}{name}.", value))
    return dict(sorted(state.items()))
