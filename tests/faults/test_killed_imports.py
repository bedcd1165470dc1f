"""An import killed at any step leaves all of it or nothing, once the next command has run."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eds import config
from eds.benchmarks.folder import export_folder
from eds.benchmarks.formats import hf
from eds.cli import cli
from eds.errors import LockedError
from eds.labels.frames import labels_frame
from eds.labels.store import open_store
from eds.project import Project
from tests.benchmarks.cases import benchmark

# Gives a command to copies of a project. In the first it ends, and its steps are counted that change the disk or the
# store. In each other one it kills itself before the n-th of them, for every `stride`-th n and for all of the last.
KILLER = """
import os, pathlib, shutil, signal, sys
import pandas, pyarrow.parquet, sqlalchemy
from eds.benchmarks import validate
from eds.benchmarks.formats import hf
from eds.cli import cli
from eds.project import import_votes, transaction
from eds.labels import database, commit_queue, migrate, transfer
template, folder, (stride, last), words = sys.argv[1], pathlib.Path(sys.argv[2]), map(int, sys.argv[3:5]), sys.argv[5:]

def counted(owner, name, at):
    real = getattr(owner, name)
    def step(*args, **options):
        at[0] -= 1
        if at[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)
    setattr(owner, name, step)

def status_when_killed_before(n):
    project = folder / str(n)
    shutil.copytree(template, project)
    child = os.fork()
    if not child:
        at = [n]
        for name in ("replace", "hardlink_to", "unlink"):
            counted(pathlib.Path, name, at)
        counted(transfer, "import_campaigns", at)
        counted(transaction, "rmtree", at)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        cli.main([*words, "-p", str(project)], standalone_mode=False)
        (folder / "steps").write_text(str(n - at[0]))
        os._exit(0)
    return os.waitpid(child, 0)[1]

print(0, status_when_killed_before(0), flush=True)
steps = int((folder / "steps").read_text())
for n in sorted({*range(1, steps + 1, stride), *range(max(1, steps + 1 - last), steps + 1)}):
    print(n, status_when_killed_before(n), flush=True)
"""

LAST = 12  # steps that are all taken, whatever the stride: the point from which all is there is among them


def killed_on_the_way(template: Path, copies: Path, stride: int, *words: str) -> list[Path]:
    """Copies of the project after a command that was killed at ever later steps; in the last of them it ended."""
    copies.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(template), str(copies), str(stride), str(LAST), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    (whole, ended), *killed = [line.split() for line in done.stdout.splitlines()]
    assert [int(ended), *(int(status) for _, status in killed)] == [0] + [signal.SIGKILL] * len(killed), done.stderr
    return [copies / n for n, _ in [*killed, (whole, ended)]]


def contents(root: Path) -> dict[str, Any]:
    """What a project holds: its tables, its pictures, and the acts of its label store."""
    project = Project(root, config.load(root / config.FILE))  # as it is: opening would undo the import
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix in (".parquet", ".png", ".tmp")]
    files = [path for path in files if ".eds" not in path.parts]
    told: dict[str, Any] = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    if project.path("labels").exists():
        store = open_store(project.path("labels"), create=False)
        acts = labels_frame(store).sort_values("label_id", ignore_index=True)
        store.close()
        told["acts"] = acts.to_csv()
    left = root / ".eds" / "excluded_images.json"
    return told | ({"excluded": left.read_text()} if left.exists() else {})


def eds(*words: Any) -> str:
    done = CliRunner().invoke(cli, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with tables, lists, pictures and votes of two campaigns."""
    root = tmp_path_factory.mktemp("exported")
    given = benchmark(root / "root")
    assert given.votes is not None
    by_pair = given.votes.groupby(["query_id", "candidate_id"]).ngroup() % 2
    campaigns = by_pair.map({0: "one", 1: "two"})
    for name, pictures in (("with pictures", True), ("without", False)):
        with export_folder(root / name) as folder:
            hf.write(replace(given, votes=given.votes.assign(campaign=campaigns)), folder, no_images=not pictures)
    return root


def fresh(root: Path, exported: Path) -> list[str]:
    """Nothing is there: not even a label store."""
    eds("init", root)
    return ["hf", str(exported / "with pictures")]


def grown(root: Path, exported: Path) -> list[str]:
    """Tables of another import, and a store in which another campaign was judged."""
    eds("init", root)
    rows = "q 0 d 1\nq 0 e 0\n"
    (root.parent / "qrels.txt").write_text(rows)
    (root.parent / "votes.csv").write_text("query_id,candidate_id,expert_id,value\nq,d,me,1\n")
    eds("benchmarks", "import", "trec", "--qrels", root.parent / "qrels.txt", "-p", root)
    eds("benchmarks", "import", "votes", root.parent / "votes.csv", "--campaign", "first", "-p", root)
    return ["hf", str(exported / "without"), "--replace"]


