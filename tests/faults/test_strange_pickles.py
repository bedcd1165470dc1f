"""Pickles of others take no more memory than their file: ten bytes could ask for 64 GB."""

import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from eds.backbones.state_file import read_arrays
from eds.backbones.torchscript import read_torchscript
from eds.errors import EdsError
from eds.images.readers.cifar import read_arrays as read_cifar

NUMBER = 40_000_000  # the C implementation makes an array of 640 MB for it
ASKING = b"\x80\x02K\x01r" + NUMBER.to_bytes(4, "little") + b"."


def _alone(folder: Path) -> Path:
    (folder / "test").write_bytes(ASKING)
    return folder / "test"


def _zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "net.pt", "w") as archive:
        archive.writestr("net/data.pkl", ASKING)
        archive.writestr("net/constants.pkl", b"")
    return folder / "net.pt"


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (_alone, read_arrays),
        (_zipped, read_arrays),
        (_zipped, read_torchscript),
        (_alone, lambda path: read_cifar([path])),
    ],
)
def test_a_number_in_a_pickle_takes_no_memory(
    write: Callable[[Path], Path], read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = write(tmp_path)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = most()
    with suppress(EdsError, AttributeError, TypeError):  # `weights.read` has the boundary of TorchScript's
        read(path)
    assert most() - before < 200_000


def most() -> int:
    """The most memory that this process has had, in kB."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])  # type: ignore[index]
