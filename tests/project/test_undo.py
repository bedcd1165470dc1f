"""Undo takes back what nobody has judged; the pool's depth goes down and up; every number follows."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import DeclinedError, EdsError, InputError
from eds.project import Project
from eds.project.labels import Judgement
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project


@pytest.fixture(scope="module")
def shop() -> Shop:
    return draw_shop(Design(products=30, queries=8, models=2, prevalence=0.06), 1)


@pytest.fixture(scope="module")
def made(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Project:
    result = make_project(shop, tmp_path_factory.mktemp("made"))
    result.mine(k=14)
    result.pool(k=3, batch=10)
    return result


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    shutil.copytree(made.root.parent, tmp_path, dirs_exist_ok=True)
    return Project.open(tmp_path / made.root.name)


def judge_some(shop: Shop, project: Project, file: Path, every: int = 3) -> pd.DataFrame:
    """Every third suspect gets a label; these pairs."""
    pairs = project.read("suspects")[PAIR].drop_duplicates().iloc[::every]
    judge(shop, project, pairs, file)
    return pairs


def test_the_pool_goes_down_and_up_and_is_what_it_was(shop: Shop, project: Project, tmp_path: Path) -> None:
    small, at_small = project.read("suspects"), project.status()
    big = project.pool(k=6, batch=10)
    assert big.new > 0
    judge_some(shop, project, tmp_path / "v.csv")
    before, scores = project.read("suspects"), project.score(["VSD-HR@3", "ROC-AUC"], resamples=0).table
    shares, votes, truth = project.status().shares, project.read("labels"), project.read("truth")
    down = project.pool(k=3, batch=10)
    assert (down.size, down.new, down.left) == (len(small), 0, big.new)
    assert 0 < down.left_judged < down.left
    now = project.read("suspects")
    assert now.equals(small)
    assert project.status().universe == at_small.universe
    prevalence = project.analyse("prevalence").result.to_dict()
    assert prevalence["pool"]["image_pairs"] == len(small)
    assert project.read("labels").equals(votes)
    assert project.read("truth").equals(truth)
    assert project.score(["VSD-HR@3", "ROC-AUC"], resamples=0).table["value"].tolist() == scores["value"].tolist()
    up = project.pool(k=6, batch=10)
    assert (up.new, up.left, up.size) == (big.new, 0, big.size)
    order = [*PAIR, "origin"]
    pd.testing.assert_frame_equal(
        project.read("suspects").sort_values(order, ignore_index=True), before.sort_values(order, ignore_index=True)
    )
    assert repr(project.status().shares) == repr(shares)  # NaN equals itself


def test_an_undone_draw_counts_no_more_and_its_labels_stay(shop: Shop, project: Project, tmp_path: Path) -> None:
    judge_some(shop, project, tmp_path / "a.csv", 1)
    first = project.draw_random(20)
    before, shares = project.read("suspects"), project.status().shares
    project.draw_random(15, add=True)
    judge(shop, project, project.read("suspects").iloc[::2], tmp_path / "b.csv")
    scores = project.score(["ROC-AUC"], resamples=0).table["value"].tolist()
    truth = project.read("truth")
    plan = project.undo("draw-3", dry_run=True)
    assert len(project.read("suspects")) == len(before) + 15
    done = project.undo("draw-3")
    assert (done.taken_back, done.judged) == (plan.taken_back, plan.judged)
    assert done.taken_back + done.judged == 15
    assert done.judged > 0
    assert project.read("suspects").equals(before)
    assert project.read("truth").equals(truth)
    assert project.score(["ROC-AUC"], resamples=0).table["value"].tolist() == scores  # no draw's label joins them
    random = project.analyse("prevalence").result.to_dict()["random"]
    assert random["drawn"] == 20
    assert first.probability == project.read("suspects").query("origin == 'random'")["probability"].iloc[0]
    project.undo("draw-2")
    assert not (project.read("suspects")["origin"] == "random").any()
    assert project.status().shares != shares
    again = project.draw_random(20)
    assert again.drawn == 20  # the draw is not remembered as done
    assert project.read("suspects")[PAIR].equals(before[PAIR])


def test_pairs_leave_the_queue_and_come_back(project: Project) -> None:
    project.experts.add("ann")
    project.experts.add("bob")
    project.pool(k=6)
    project.campaigns.create("c", ["ann", "bob"])
    asked = {(task.query_id, task.candidate_id): task for task in project.labels.next_tasks("c", "ann", 9999)}
    small = set(project.read("suspects").query("stratum == 'pool@0'")[PAIR].itertuples(index=False, name=None))
    late = next(task for pair, task in asked.items() if pair not in small)
    project.labels.submit("ann", [Judgement("one", late.assignment, 1)])
    project.pool(k=3)
    assert len(project.labels.next_tasks("c", "bob", 9999)) == len(small)
    assert set(project.campaigns.progress("c")["left"]) == {len(small)}
    project.decide()  # one vote of two decides nothing
    assert not len(project.read("truth"))
    project.pool(k=6)
    assert len(project.labels.next_tasks("c", "bob", 9999)) == len(asked)
    done = project.undo()
    assert (done.taken_back, done.judged) == (len(asked) - len(small) - 1, 1)
    assert len(project.labels.next_tasks("c", "bob", 9999)) == len(small) + 1  # what ann has begun is asked on
    assert len(project.read("labels")) == 1
    undone = project.undo("campaign-c")
    assert (undone.taken_back, undone.judged) == (len(small), 1)
    assert len(project.labels.next_tasks("c", "bob", 9999)) == 1
    with pytest.raises(InputError, match="undone already"):
        project.undo("campaign-c")


def test_the_first_pool_can_be_undone_and_made_again(shop: Shop, project: Project, tmp_path: Path) -> None:
    pool = project.read("suspects")
    project.draw_random(10)
    judge_some(shop, project, tmp_path / "v.csv")
    with pytest.raises(InputError, match="there is no entry 'draw-9'"):
        project.undo("draw-9")
    project.pool(k=4)
    with pytest.raises(InputError, match="draw-3 stands on it"):
        project.undo("draw-1")
    project.undo("draw-3")
    done = project.undo("draw-1")
    assert done.taken_back + done.judged == len(pool)
    assert set(project.read("suspects")["origin"]) == {"random"}
    assert project.status().shares is not None
    assert project.pool(k=3, batch=10).size == len(pool)
    project.undo("draw-2")
    project.undo()
    assert not project.path("suspects").exists()
    assert [entry.undone for entry in project.journal().entries if entry.name.startswith("draw")][-1]


def test_votes_are_taken_back_and_the_command_asks(shop: Shop, project: Project, tmp_path: Path) -> None:
    judge_some(shop, project, tmp_path / "v.csv")
    words = ["undo", "-p", str(project.root)]
    with pytest.raises(DeclinedError, match="--yes"):
        raise CliRunner().invoke(cli, words, env={"EDS_YES": ""}).exception or AssertionError
    assert not project.journal().entries[-1].undone
    assert CliRunner().invoke(cli, [*words, "--yes"]).exit_code == 0
    assert project.journal().entries[-1].undone
    assert not len(project.read("labels"))
    with pytest.raises(EdsError, match="would lose their label"):
        project.decide()
    assert CliRunner().invoke(cli, [*words, "--list", "--json"]).exit_code == 0
    assert CliRunner().invoke(cli, [*words, "votes-1", "--yes"]).exit_code != 0
