"""A run of training that is refused leaves nothing; one that is interrupted keeps what it has prepared."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from eds.errors import InputError
from eds.project import Project
from eds.project.runs import PREPARED, RECORD, running
from eds.training import pictures


def train(project: Project, files: Sequence[str], error: BaseException) -> None:
    """A run that writes some files and then ends by the error."""
    with running(project, "tuned", "a network") as folder:
        for name in files:
            (folder / name).write_bytes(b"1")
        raise error


@pytest.mark.parametrize(("error", "kept"), [(InputError("too few images"), False), (KeyboardInterrupt(), True)])
def test_what_is_left_of_a_run_that_ends_before_it_has_weights(
    tmp_path: Path, error: BaseException, kept: bool
) -> None:
    project = Project.create(tmp_path / "p")
    with pytest.raises(type(error)):
        train(project, [RECORD, *PREPARED], error)
    assert (project.root / "training" / "tuned").exists() == kept


def test_a_refused_run_deletes_no_weights(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    with pytest.raises(InputError):
        train(project, [PREPARED[0], "weights.safetensors"], InputError("other labels"))
    left = {file.name for file in (project.root / "training" / "tuned").iterdir()}
    assert {PREPARED[0], "weights.safetensors"} <= left


def test_the_names_of_prepared_pictures_are_those_of_training() -> None:
    assert PREPARED[0] == pictures.PIXELS
