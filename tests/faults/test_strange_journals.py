"""The journal of an interrupted import that a stranger wrote: it reaches nothing outside the project, or is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import ProjectError
from eds.io.files import digest
from eds.project import Project
from eds.project.transaction import recover


def strangers_project(root: Path, picture_root: str, pictures: list[str], moves: list[dict[str, Any]]) -> Project:
    """A project as it may come from anybody: with a journal that names these files."""
    project = Project.create(root, {"images.root": picture_root})
    stage = root / ".eds" / "transaction"
    (stage / "before").mkdir(parents=True)
    (stage / "journal.json").write_text(json.dumps({"token": "t", "store": False, "moves": moves}))
    (stage / "pictures").write_text("".join(json.dumps(one) + "\n" for one in pictures))
    return project


@pytest.mark.parametrize("picture_root", ["images", ".", "..", "absolute"])
def test_a_strangers_journal_touches_nothing_outside_the_project(tmp_path: Path, picture_root: str) -> None:
    root, outside = tmp_path / "p", tmp_path / "mine.txt"
    half = tmp_path / ".mine.txt.0-1-2.tmp"
    outside.write_text("precious")
    half.write_text("precious, too")
    named = str(tmp_path) if picture_root == "absolute" else picture_root
    move = {"staged": "x", "target": "../mine.txt", "replaces": False, "sha256": digest(outside)}
    project = strangers_project(root, named, [str(outside), "../mine.txt", "within.png"], [move])
    (root / "within.png").write_text("half")
    told = recover(project)
    assert "undone" in told
    assert str(outside) in told
    assert outside.read_text() == "precious"
    assert half.read_text() == "precious, too"
    assert not (root / "within.png").exists()
    assert not (root / ".eds" / "transaction").exists()


def test_links_in_a_strangers_project_lead_to_nothing_outside(tmp_path: Path) -> None:
    root, home = tmp_path / "p", tmp_path / "home"
    home.mkdir()
    (home / "mine.txt").write_text("precious")
    mark = {"staged": "mine.txt", "target": "mark", "replaces": True, "sha256": hashlib.sha256(b"mark").hexdigest()}
    project = strangers_project(root, "images", ["way/mine.txt", "link.txt"], [mark])
    (root / "mark").write_text("mark")
    (root / "way").symlink_to(home)
    (root / "link.txt").symlink_to(home / "mine.txt")
    before = root / ".eds" / "transaction" / "before"
    before.rmdir()
    before.symlink_to(home)
    with pytest.raises(ProjectError, match="what it replaced lies outside the project"):
        recover(project)
    assert (home / "mine.txt").read_text() == "precious"
    assert (root / "mark").read_text() == "mark"
    before.unlink()
    recover(project)
    assert (home / "mine.txt").read_text() == "precious"
    assert (root / "mark").read_text() == "mark"


@pytest.mark.parametrize("link", [".eds", ".eds/transaction/before"])
def test_what_an_import_replaced_is_kept_where_it_lies_outside(tmp_path: Path, link: str) -> None:
    """A folder of scratch that is a link: nothing is taken back, and what was there before stays to be put back."""
    root, elsewhere = tmp_path / "p", tmp_path / "scratch"
    (first := tmp_path / "first").mkdir()
    moves: list[dict[str, Any]] = []
    for name in ("images.parquet", "truth.parquet"):
        (first / name).write_text(f"new {name}")
        moves.append({"staged": name, "target": name, "replaces": True, "sha256": digest(first / name)})
    project = strangers_project(root, "images", [], moves)
    for move in moves:
        (root / move["target"]).write_text(f"new {move['target']}")
        (root / ".eds" / "transaction" / "before" / move["target"]).write_text("old")
    (root / link).rename(elsewhere)
    (root / link).symlink_to(elsewhere)
    with pytest.raises(ProjectError, match="Put the files of before back by hand"):
        recover(project)
    assert (root / ".eds" / "transaction" / "journal.json").is_file()
    for move in moves:
        assert (root / move["target"]).read_text() == f"new {move['target']}"
        assert (root / ".eds" / "transaction" / "before" / move["target"]).read_text() == "old"


MOVE = {"staged": "truth.parquet", "target": "truth.parquet", "replaces": False, "sha256": ""}


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        json.dumps({"token": "t", "store": False}).encode(),
        json.dumps({"token": 1, "store": False, "moves": []}).encode(),
        *(
            json.dumps({"token": "t", "store": False, "moves": [{**MOVE, **wrong}]}).encode()
            for wrong in ({"target": None}, {"target": "a\0b"}, {"staged": 1}, {"replaces": "yes"}, {"sha256": None})
        ),
        json.dumps({"token": "t", "store": False, "moves": ["truth.parquet"]}).encode(),
    ],
)
def test_a_journal_that_no_import_wrote_is_told_with_its_file_and_what_to_do(tmp_path: Path, journal: bytes) -> None:
    project = Project.create(tmp_path / "p")
    file = project.root / ".eds" / "transaction" / "journal.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(journal)
    done = CliRunner().invoke(cli, ["status", "-p", str(project.root)])
    assert isinstance(done.exception, ProjectError)
    assert str(file) in str(done.exception)
    assert "Move the folder" in str(done.exception)
    assert file.read_bytes() == journal


def test_lines_of_pictures_that_are_not_whole_are_passed_over(tmp_path: Path) -> None:
    project = strangers_project(tmp_path / "p", "images", ["a\0b", "within.png"], [])
    (project.root / "within.png").write_text("half")
    with (project.root / ".eds" / "transaction" / "pictures").open("ab") as file:
        file.write(b'7\n["within.png"]\n\xff\n"cut')
    assert "undone" in recover(project)
    assert not (project.root / "within.png").exists()
