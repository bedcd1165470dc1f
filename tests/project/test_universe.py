"""The universe of a project follows the lists of its pool; draws of older versions are restricted to it."""

import shutil
from pathlib import Path

import pytest

from eds.project import Project
from eds.project.budget import BudgetOptions
from eds.tables import Provenance
from eds.universe import ALL_PAIRS, PairRules, Universe
from tests.project.shops import PAIR, Design, draw_shop, judge, make_project

OLD = Path(__file__).parents[1] / "fixtures" / "projects" / "0.1.0"
TINY = Design(products=30, queries=10, prevalence=0.1, models=3)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(draw_shop(TINY, 1), tmp_path)
    made.mine(k=8)
    made.pool(["m0", "m1"], k=3)
    return made


def test_it_follows_the_lists_of_the_pools_models(project: Project) -> None:
    images = project.read("images")
    drawn = project.draw_random(20)
    assert drawn.universe.size == Universe(images, PairRules()).size
    assert set(drawn.table.loc[drawn.table["origin"] == "random", "stratum"]) == {"all@product"}
    project.mine("m2", k=8, one_per_product=False, exclude_product=False)  # of no model of the pool
    status = project.status().universe
    assert status is not None
    assert status.rules == PairRules()
    project.mine(k=8, one_per_product=False)
    status = project.status().universe
    assert status is not None
    assert status.rules == PairRules(one_per_product=False)


def test_the_papers_universe_is_a_setting_and_an_option(project: Project, tmp_path: Path) -> None:
    every = Universe(project.read("images"), ALL_PAIRS).size
    drawn = project.draw_random(40, universe="all")
    assert (drawn.universe.size, drawn.universe.unit) == (every, "image")
    judge(draw_shop(TINY, 1), project, project.read("suspects"), tmp_path / "votes.csv")
    by_rules, paper = project.analyse("prevalence").result, project.analyse("prevalence", universe="all").result
    assert paper.universe.size == paper.random.size == every
    assert paper.random.drawn == 40
    assert by_rules.universe.unit == "product"
    assert by_rules.random.drawn == 40 - by_rules.draws_left_out


def test_overlap_and_budget_follow_the_pool_that_was_made(project: Project) -> None:
    found = project.analyse("overlap")
    assert found.options["k"] == 3
    assert found.result["models"] == ["m0", "m1"]
    plans = {plan.name: plan for plan in project.budget().plans}
    universe = Universe(project.read("images"), PairRules())
    assert plans["all pairs"].pairs == universe.size == project.budget().scope.pairs
    assert plans["pool, at most"].pairs == 2 * 3 * 10
    assert plans["pool, as it is"].pairs == project.suspects().pairs
    other = {plan.name: plan for plan in project.budget(BudgetOptions(k=5)).plans}
    assert other["pool, at most"].pairs == 2 * 5 * 10
    assert "pool, as it is" not in other


def test_the_budget_has_one_source_of_seconds(project: Project, tmp_path: Path) -> None:
    before = project.budget()
    assert not before.seconds.measured
    assert before.machines.plan.expert_hours == pytest.approx(before.plans[-1].hours)
    suspects = project.read("suspects")
    votes = suspects[PAIR].assign(expert_id="ann", value=1, seconds=4.0)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    project.labels.import_votes(tmp_path / "votes.csv", "timed", new_experts=True, new_pairs=True)
    after = project.budget()
    assert after.seconds.measured
    assert after.seconds.value == 4.0
    assert after.machines.plan.expert_hours == pytest.approx(after.plans[-1].hours)
    assert after.plans[-1].hours == pytest.approx(before.plans[-1].hours * 4 / 15)
    given = project.budget(BudgetOptions(seconds=7.0))
    assert (given.seconds.value, given.seconds.measured) == (7.0, False)


def test_draws_of_an_older_version_are_restricted(tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "project")
    project = Project.open(tmp_path / "project")
    project.labels.upgrade()
    found = project.analyse("prevalence").result
    suspects, universe = project.read("suspects"), Universe(project.read("images"), PairRules())
    drawn = suspects[suspects["origin"] == "random"]
    inside = int((universe.numbers(drawn) >= 0).sum())
    assert found.universe.size == universe.size
    assert found.draws_left_out == len(drawn) - inside > 0
    assert found.random.drawn == inside
    more = project.draw_random(3)  # and drawing goes on, in the new universe
    assert set(more.table.loc[more.table["origin"] == "random", "stratum"]) == {"all", "all@product"}


def test_without_images_there_is_no_universe(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "empty")
    status = project.status()
    assert (status.universe, status.shares) == (None, None)
    project.write(draw_shop(TINY, 1).images, "images", Provenance("images.import"))
    assert project.status().universe is not None
    assert project.status().shares is None


def test_a_random_draw_needs_no_pool_and_is_the_same_draw_until_told_to_add(tmp_path: Path) -> None:
    made = make_project(draw_shop(TINY, 1), tmp_path)
    first = made.draw_random(20)
    again = made.draw_random(20)
    assert (first.drawn, again.drawn, again.drawn_before) == (20, 0, 20)
    assert again.table.equals(first.table)
    more = made.draw_random(20, add=True)
    assert (more.drawn, more.drawn_before) == (20, 20)
