"""Readers and files that nobody knows are refused with a hint."""

from pathlib import Path

import pytest

from eds.errors import EdsError, InputError
from eds.images.detect import detect
from eds.registry import READERS


def test_unknown_readers_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EdsError, match="Did you mean table"):
        READERS.load("tabel")
    with pytest.raises(InputError, match="file not found"):
        detect([tmp_path / "none.csv"])
    (tmp_path / "a.xlsx").touch()
    with pytest.raises(InputError, match="save a table as CSV"):
        detect([tmp_path / "a.xlsx"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="eds images scan"):
        detect([tmp_path / "empty"])
