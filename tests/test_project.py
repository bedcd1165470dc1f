import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from eds import tables
from eds.errors import InputError, LockedError, ProjectError, TableError, UnknownNameError
from eds.project import Project
from eds.tables import IMAGES, Provenance
from tests.privileges import needed

HOLD = """
import pathlib, sys, time
from eds.project import Project
with Project.open(pathlib.Path(sys.argv[1])).writing("a long command"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p")


def images() -> pd.DataFrame:
    frame = IMAGES.empty()
    frame.loc[0, ["image_id", "path", "product_id", "role"]] = ["a", "a.jpg", "a", "both"]
    return frame


def neighbors(project: Project, model: str = "hsv") -> None:
    frame = pd.DataFrame({"model": model, "query_id": ["q"], "candidate_id": ["c"], "rank": [0], "score": [1.0]})
    made_by = project.provenance("neighbors.mine", {"neighbors.k": 100}, [project.path("images")])
    project.write(frame, "neighbors", made_by, model)


def conditions(project: Project) -> dict[str, str]:
    return {state.path: state.condition for state in project.states()}


def test_a_new_project_has_every_table_absent(project: Project) -> None:
    assert set(conditions(project).values()) == {"absent"}
    assert project.config.project.name == "p"


def test_a_folder_without_project_and_one_with(tmp_path: Path, project: Project) -> None:
    with pytest.raises(ProjectError, match=r"eds.toml is missing. Run eds init"):
        Project.open(tmp_path)
    with pytest.raises(ProjectError, match="there is a project already"):
        Project.create(project.root)


def test_a_table_is_fresh_until_a_parent_changes(project: Project) -> None:
    project.write(images(), "images", Provenance("images.scan"))
    neighbors(project)
    assert project.state("neighbors", "hsv").condition == "fresh"
    assert project.state("neighbors", "hsv").rows == 1
    project.write(images().assign(role="query"), "images", Provenance("images.scan"))
    state = project.state("neighbors", "hsv")
    assert (state.condition, state.reasons) == ("stale", ("images.parquet has changed since",))
    project.path("images").unlink()
    assert project.state("neighbors", "hsv").reasons == ("images.parquet is gone",)


def test_writing_the_same_again_keeps_what_follows_fresh(project: Project) -> None:
    project.write(images(), "images", Provenance("images.scan"))
    neighbors(project)
    project.write(images(), "images", Provenance("images.scan"))
    assert project.state("neighbors", "hsv").condition == "fresh"


def test_a_changed_setting_makes_stale_and_is_named(project: Project) -> None:
    project.write(images(), "images", Provenance("images.scan"))
    neighbors(project)
    settings = project.root / "eds.toml"
    settings.write_text("[neighbors]\nk = 50\n")
    state = Project.open(project.root).state("neighbors", "hsv")
    assert state.reasons == ("neighbors.k was 100, eds.toml says 50",)


def test_a_damaged_table_is_told_and_does_not_stop_the_others(project: Project) -> None:
    project.write(images(), "images", Provenance("images.scan"))
    neighbors(project)
    project.path("images").write_bytes(b"PAR1 no")
    found = conditions(project)
    assert found["images.parquet"] == "damaged"
    assert found["neighbors/hsv.parquet"] == "stale"
    with pytest.raises(TableError, match="damaged"):
        project.read("images")


def test_some_columns_of_a_table_are_read_alone(project: Project) -> None:
    project.write(images().assign(season="summer"), "images", Provenance("images.scan"))
    some = project.read("images", columns=["role", "image_id", "season"])
    pd.testing.assert_frame_equal(some, project.read("images")[["role", "image_id", "season"]])
    arrow = pq.read_table(project.path("images"))
    pq.write_table(arrow.drop_columns("path"), project.path("images"))
    with pytest.raises(TableError, match="column path is missing"):  # also where nobody asked for it
        project.read("images", columns=["image_id"])


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a:b", "a;b", ".hidden", "x" * 101, "nul\0"])
def test_names_that_cannot_name_a_model(project: Project, name: str) -> None:
    with pytest.raises(InputError, match="cannot name a model"):
        project.path("neighbors", name)


def test_models_are_listed_by_name(project: Project) -> None:
    project.write(images(), "images", Provenance("images.scan"))
    for model in ("timm-vit.dino", "hsv"):
        neighbors(project, model)
    assert project.models("neighbors") == ["hsv", "timm-vit.dino"]


def test_a_second_writer_is_told_who_holds_the_project(project: Project) -> None:
    command = [sys.executable, "-c", HOLD, str(project.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        told = f"process {holder.pid}, a long command, since"
        with pytest.raises(LockedError, match=told), project.writing("x"):
            pass
        os.kill(holder.pid, signal.SIGKILL)
    with project.writing("after the holder was killed"):
        pass


def count_up(root: Path, times: int) -> int:
    """Add one to a number in the project as often as the lock is got; tell how often that was."""
    done = 0
    while done < times:
        try:
            with Project.open(root).writing("count"):
                number = int((root / "number").read_text())
                time.sleep(0.001)
                (root / "number").write_text(str(number + 1))
                done += 1
        except LockedError:
            time.sleep(0.001)
    return done


def test_two_processes_never_write_at_once(project: Project) -> None:
    (project.root / "number").write_text("0")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        done = sum(pool.starmap(count_up, [(project.root, 25)] * 2))
    assert int((project.root / "number").read_text()) == done == 50


def test_every_table_reads_or_says_what_to_do(tmp_path: Path) -> None:
    needed("skimage")  # embeds pictures
    project = Project.create(tmp_path / "p", {"suspects.k": 2, "neighbors.k": 4})
    project.draw_catalogue(products=6, views=2, wild=0, size=32, workers=1)
    project.embed(["hsv=descriptor:hsv"])
    project.mine()
    project.pool()
    judged = project.simulate_experts()
    labels = project.read("labels")
    assert len(labels) == judged.labels
    tables.check(labels, tables.LABELS)
    assert project.read("labels", columns=["expert_id"]).columns.tolist() == ["expert_id"]
    assert len(project.read("embeddings", "hsv")) == 12
    with pytest.raises(UnknownNameError):
        project.read("bogus")
    with pytest.raises(InputError) as caught:
        project.read("neighbors")
    assert "hsv" in caught.value.hint
    project.path("suspects").write_bytes(b"PAR1 no more")
    with pytest.raises(TableError) as caught:
        project.read("suspects")
    assert "Do not delete" in caught.value.hint  # draws are recorded nowhere else
