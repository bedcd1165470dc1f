"""`eds standing` and `eds suspects promise`: the numbers of other verbs, the truth within, and what is missing."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import EdsError, InputError
from eds.project import Project
from eds.project.inputs import Inputs
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project
from tests.project.truth_walk import said_by_status

SETTINGS: dict[str, object] = {"project.seed": 4, "suspects.batch": 60, "neighbors.one_per_product": True}


def make(folder: Path, shop: Shop, order: str = "random") -> Project:
    project = make_project(shop, folder, SETTINGS)
    project.mine(k=30)
    project.pool(k=4, order=order)
    return project


@pytest.fixture(scope="module")
def shop() -> Shop:
    return draw_shop(Design(prevalence=0.05), 4)


@pytest.fixture(scope="module")
def judged(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("standing")
    project = make(folder, shop)
    project.draw_random(500)
    judge(shop, project, project.read("suspects")[PAIR], folder / "votes.csv")
    return project


def by_command(project: Project, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, [*words, "-p", str(project.root), "--json", "-q"], catch_exceptions=False)
    return dict(json.loads(done.stdout))


def test_every_door_says_what_the_other_verbs_say(judged: Project) -> None:
    found, status, told = judged.standing(), said_by_status(judged), by_command(judged, "standing")
    assert found.p is not None
    assert found.p == status["p"]
    assert found.recall == status["recall"]
    assert told["p"] == status["p"].to_dict()
    prevalence = judged.analyse("prevalence").result
    rates = {one.model: one.rate for one in prevalence.models}
    scores = judged.score(["ROC-AUC"], resamples=0).table.set_index("model")["value"]
    for one in found.models:
        assert one.precision == pytest.approx(rates[one.model].to_dict()["rate"])
        assert one.precision_low == pytest.approx(rates[one.model].to_dict()["low"])
        assert one.auc == pytest.approx(scores[one.model])
    shown = CliRunner().invoke(cli, ["standing", "-p", str(judged.root)], catch_exceptions=False).stdout
    assert "ROC-AUC" in shown
    assert found.positives is not None
    assert found.positives.value != pytest.approx(found.p.value * Inputs(judged).universe.size), "other evidence"
    assert "p, by random pairs alone" in shown
    assert f"by the pool's labels and the random pairs outside it: {found.positives.value:,.0f} " in shown
    assert "the two can differ" in shown


def test_limits_for_every_look_are_wider_and_shrink_with_draws(judged: Project) -> None:
    found = judged.standing()
    assert found.p is not None
    assert found.p_at_every_look is not None
    assert found.p_at_every_look.low <= found.p.low < found.p.high <= found.p_at_every_look.high
    assert found.growth["p_width"].is_monotonic_decreasing
    assert found.growth["hours"].is_monotonic_increasing
    assert found.growth["p_width"].iloc[0] == pytest.approx(found.p.high - found.p.low)
    assert found.recall is not None
    assert found.growth["recall_width"].iloc[0] == pytest.approx(found.recall.high - found.recall.low)
    inputs = Inputs(judged)
    assert found.growth["draws"].max() < inputs.universe.size - found.pool_rate.pairs, "no more than there are"
    assert len(found.plans) == 3


@pytest.mark.parametrize("order", ["random", "learned"])
def test_half_a_pool_says_what_the_whole_will(shop: Shop, tmp_path: Path, order: str) -> None:
    """Whatever the order, the intervals of half a pool hold the values of the whole."""
    project = make(tmp_path, shop, "random")
    whole = project.read("suspects")
    pool = whole.sort_values("position")
    judge(shop, project, pool[pool["batch"] < 3][PAIR], tmp_path / "a.csv")
    if order == "learned":
        project.reorder(order=order)
        pool = project.read("suspects").sort_values("position")
        open_batch = pool.loc[~pool["batch"].isin([0, 1, 2]), "batch"].min()
        judge(shop, project, pool[pool["batch"].isin([0, 1, 2, open_batch])][PAIR], tmp_path / "b.csv")
    half = project.standing()
    assert half.missing
    judge(shop, project, whole[PAIR], tmp_path / "c.csv")
    full = project.standing()
    for before, after in zip(half.models, full.models, strict=True):
        assert before.precision_low is not None
        assert before.precision_high is not None
        assert after.precision is not None
        assert before.precision_low <= after.precision <= before.precision_high
    for some, every in zip(half.plans, full.plans, strict=True):
        assert some.difference.low <= every.difference.difference <= some.difference.high
        assert every.difference.high - every.difference.low < some.difference.high - some.difference.low


def test_a_promise_is_kept_and_has_its_price(judged: Project, shop: Shop) -> None:
    universe = Inputs(judged).universe
    units = shop.units(universe.rules)
    found = judged.promise_recall(0.6)
    assert found.depth is not None
    assert found.low >= 0.6
    lists = pd.concat([judged.read("neighbors", model) for model in judged.models("neighbors")])
    deep = lists[lists["rank"] < found.depth]
    product = shop.images.set_index("image_id")["product_id"]
    held = deep.assign(unit=product[deep["candidate_id"]].to_numpy())[["query_id", "unit"]].drop_duplicates()
    assert held.merge(units)["value"].sum() / units["value"].sum() >= 0.6
    assert found.by_depth["recall"].is_monotonic_increasing
    prices = []
    judged.plan(lambda one: prices.append(one.pool(k=found.depth).price))
    assert prices == [found.price], "the pool of that depth costs what the promise says"
    assert judged.promise_recall(0.05).kept_now
    never = judged.promise_recall(0.999)
    assert never.depth is None
    assert never.price is None
    told = by_command(judged, "suspects", "promise", "--share", "0.6")
    assert told["depth"] == found.depth
    shown = CliRunner().invoke(cli, ["suspects", "promise", "-p", str(judged.root)], catch_exceptions=False).stdout
    assert "recall" in shown


def test_what_is_missing_is_said(shop: Shop, tmp_path: Path) -> None:
    one = Shop(shop.images, shop.product, shop.similar, {"m0": shop.vectors["m0"]})
    project = make(tmp_path, one)
    for verb in (project.standing, project.promise_recall):
        with pytest.raises(EdsError, match="no decided labels"):
            verb()
    table = project.read("suspects")
    judge(one, project, table[one.value(table) == 0][PAIR], tmp_path / "a.csv")
    found = project.standing()
    assert len(found.missing) == 3, "no draw, no positive, one model"
    assert (found.p, found.plans) == (None, [])
    with pytest.raises(InputError, match="similar yet"):
        project.promise_recall()
    judge(one, project, table[PAIR], tmp_path / "b.csv")
    with pytest.raises(InputError, match="no random pair"):
        project.promise_recall()


def test_a_promise_costs_what_is_not_judged_of_its_pool(shop: Shop, tmp_path: Path) -> None:
    """Also where the pool of today keeps it already, and part of it is judged."""
    project = make(tmp_path, shop)
    project.draw_random(500)
    table = project.read("suspects")
    pool = table[table["origin"] == "pool"].sort_values("position")[PAIR]
    drawn = table.loc[table["origin"] == "random", PAIR]
    judge(shop, project, pd.concat([pool.head(len(pool) // 2), drawn]), tmp_path / "votes.csv")
    found = project.promise_recall(0.05)
    truth = project.read("truth")[PAIR]
    assert found.kept_now
    assert found.price is not None
    assert found.price.pairs == len(pool) - len(pool.merge(truth, on=PAIR)) > 0
