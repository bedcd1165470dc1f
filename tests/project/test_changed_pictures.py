"""Pictures that go, change and come back: their pairs leave the queues, and no label is lost."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eds.labels.judgements import Judgement
from eds.project import Project
from eds.project.changed_pictures import FILE, PictureChanges, labels_of_changed

PAIR = ["query_id", "candidate_id"]


def draw(file: Path, seed: int) -> None:
    noise = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((32, 32)).save(file)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Eight pictures, a pool, a campaign of which an expert has judged the first ten pairs."""
    made = Project.create(tmp_path / "shop")
    made.image_root.mkdir(exist_ok=True)
    for number in range(8):
        draw(made.image_root / f"{number}.png", number)
    made.scan()
    made.embed(["descriptor:hsv"])
    made.mine(k=7)
    made.pool(k=7)
    made.experts.add("ann")
    made.campaigns.create("first", ["ann"])
    tasks = made.labels.next_tasks("first", "ann", 10)
    made.labels.submit("ann", [Judgement(f"token-{task.assignment}", task.assignment, 0) for task in tasks])
    made.decide()
    return made


def queue(project: Project) -> set[tuple[str, str]]:
    return {(task.query_id, task.candidate_id) for task in project.labels.next_tasks("first", "ann", 999)}


def changes(project: Project) -> PictureChanges:
    found = project.status().pictures
    assert found is not None
    return found


def test_a_newcomer_is_compared_and_reported_when_a_judged_query_is_gone(tmp_path: Path) -> None:
    """Labels of the query that is gone count nowhere: neither in a score nor in the pools without a model."""
    project = Project.create(tmp_path / "shop")
    project.image_root.mkdir(exist_ok=True)
    for number in range(12):
        draw(project.image_root / f"{number:02}.png", number)
    project.scan()
    project.embed(["hsv=descriptor:hsv", "lbp=descriptor:lbp"])
    project.mine(k=11)
    project.pool(k=4)
    project.experts.add("ann")
    project.campaigns.create("first", ["ann"])
    tasks = project.labels.next_tasks("first", "ann", 999)
    alike = {task.assignment: int(task.query_id[1] in "147") ^ int(task.candidate_id[1] in "258") for task in tasks}
    project.labels.submit("ann", [Judgement(f"token-{name}", name, value) for name, value in alike.items()])
    project.decide()
    gone = tasks[0].query_id
    (project.image_root / gone).unlink()
    project.scan()
    project.run()
    scores = project.score(["ROC-AUC"], new={"new": "descriptor:hog"}, resamples=20)
    assert {model.model for model in scores.comparison.measures[0].models} == {"hsv", "lbp", "new"}
    assert gone not in set(scores.table["query_id"])
    project.report(tmp_path / "report.html", resamples=20)
    assert (tmp_path / "report.html").exists()


def test_pairs_of_a_picture_that_is_gone_leave_the_queues_until_it_is_back(project: Project) -> None:
    waiting, truth = queue(project), project.read("truth")
    labels = int((truth[PAIR] == "3.png").any(axis=1).sum())
    assert changes(project) == PictureChanges(0, 0, 0, 0)
    shutil.move(project.image_root / "3.png", project.root / "3.png")
    project.scan()
    assert queue(project) == {pair for pair in waiting if "3.png" not in pair}
    assert changes(project) == PictureChanges(1, 14, labels, 0)
    project.campaigns.create("second", ["ann"])
    asked = {
        name for task in project.labels.next_tasks("second", "ann", 999) for name in (task.query_id, task.candidate_id)
    }
    assert asked == {f"{number}.png" for number in range(8) if number != 3}
    decided = project.decide().pictures
    assert project.read("truth")[PAIR].equals(truth[PAIR])
    assert decided is not None
    assert decided.labels_of_gone == labels > 0
    shutil.move(project.root / "3.png", project.image_root / "3.png")
    project.scan()
    assert queue(project) == waiting
    assert changes(project).unasked == 0


def test_a_picture_that_comes_back_with_other_content_is_not_asked_about(project: Project) -> None:
    waiting = queue(project)
    shutil.move(project.image_root / "3.png", project.root / "3.png")
    project.scan()
    draw(project.image_root / "3.png", 99)
    project.scan()
    assert queue(project) == {pair for pair in waiting if "3.png" not in pair}
    assert changes(project).labels_of_changed > 0
    shutil.copy(project.root / "3.png", project.image_root / "3.png")
    project.scan()
    assert queue(project) == waiting


def test_labels_of_a_changed_picture_are_kept_and_told_until_the_old_file_is_back(project: Project) -> None:
    waiting, truth = queue(project), project.read("truth")
    judged = {tuple(pair) for pair in truth[PAIR].to_numpy() if "2.png" in pair}
    shutil.copy(project.image_root / "2.png", project.root / "2.png")
    draw(project.image_root / "2.png", 99)
    project.scan()
    assert queue(project) == {pair for pair in waiting if "2.png" not in pair}
    assert {tuple(pair) for pair in labels_of_changed(project).to_numpy()} == judged
    assert changes(project).labels_of_changed == len(judged) > 0
    assert len(project.read("truth")) == len(truth)
    decided = project.decide().pictures
    assert decided is not None
    assert decided.labels_of_changed == len(judged)
    draw(project.image_root / "2.png", 100)
    project.scan()
    assert changes(project).labels_of_changed == len(judged)
    shutil.copy(project.root / "2.png", project.image_root / "2.png")
    project.scan()
    assert changes(project).labels_of_changed == 0
    assert queue(project) == waiting, "the pairs are asked again, also those that nobody has judged"
    assert (project.root / FILE).exists()
