"""Files of torch.save read without torch: the same values, and nothing in the file is run."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eds.backbones.state_file import read_arrays
from eds.errors import InputError


class Runs:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("this would run",)


def state() -> dict[str, torch.Tensor]:
    values = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    return {
        "plain": values,
        "view of the same storage": values[1, :, ::2],
        "turned": values.permute(2, 0, 1),
        "half": torch.tensor([1.5, -2.0], dtype=torch.float16),
        "counter": torch.tensor(7),
        "empty": torch.empty(0, 3),
    }


@pytest.mark.parametrize("zipped", [True, False])
def test_values_and_shapes_are_those_of_torch(tmp_path: Path, zipped: bool) -> None:
    torch.save(state(), tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    read = read_arrays(tmp_path / "a.pth")
    assert list(read) == list(state())
    for name, tensor in state().items():
        np.testing.assert_array_equal(read[name], tensor.numpy(), strict=True)


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_a_file_is_refused_and_not_run(
    tmp_path: Path, zipped: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"weight": torch.zeros(2), "extra": Runs()}, tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=r"unexpected __builtin__\.print"):
        read_arrays(tmp_path / "a.pth")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, zipped: bool) -> None:
    torch.save(state(), tmp_path / "a.pth", _use_new_zipfile_serialization=zipped)
    whole = (tmp_path / "a.pth").read_bytes()
    for length in range(0, len(whole) - 1, 37):
        (tmp_path / "a.pth").write_bytes(whole[:length])
        with pytest.raises(InputError, match="no plain tensors, or is damaged"):
            read_arrays(tmp_path / "a.pth")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="weights file not found"):
        read_arrays(tmp_path / "none.pth")
    torch.save([torch.zeros(2)], tmp_path / "list.pth")
    (tmp_path / "number.pth").write_bytes(pickle.dumps(3))
    with zipfile.ZipFile(tmp_path / "other.pth", "w") as archive:
        archive.writestr("a/b.txt", "nothing")
    torch.save({"a": {"b": torch.zeros(2)}}, tmp_path / "nested.pth")
    for name in ("list", "number", "other", "nested"):
        with pytest.raises(InputError, match="no plain tensors, or is damaged"):
            read_arrays(tmp_path / f"{name}.pth")


def test_a_view_beyond_its_storage_is_refused(tmp_path: Path) -> None:
    torch.save({"weight": torch.arange(6.0)}, tmp_path / "a.pth", _use_new_zipfile_serialization=False)
    data = (tmp_path / "a.pth").read_bytes()
    size = b"K\x06\x85"  # the tuple (6,)
    assert data.count(size) == 1
    (tmp_path / "a.pth").write_bytes(data.replace(size, b"K\x07\x85"))
    with pytest.raises(InputError, match="reaches beyond its storage"):
        read_arrays(tmp_path / "a.pth")
