"""Adaptive campaigns by the verbs: what they save and turn, on a shop whose truth is known."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import EdsError
from eds.labels.simulate import fill
from eds.project import Project
from eds.project.campaigns import CampaignPlan
from eds.project.label_store import opened
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project

EXPERTS = ["ann", "bob", "cid"]
ERROR = 0.1


@pytest.fixture(scope="module")
def shop() -> Shop:
    return draw_shop(Design(products=300, queries=120, prevalence=0.03, models=3), 7)


def let_judge(shop: Shop, project: Project, campaign: str) -> int:
    """Experts who err in a tenth of the pairs judge what is open."""
    rng = np.random.default_rng(5)

    def answer(expert: str, pairs: pd.DataFrame) -> pd.DataFrame:
        wrong = rng.random(len(pairs)) < ERROR
        moments = pd.date_range("2026-01-01", periods=len(pairs), freq="s", tz="UTC")
        value = shop.value(pairs).to_numpy() ^ wrong
        return pd.DataFrame({"value": value, "seconds": 3.0, "created_at": moments, "session_id": expert})

    with opened(project) as store:
        return fill(store, campaign, answer)


@pytest.fixture(scope="module")
def project(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("adaptive")
    made = make_project(shop, folder, {"project.seed": 4, "neighbors.one_per_product": True})
    made.mine(k=30)
    made.pool(k=3)
    for expert in EXPERTS:
        made.experts.add(expert)
    return made


def test_votes_are_saved_the_truth_is_as_right_and_control_pairs_say_so(shop: Shop, project: Project) -> None:
    first = CampaignPlan(adaptive=True, control_share=0.2)
    project.campaigns.create("first", EXPERTS, origins=["pool"], plan=first)
    pool = project.read("suspects")[PAIR].drop_duplicates()
    before = let_judge(shop, project, "first")
    assert before < 0.8 * 3 * len(pool)
    decided = project.decide()
    assert decided.counts.get("open", 0) == 0
    assert len(decided.table) == len(pool)
    error = (decided.table["value"] != shop.value(decided.table)).mean()
    assert error < 0.05  # 0.028 of full panels, and chance
    learned = project.campaigns.adapt("first")
    assert learned.labels == len(pool)
    assert learned.control.pairs == pytest.approx(0.2 * len(pool), abs=1)
    assert learned.error == pytest.approx(ERROR, abs=0.04)
    assert learned.votes < 2.4
    assert learned.saved == pytest.approx(1 - learned.votes / 3)
    assert learned.control.turned / learned.control.pairs < 0.1
    agreement = project.agreement(campaign="first")
    assert agreement.control  # unbiased: the pairs that everybody judged


def test_a_second_campaign_begins_with_what_is_known(shop: Shop, project: Project) -> None:
    project.pool(k=6)
    plan = CampaignPlan(adaptive=True)
    suspects = project.campaigns.suspects(undecided=True)
    expected = project.campaigns.expected_votes(suspects, 3, plan)
    expecting = project.campaigns.cost(len(suspects), 3, plan, votes=expected)
    words = ["labels", "campaigns", "add", "second", "--undecided", "--adaptive", "--dry-run", "-p", str(project.root)]
    shown = CliRunner().invoke(cli, [*words, *(word for name in EXPERTS for word in ("--expert", name))])
    assert f"about {expecting.judgements:,.0f} judgements" in shown.output, "as the page of a new campaign says"
    project.campaigns.create("second", EXPERTS, undecided=True, plan=plan)
    acts = let_judge(shop, project, "second")
    assert acts / len(suspects) == pytest.approx(expected, rel=0.08)
    assert expected < 2.15  # far pairs, most of them not similar: two votes, and for some one
    cost = project.campaigns.cost(len(suspects), 3, plan, votes=expected)
    assert cost.judgements == pytest.approx(expected * len(suspects))
    decided = project.decide()
    mine = decided.table.merge(suspects[PAIR], on=PAIR)
    assert len(mine) == len(suspects)
    assert (mine["value"] != shop.value(mine)).mean() < 0.05


def test_the_command_says_what_the_verb_returns_and_refuses_others(project: Project) -> None:
    run = CliRunner()
    shown = run.invoke(cli, ["labels", "campaigns", "adapt", "first", "-p", str(project.root), "--json", "-q"])
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert told["votes"] == pytest.approx(project.campaigns.adapt("first").votes)
    words = ["labels", "campaigns", "add", "third", "--adaptive", "--origin", "pool", "-p", str(project.root), "-q"]
    made = run.invoke(cli, [*words, "--expert", "ann", "--expert", "bob"])
    assert made.exit_code == 0, made.output
    listed = project.campaigns.list().set_index("name")
    assert listed["adaptive"].to_dict() == {"first": True, "second": True, "third": True}
    project.campaigns.create("plain", EXPERTS, origins=["pool"], limit=10)
    for name, said in (("plain", "not an adaptive campaign"), ("none", "unknown campaign")):
        with pytest.raises(EdsError, match=said):
            project.campaigns.adapt(name)


def test_nothing_is_known_at_first(shop: Shop, tmp_path: Path) -> None:
    fresh = make_project(shop, tmp_path, {})
    fresh.mine(k=10)
    fresh.pool(k=2)
    for expert in EXPERTS:
        fresh.experts.add(expert)
    fresh.campaigns.create("first", EXPERTS, plan=CampaignPlan(adaptive=True))
    found = fresh.campaigns.adapt("first")
    assert (found.labels, found.control.pairs, found.matters, found.changed) == (0, 0, 0, 0)
    assert "No control pair" in found.text


def test_what_tells_an_open_contest_apart_gets_two_votes(tmp_path: Path) -> None:
    """Part of the pool is judged: of the two models that the fewest labels would tell apart, single finds matter."""
    shop = draw_shop(Design(products=150, queries=80, prevalence=0.06, models=2), 3)
    noise = np.random.default_rng(0).normal(0, 0.55, shop.vectors["m1"].shape).astype(np.float32)
    shop = replace(shop, vectors={**shop.vectors, "m1": shop.vectors["m1"] + noise})
    made = make_project(shop, tmp_path, {"neighbors.one_per_product": True})
    made.mine(k=10)
    made.pool(k=3)
    judge(shop, made, made.read("suspects").sort_values("position").head(200)[PAIR], tmp_path / "votes.csv")
    for expert in EXPERTS[1:]:  # the first judged
        made.experts.add(expert)
    made.campaigns.create("rest", EXPERTS, undecided=True, plan=CampaignPlan(adaptive=True))
    (contest,) = made.standing().plans
    assert contest.difference.needed
    found = made.campaigns.adapt("rest")
    assert found.contest == "m0 and m1"
    sources = made.campaigns.suspects(undecided=True)["sources"]
    apart = sources.str.contains("m0:") ^ sources.str.contains("m1:")
    assert 0.9 * apart.sum() <= found.matters <= apart.sum()  # products that both propose by other pictures do not
    assert "tell m0 and m1 apart get two votes" in found.text
