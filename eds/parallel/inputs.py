"""Inputs of tasks: files whose digest is known and verified before anything is read from them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from eds import io as storage
from eds.errors import InputError
from eds.parallel.outputs import deliver
from eds.parallel.protocol import Receipt

Array = np.ndarray[Any, np.dtype[Any]]
_held: set[tuple[str, int, int, str]] = set()  # local files that were read through: address, size, version, digest


@contextmanager
def opened(receipts: Iterable[Receipt]) -> Iterator[list[Path]]:
    """The files of the receipts as local paths; remote ones are copied for the duration of the block.

    A file that is missing, cut or changed is refused by name before anything is computed from it.
    """
    with TemporaryDirectory(prefix="eds-task-") as folder:
        yield [_verified(receipt, Path(folder)) for receipt in receipts]


def save_arrays(address: str, rows: int, arrays: dict[str, Array]) -> Receipt:
    """Write arrays to one file, which is the same bytes for the same arrays."""

    def write(path: Path) -> None:
        with path.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **arrays)

    return deliver(address, rows, write)


def load_arrays(path: Path) -> dict[str, Array]:
    """Read what `save_arrays` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _verified(receipt: Receipt, folder: Path) -> Path:
    try:
        if storage.is_remote(receipt.url):
            return storage.fetched(receipt.url, folder, receipt.sha256)
        item = storage.look(receipt.url)
        seen = (receipt.url, item.size, item.version, receipt.sha256)
        if seen not in _held:
            sha256 = storage.digest(receipt.url)
            if sha256 != receipt.sha256:
                raise InputError(
                    f"the file is not the one that was written: its sha256 is {sha256[:12]}…, "
                    f"not {receipt.sha256[:12]}…",
                    where=receipt.url,
                    hint="It was changed or cut: restore it, or make it again.",
                )
            _held.add(seen)
        return storage.local_path(receipt.url)
    except storage.AbsentError as error:
        raise InputError("the file is missing", where=receipt.url, hint="Restore it, or make it again.") from error
