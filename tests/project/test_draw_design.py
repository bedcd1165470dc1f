"""`eds suspects draw`: designs, their default, and what every answer says of p and recall after weighted draws."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.analysis.labelled_sample import labelled_samples
from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.project import Project
from eds.project.inputs import Inputs
from eds.universe import PairRules
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project
from tests.project.truth_walk import said_by_command, said_by_status

SETTINGS: dict[str, object] = {"project.seed": 4, "suspects.batch": 60}


@pytest.fixture
def shop() -> Shop:
    return draw_shop(Design(prevalence=0.04), 4)


@pytest.fixture
def project(shop: Shop, tmp_path: Path) -> Project:
    made = make_project(shop, tmp_path, SETTINGS)
    made.mine(k=20)
    made.pool(k=3)
    return made


def judge_all(shop: Shop, project: Project, file: Path) -> None:
    judge(shop, project, project.read("suspects")[PAIR], file)


def test_draws_become_weighted_when_labels_say_where_to_look(shop: Shop, project: Project, tmp_path: Path) -> None:
    first = project.draw(150)
    assert (first.design, first.drawn_by_stratum) == ("uniform", {"all": 150})
    judge_all(shop, project, tmp_path / "one.csv")
    before = said_by_status(project)
    second = project.draw(300)
    assert second.design == "weighted"
    assert second.labels >= 200
    assert second.auc is not None
    assert said_by_status(project)["p"] == before["p"], "draws that nobody judged say nothing"
    judge(shop, project, second.table[PAIR], tmp_path / "two.csv")
    after, document = said_by_status(project), said_by_command(project)
    assert document["recall"]["recall"] == after["recall"].value
    assert document["p"]["value"] == after["p"].value
    assert after["p"].high - after["p"].low < 0.75 * (before["p"].high - before["p"].low)
    truth = shop.units(project_rules(project))["value"].mean()
    assert after["p"].low <= truth <= after["p"].high
    standing = project.standing()
    assert standing.positives is not None
    assert standing.positives.value == pytest.approx(after["p"].value * Inputs(project).universe.size)
    shown = CliRunner().invoke(cli, ["standing", "-p", str(project.root)], catch_exceptions=False).stdout
    assert "p, similar pairs of all" in shown
    assert "the two can differ" not in shown
    assert standing.p_at_every_look is not None
    assert standing.p_at_every_look.low <= after["p"].low < after["p"].high <= standing.p_at_every_look.high
    assert standing.growth["p_width"].iloc[0] == pytest.approx(after["p"].high - after["p"].low)
    _, everything = labelled_samples(Inputs(project).universe, second.table, project.read("truth"))
    drawn = second.table[second.table["origin"] == "random"][PAIR].drop_duplicates()
    assert len(everything.pairs.merge(drawn, on=PAIR)) == len(drawn), "thresholds on the score use every draw"
    assert everything.weight.sum() == pytest.approx(Inputs(project).universe.of_images.size)
    rate = shop.units(replace(project_rules(project), one_per_product=False))["value"].mean()
    assert everything.weight @ everything.pairs["value"] / everything.size == pytest.approx(rate, rel=0.25)


def project_rules(project: Project) -> PairRules:
    return Inputs(project).universe.rules


def test_strata_follow_strata_and_weighted_draws_may_follow_both(shop: Shop, project: Project, tmp_path: Path) -> None:
    first = project.draw(90, design="strata")
    assert sum(first.drawn_by_stratum.values()) == 90
    assert set(first.drawn_by_stratum) == {"near", "rest"}
    assert project.draw(20).design == "strata"
    judge_all(shop, project, tmp_path / "votes.csv")
    table = project.draw(60, design="weighted").table
    assert table[table["origin"] == "random"].groupby("stratum").size().sum() == 170
    with pytest.raises(InputError, match="overlaps"):
        project.draw(10, design="uniform")


def test_weighted_draws_before_there_is_anything_to_learn_from_are_refused(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    before = project.read("suspects")
    with pytest.raises(EdsError, match="no decided labels"):
        project.draw(50, design="weighted")
    pool = before.assign(true=shop.value(before))
    judge(shop, project, pool[pool["true"] == 0][PAIR], tmp_path / "negative.csv")
    with pytest.raises(InputError, match="not similar, and nothing can be learned"):
        project.draw(50, design="weighted")
    pd.testing.assert_frame_equal(project.read("suspects"), before)


def test_one_model_alone_serves(shop: Shop, tmp_path: Path) -> None:
    one = Shop(shop.images, shop.product, shop.similar, {"m0": shop.vectors["m0"]})
    project = make_project(one, tmp_path, SETTINGS)
    project.mine(k=20)
    project.pool(k=6)
    judge_all(one, project, tmp_path / "votes.csv")
    assert project.draw(40).design == "weighted"
    assert said_by_status(project)["recall"] is None
    judge_all(one, project, tmp_path / "more.csv")
    held = said_by_status(project)["recall"]
    assert 0 < held.low <= held.value <= held.high <= 1


def test_the_command_says_what_it_drew_and_rehearses(shop: Shop, project: Project) -> None:
    before = project.read("suspects")
    options = ["suspects", "draw", "-n", "30", "--design", "strata", "-p", str(project.root), "--yes"]
    told = json.loads(CliRunner().invoke(cli, [*options, "--json", "--dry-run"], catch_exceptions=False).stdout)
    assert (told["design"], told["drawn"]) == ("strata", 30)
    pd.testing.assert_frame_equal(project.read("suspects"), before)
    shown = CliRunner().invoke(cli, options, catch_exceptions=False)
    assert "30 pairs" in shown.stdout
    assert (project.read("suspects")["origin"] == "random").sum() == 30
    undone = project.undo()
    assert undone is not None
    pd.testing.assert_frame_equal(project.read("suspects"), before)
