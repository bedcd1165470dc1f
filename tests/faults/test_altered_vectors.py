"""Vectors that are not what was written: told by the stage that opens them and by status, and computed again."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eds import tables
from eds.errors import TableError
from eds.io.files import digest
from eds.project import Project
from eds.project.status import missing_files
from eds.vectors import Vectors, verified, write
from eds.vectors.model import Model, read_model


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p")


def write_vectors(project: Project, name: str = "m") -> Path:
    rng = np.random.default_rng(1)
    model = Model(name, {"loader": "test"}, 16, "float32", "cosine", "", "", provenance=tables.Provenance("test"))
    folder = project.path("embeddings", name)
    ids = [f"i{number}" for number in range(40)]
    write(folder, model, ids, rng.normal(size=(40, 16)).astype(np.float32))
    return folder


def damage(path: Path) -> None:
    """Zeros in the middle, as a disk writes them: the size stays."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 64] = bytes(64)
    path.write_bytes(content)


def test_altered_bytes_are_told(project: Project) -> None:
    folder = write_vectors(project)
    Vectors.open(folder)
    assert missing_files(project, "m") == []
    damage(folder / "00000.npy")
    with pytest.raises(TableError, match=r"00000\.npy is not the file that was written"):
        Vectors.open(folder)
    assert "is not the file that was written" in missing_files(project, "m")[0]
    assert [state.condition for state in project.states() if state.table == "embeddings"] == ["damaged"]
    assert {state.condition for state in project.status().tables if state.table == "embeddings"} == {"damaged"}


def test_a_file_is_hashed_once_for_each_state(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with project.writing("test"):
        pass
    folder = write_vectors(project)
    hashed: list[Path] = []

    def noted(path: Path) -> str:
        hashed.append(path)
        return digest(path)

    monkeypatch.setattr(verified, "digest", noted)
    monkeypatch.setattr(verified, "_seen", {})
    Vectors.open(folder)
    Vectors.open(folder)
    monkeypatch.setattr(verified, "_seen", {})  # another process
    Vectors.open(folder)
    assert len(hashed) <= 1
    os.utime(folder / "00000.npy")
    Vectors.open(folder)
    Vectors.open(folder)
    assert len(hashed) <= 2
    (project.root / ".eds" / "verified" / "m.json").write_text("{broken")
    monkeypatch.setattr(verified, "_seen", {})
    Vectors.open(folder)


def test_equal_vectors_have_equal_descriptions_however_long_they_took(project: Project) -> None:
    first, second = (write_vectors(project, name) for name in "ab")
    texts = [(folder / "model.json").read_text() for folder in (first, second)]
    assert texts[0] == texts[1].replace('"name": "b"', '"name": "a"')
    assert "seconds" not in json.loads(texts[0])
    (first / "timing.json").write_text(json.dumps({"seconds": 3.5, "images_per_second": 2.0}))
    assert (read_model(first).seconds, read_model(first).images_per_second) == (3.5, 2.0)
    (first / "timing.json").unlink()
    assert read_model(first).seconds == 0


def test_times_of_version_0_1_0_are_read(project: Project) -> None:
    folder = write_vectors(project)
    (folder / "timing.json").unlink()
    content = json.loads((folder / "model.json").read_text()) | {"seconds": 4.5, "images_per_second": 7.0}
    (folder / "model.json").write_text(json.dumps(content))
    assert read_model(folder).images_per_second == 7.0
    assert isinstance(pd.Series(Vectors.open(folder).ids).iloc[0], str)
