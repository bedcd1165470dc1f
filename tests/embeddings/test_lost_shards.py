"""Shards that are gone, cut or not to be read: made again, or told, and nothing sound is thrown away for them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eds.errors import InputError, TableError
from eds.vectors import Vectors, Writer, lost_shards, write
from tests.test_vectors_store import frame, model, some


@pytest.mark.parametrize("how", ["gone", "cut", "empty"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_lost_shard_is_made_again_and_no_other(tmp_path: Path, number: int, how: str) -> None:
    ids, values = some(9)
    folder, wanted = tmp_path / "m", frame(ids)
    before = write(folder, model(), ids, values, shard_rows=3).model
    shard = folder / before.shards[number].file
    content = shard.read_bytes()
    shard.unlink() if how == "gone" else shard.write_bytes(content[:-4] if how == "cut" else b"")
    assert list(lost_shards(folder, before)) == [number]
    begun = Writer(folder, model(), shard_rows=3)
    lacking = np.flatnonzero(begun.lacking(wanted)).tolist()
    assert lacking == list(range(3 * number, 3 * number + 3))
    turned = lacking[::-1]  # a run that dies here must not have its rows taken for those of the lost shard
    begun.add([ids[row] for row in turned], [None] * 3, values[turned])
    resumed = Writer(folder, model(), shard_rows=3)
    assert not resumed.lacking(wanted).any()
    after = resumed.finish(wanted, before.provenance)
    assert not lost_shards(folder, after)
    found = Vectors.open(folder)
    found.verify()
    assert np.array_equal(found.gather(ids), values)


def test_what_may_not_be_read_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids, values = some(9)
    folder = tmp_path / "m"
    write(folder, model(), ids, values, shard_rows=3)

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    for place in ("numpy.load", "pathlib.Path.read_text"):
        with monkeypatch.context() as patched:
            patched.setattr(place, refused)
            for act in (
                lambda: Vectors.open(folder),
                lambda: Writer(folder, model()),
                lambda: Writer(folder, model(), replace=True),
            ):
                with pytest.raises(InputError, match=r"may not be read \(permission denied\). Ask its owner") as caught:
                    act()
                assert "elete" not in str(caught.value)
    assert len(Vectors.open(folder)) == 9


def test_a_damaged_note_of_a_begun_run_is_told_and_replaced(tmp_path: Path) -> None:
    (tmp_path / "partial.json").write_text("{")
    with pytest.raises(TableError, match=r"partial.json is damaged"):
        Writer(tmp_path, model())
    Writer(tmp_path, model(), replace=True)
