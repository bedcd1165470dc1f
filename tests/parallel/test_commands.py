"""The commands that work in parts write the files of those that do not, and say no to what makes no sense."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.project import Project
from eds.tables import IMAGES, Provenance, write
from eds.vectors import Model, Vectors, read_model
from eds.vectors import write as write_vectors


def shop(root: Path) -> Project:
    """A project of 120 images with vectors of one model."""
    project = Project.create(root)
    ids = [f"i{number:03d}" for number in range(120)]
    images = pd.DataFrame(
        {"image_id": ids, "path": ids, "product_id": [f"p{n // 3}" for n in range(120)], "role": "both"}
    )
    images = images.join(IMAGES.empty().reindex(range(120))[[name for name in IMAGES.names if name not in images]])
    write(images, IMAGES, project.path("images"), Provenance("test"))
    model = Model("m", {}, 8, "float32", "cosine", "p", "w", provenance=Provenance("test"))
    values = np.random.default_rng(0).standard_normal((120, 8), dtype=np.float32)
    write_vectors(project.path("embeddings", "m"), model, ids, values, shard_rows=50)
    return project


def run(project: Project, line: str, **variables: str) -> str:
    done = CliRunner().invoke(cli, [*line.split(), "-p", str(project.root)], env=variables)
    if isinstance(done.exception, EdsError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_lists_and_pool_are_the_same_files(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop")
    assert read_model(project.path("embeddings", "m")).rows == 120
    kept: dict[str, tuple[Any, ...]] = {}
    for name, options, variables in (
        ("plain", "", {}),
        ("serial", "--executor serial", {}),
        ("both", "--search faiss --executor serial", {}),
        ("variable", "", {"EDS_EXECUTOR": "serial"}),
        ("back", "--executor plain", {"EDS_EXECUTOR": "ray"}),
    ):
        run(project, f"neighbors mine -k 10 --force {options}", EDS_EXECUTOR_ROWS="40", **variables)
        project.path("suspects").unlink(missing_ok=True)
        pooling = options.replace("--search faiss", "")
        run(project, f"suspects pool -k 3 {pooling}", **variables)
        kept[name] = project.read("neighbors", "m"), project.read("suspects")
        if "faiss" not in options:
            kept[name] += (project.path("neighbors", "m").read_bytes(), project.path("suspects").read_bytes())
    for name in ("serial", "variable", "back"):
        assert kept[name][2:] == kept["plain"][2:], name
    for found, expected in zip(kept["both"], kept["plain"], strict=False):
        pd.testing.assert_frame_equal(found, expected)
    assert not any((project.root / ".eds" / "work").glob("*"))


def broken(project: Project) -> bytes:
    """Spoil the model's last shard as a failing disk does, its times unchanged; gives what was there.

    It was held against its digest before, so mining starts and goes wrong when some parts are done.
    """
    Vectors.open(project.path("embeddings", "m"))
    shard = sorted(project.path("embeddings", "m").glob("*.npy"))[-1]
    whole, status = shard.read_bytes(), shard.stat()
    shard.write_bytes(whole[:-4] + bytes(4))
    os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    return whole


def mended(project: Project, whole: bytes) -> None:
    sorted(project.path("embeddings", "m").glob("*.npy"))[-1].write_bytes(whole)


def parts(folder: Path) -> list[str]:
    """The outputs of tasks that stand below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.receipt"))


def test_a_project_that_is_its_own_place_of_work_loses_nothing(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop")
    for work in (str(project.root), "."):
        run(project, "neighbors mine -k 5 --force", EDS_EXECUTOR="serial", EDS_EXECUTOR_WORK=work)
        run(project, "suspects pool -k 3", EDS_EXECUTOR="serial", EDS_EXECUTOR_WORK=work)
        assert len(project.read("neighbors", "m")) == 120 * 5
        assert read_model(project.path("embeddings", "m")).rows == 120
        assert not parts(project.root)
        project.path("suspects").unlink()


def test_a_relative_place_of_work_is_below_the_project_and_what_others_keep_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    project = shop(tmp_path / "shop")
    (tmp_path / "work" / "neighbors").mkdir(parents=True)
    (tmp_path / "work" / "neighbors" / "of a stranger").write_text("kept")
    whole = broken(project)
    with pytest.raises(InputError, match="is not the one that was written"):
        run(project, "neighbors mine -k 5", EDS_EXECUTOR="serial", EDS_EXECUTOR_WORK="../work", EDS_EXECUTOR_ROWS="50")
    assert len(parts(tmp_path / "work")) == 2
    mended(project, whole)
    run(project, "neighbors mine -k 5", EDS_EXECUTOR="serial", EDS_EXECUTOR_WORK="../work", EDS_EXECUTOR_ROWS="50")
    assert not parts(tmp_path / "work")
    assert (tmp_path / "work" / "neighbors" / "of a stranger").read_text() == "kept"
    assert not list((tmp_path / "elsewhere").iterdir())


def test_projects_with_one_place_of_work_leave_each_others_parts_alone(tmp_path: Path) -> None:
    first, second = shop(tmp_path / "first"), shop(tmp_path / "second")
    given = {"EDS_EXECUTOR": "serial", "EDS_EXECUTOR_WORK": str(tmp_path / "work"), "EDS_EXECUTOR_ROWS": "50"}
    whole = broken(first)
    with pytest.raises(InputError, match="is not the one that was written"):
        run(first, "neighbors mine -k 5", **given)
    begun = parts(tmp_path / "work")
    copy = Project.open(shutil.copytree(first.root, tmp_path / "copy"))
    mended(copy, whole)
    for project in (second, copy):
        run(project, "neighbors mine -k 5", **given)
        assert parts(tmp_path / "work") == begun
    mended(first, whole)
    run(first, "neighbors mine -k 5", **given)
    assert not parts(tmp_path / "work")


@pytest.mark.parametrize("option", ["--threads 2", "--allow-low-recall"])
@pytest.mark.parametrize(("executor", "variable"), [("--executor serial", "plain"), ("", "processes")])
def test_what_a_search_in_parts_does_not_heed_is_refused(
    option: str, executor: str, variable: str, tmp_path: Path
) -> None:
    project = shop(tmp_path / "shop")
    name = option.split()[0]
    told = (
        f"^{name} cannot be with --executor {executor[11:] or variable}, .* Leave {name} out: .* add --executor plain"
    )
    with pytest.raises(InputError, match=told):
        run(project, f"neighbors mine -k 5 {option} {executor}", EDS_EXECUTOR=variable)
    run(project, f"neighbors mine -k 5 {option} --executor plain", EDS_EXECUTOR=variable)


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop")
    with pytest.raises(InputError, match=r"nothing answers at 127\.0\.0\.1:1 "):
        run(project, "neighbors mine --executor ray", EDS_EXECUTOR_CLUSTER="127.0.0.1:1")