@pytest.mark.parametrize(("begin", "stride"), [(fresh, 3), (grown, 1)])  # fresh: a step for each picture, too
def test_a_kill_at_any_step_leaves_all_or_nothing(
    tmp_path: Path, exported: Path, begin: Callable[[Path, Path], list[str]], stride: int
) -> None:
    words = begin(tmp_path / "template", exported)
    before = contents(tmp_path / "template")
    *killed, whole = killed_on_the_way(
        tmp_path / "template", tmp_path / "copies", stride, "benchmarks", "import", *words
    )
    after = contents(whole)
    assert {"acts", "truth.parquet", "suspects.parquet", "neighbors/one.parquet"} <= after.keys()
    assert sum(name.endswith(".png") for name in after) == (12 if begin is fresh else 0)
    if begin is grown:
        assert "first" not in before["acts"]
        assert before["acts"].splitlines()[1].split(",", 1)[1] in after["acts"]
    torn = next(root for root in reversed(killed) if contents(root) not in (before, after))
    shutil.copytree(torn, tmp_path / "torn")
    ends = []
    for root in killed:
        eds("status", "-p", root)
        found = contents(root)
        ends.append(found == after)
        assert found == (after if ends[-1] else before), f"step {root.name}"
        assert not (root / ".eds" / "transaction" / "journal.json").exists()
    assert set(ends) == {False, True}
    assert ends == sorted(ends)  # from one step on, all is there
    again = killed[ends.index(False)]
    eds("benchmarks", "import", *words, "-p", again)
    assert contents(again).keys() == after.keys()
    for root in killed_on_the_way(tmp_path / "torn", tmp_path / "recoveries", stride, "status"):  # recovery killed, too
        eds("status", "-p", root)
        assert contents(root) in (before, after), f"recovery, step {root.name}"


def test_while_an_import_moves_its_tables_others_wait_and_before_that_they_read_on(tmp_path: Path) -> None:
    eds("init", tmp_path / "p")
    project = Project.open(tmp_path / "p")
    journal = project.root / ".eds" / "transaction" / "journal.json"
    journal.parent.mkdir(parents=True)
    move = {"staged": "truth.parquet", "target": "truth.parquet", "replaces": False, "sha256": ""}
    with project.writing("eds benchmarks import hf"):
        for moves, refused in (([], False), ([move], True)):
            journal.write_text(json.dumps({"token": "t", "store": False, "moves": moves}))
            done = CliRunner().invoke(cli, ["status", "-p", str(project.root)])
            assert isinstance(done.exception, LockedError) == refused
            assert journal.exists()
    assert "its changes are undone" in CliRunner().invoke(cli, ["status", "-p", str(project.root)]).stderr
    assert not journal.parent.exists()


def test_a_store_that_cannot_be_asked_is_told_and_nothing_is_decided(tmp_path: Path, exported: Path) -> None:
    eds("init", tmp_path / "p")
    stage = tmp_path / "p" / ".eds" / "transaction"
    stage.mkdir(parents=True)
    (stage / "journal.json").write_text(json.dumps({"token": "t", "store": True, "moves": []}))
    done = CliRunner().invoke(cli, ["status", "-p", str(tmp_path / "p")])
    assert "the label store does not say whether its votes were stored" in str(done.exception)
    assert (stage / "journal.json").exists()


KILLED_WHEN_ALL_PICTURES_ARE_THERE = """
import os, signal, sys
from eds.cli import cli
from eds.project import transaction
transaction.Transaction.put = lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL)
cli(sys.argv[1:])
"""


def test_pictures_outside_the_project_stay_after_a_kill_are_told_and_taken_by_the_next_import(
    tmp_path: Path, exported: Path
) -> None:
    root, pictures = tmp_path / "p", tmp_path / "pictures"
    Project.create(root, {"images.root": str(pictures)})
    words = ["benchmarks", "import", "hf", str(exported / "with pictures"), "-p", str(root)]
    done = subprocess.run([sys.executable, "-c", KILLED_WHEN_ALL_PICTURES_ARE_THERE, *words], check=False)
    assert done.returncode == -signal.SIGKILL
    there = {path: path.read_bytes() for path in pictures.rglob("*.png")}
    assert len(there) == 12
    told = CliRunner().invoke(cli, ["status", "-p", str(root)]).stderr
    assert "Files outside the project are not removed" in told
    assert sum(str(path) in told for path in there) == 10
    assert "and 2 more" in told
    assert not (root / ".eds" / "transaction").exists()
    assert {path: path.read_bytes() for path in pictures.rglob("*") if path.is_file()} == there
    eds(*words)
    assert {path: path.read_bytes() for path in pictures.rglob("*") if path.is_file()} == there
    assert Project.open(root).state("images").condition == "fresh"
