"""What a user may not read or write: told in a line, with exit code 2, and never as damage."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rich.console  # now, as nobody may not read the libraries of root's Python
import rich.table  # noqa: F401

from eds.cli import main
from eds.project import Project
from eds.tables import IMAGES, Provenance
from tests.images.reading import put

NOBODY = 65534
Call = Callable[..., str]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root, who may do everything, lays that down for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def project() -> Iterator[Project]:
    """A project whose table images everybody may read; its folder nobody may write to."""
    folder = Path(tempfile.mkdtemp(prefix="eds-permissions-"))
    folder.chmod(0o755)
    made = Project.create(folder / "p")
    put(made.root / "images", "a/b/0.png", "a/b/1.png")
    frame = IMAGES.empty()
    for number in range(2):
        frame.loc[number, ["image_id", "path", "product_id", "role"]] = [str(number), f"a/b/{number}.png", "b", "both"]
    made.write(frame, "images", Provenance("images.import"))
    (made.root / "eds.toml").write_text('[embeddings]\nmodels = ["descriptor:hsv"]\n')
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield made
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Type a command as somebody without rights; what it said on stderr, or else on stdout."""

    def run(*words: object, code: int = 2) -> str:
        monkeypatch.setattr(sys, "argv", ["eds", *map(str, words)])
        with unprivileged(), pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0) == code, said.err
        assert "Traceback" not in said.err
        return said.err if code else said.out

    return run


@pytest.mark.parametrize("words", [["images", "scan", "--replace"], ["embeddings", "compute"], ["neighbors", "mine"]])
@pytest.mark.parametrize("made", [False, True])
def test_a_project_that_may_only_be_read(project: Project, call: Call, words: list[str], made: bool) -> None:
    if made:  # and the folder of the lock may be written to, by its owner
        project.root.chmod(0o755)
        with project.writing("before"):
            pass
        (project.root / ".eds").chmod(0o555)
        project.root.chmod(0o555)
    told = call(*words, "-p", project.root)
    assert "the project cannot be written to (Permission denied). Ask its owner" in told
    assert str(project.root / ".eds") in told


def test_the_lock_is_let_go_where_its_holder_cannot_be_told(project: Project, call: Call) -> None:
    project.root.chmod(0o755)
    (project.root / ".eds").mkdir()
    (project.root / ".eds" / "holder.json").write_text("{}")
    (project.root / ".eds").chmod(0o777)
    assert "holder.json: the project cannot be written to" in call("neighbors", "mine", "-p", project.root)
    with project.writing("root, in the same process"):
        pass


def test_init_where_nobody_may_write(project: Project, call: Call) -> None:
    assert "cannot be written (Permission denied)" in call("init", project.root / "below" / "deep")


def test_settings_that_may_not_be_read(project: Project, call: Call) -> None:
    (project.root / "eds.toml").chmod(0)
    for words in (["status"], ["run"], ["images", "scan"], ["analysis", "budget"]):
        told = call(*words, "-p", project.root)
        assert told == (
            f"eds: {project.root}/eds.toml: it may not be read (permission denied). "
            "Ask its owner, or who looks after this machine, for the right to read it.\n"
        )


def test_a_table_that_may_not_be_read_is_not_called_damaged(project: Project, call: Call) -> None:
    made_by = project.provenance("truth.decide", {}, [project.path("images")])
    project.root.chmod(0o755)
    from eds.tables import TRUTH

    project.write(TRUTH.empty(), "truth", made_by)
    project.path("images").chmod(0)
    told = call("status", "-p", project.root, code=0)
    assert "unreadable" in told
    assert "images.parquet cannot be compared: " in told
    for words in (["status"], ["images", "check"], ["run"]):
        told = call(*words, "-p", project.root, code=0 if words == ["status"] else 2)
        assert "damaged" not in told
        assert "elete" not in told
    project.path("images").chmod(0o444)
    assert len(project.read("images")) == 2, "a run does not write over what it may not read"


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet", "list_eval_partition.txt"])
def test_a_list_that_may_not_be_read_is_not_to_be_mended(project: Project, call: Call, name: str) -> None:
    project.root.chmod(0o777)
    file = project.root / name
    file.write_text("x")
    file.chmod(0)
    told = call("images", "import", file, "-p", project.root, "--replace")
    assert told.startswith(f"eds: {file}: ")
    assert "ermission denied" in told
    assert "Ask its owner" in told


def test_a_folder_in_the_place_of_a_table_is_told(project: Project, call: Call) -> None:
    made_by = project.provenance("truth.decide", {}, [project.path("images")])
    project.root.chmod(0o755)
    from eds.tables import TRUTH

    project.write(TRUTH.empty(), "truth", made_by)
    project.path("images").unlink()
    project.path("images").mkdir()
    assert "it is a folder, not a file" in call("status", "-p", project.root, code=0)


def test_what_no_reader_speaks_for_is_told_by_the_command(
    project: Project, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Project) -> None:
        raise PermissionError(13, "Permission denied", "/a/file")

    monkeypatch.setattr(Project, "states", refuse)
    assert call("status", "-p", project.root).startswith("eds: /a/file: cannot be used (Permission denied). Ask its")


@pytest.mark.parametrize(
    "words", [["init", "s3://shop/proj"], ["init", "-p", "s3://shop/p"], ["status", "-p", "s3://a"]]
)
def test_a_project_is_no_address(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert "a project is a folder of this machine. Name a folder" in call(*words)
    assert not list(tmp_path.iterdir())
