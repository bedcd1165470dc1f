"""Every price is what then happens, and nothing is added where nobody agrees to it."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eds.cli.metrics import render_leaderboard
from eds.errors import DeclinedError
from eds.project import Project
from eds.project.campaigns import CampaignPlan
from eds.project.catalogue import CatalogueResult, ScanOptions
from eds.project.price import Price
from tests.project.shops import Design, Shop, draw_shop, judge, make_project

DESIGN = Design(products=24, queries=8, models=3)
PAIR = ["query_id", "candidate_id"]


@pytest.fixture(scope="module")
def shop() -> Shop:
    return draw_shop(DESIGN, 5)


@pytest.fixture(scope="module")
def mined(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the lists of three models, without a pool."""
    project = make_project(shop, tmp_path_factory.mktemp("prices"), {"neighbors.k": 12, "suspects.k": 2})
    project.mine()
    return project.root


def asked(project: Project) -> set[tuple[str, ...]]:
    """What experts are to be asked by the suspects, by a plain loop: labelled pairs only as a repeat."""
    if not project.path("suspects").exists():
        return set()
    suspects = project.read("suspects")
    kinds = suspects["origin"].where(suspects["origin"] == "repeat", "normal")
    return set(zip(suspects["query_id"], suspects["candidate_id"], kinds, strict=True))


def labelled(project: Project) -> set[tuple[str, ...]]:
    if not project.path("truth").exists():
        return set()
    truth = project.read("truth")
    return {(query, candidate, "normal") for query, candidate in truth[PAIR].to_numpy()}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pool"), st.integers(1, 5)),
        st.tuples(st.just("random"), st.integers(1, 30)),
        st.tuples(st.just("negatives"), st.integers(1, 3)),
        st.tuples(st.just("repeats"), st.integers(1, 3)),
        st.tuples(st.just("judge"), st.integers(1, 40)),
        st.tuples(st.just("campaign"), st.integers(1, 3)),
    ),
    min_size=1,
    max_size=5,
)


@given(steps=STEPS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_price_equals_what_then_happens(
    steps: Sequence[tuple[str, int]], shop: Shop, mined: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("walk") / "p"
    subprocess.run(["cp", "-r", str(mined), str(root)], check=True)
    project = Project.open(root)
    project.pool()
    for expert in ("bob", "cid", "dan"):
        project.experts.add(expert)
    for number, (verb, n) in enumerate(steps):
        before, file = project.path("suspects").read_bytes(), root / "eds.toml"
        known, text = asked(project), file.read_text()
        if verb == "judge":
            judge(shop, project, project.read("suspects").head(n), root / "votes.csv")
            continue
        if verb == "campaign":
            plan = CampaignPlan(experts_per_pair=n, repeat_share=0.1)
            price = project.campaigns.price(f"c{number}", ["bob", "cid", "dan"], plan=plan)
            progress = project.campaigns.create(f"c{number}", ["bob", "cid", "dan"], plan=plan)
            assert price.judgements == progress.loc[progress["campaign"] == f"c{number}", "total"].sum()
            assert price.pairs == len(known)
            continue
        prices: list[Price] = []
        for dry_run in (True, False):
            if verb == "pool":
                found: Price = project.pool(k=n, dry_run=dry_run).price
            elif verb == "random":
                found = project.draw_random(n, add=True, dry_run=dry_run).price
            elif verb == "negatives":
                found = project.draw_negatives(n, min_rank=6, max_rank=12, dry_run=dry_run).price
            else:
                repeats = (project.read("suspects")["origin"] == "repeat").sum()
                n = min(n, len({key[:2] for key in known}) - int(repeats))
                found = project.draw_repeats(n, dry_run=dry_run).price
            prices.append(found)
            if dry_run:
                assert project.path("suspects").read_bytes() == before, "a dry run writes nothing"
                assert file.read_text() == text
        new = asked(project) - known - labelled(project)
        assert prices[0] == prices[1]
        assert prices[1].pairs == len(new)
        assert prices[1].judgements == 3 * len(new)
        assert prices[1].hours == pytest.approx(3 * len(new) * prices[1].seconds / 3600)


def test_what_a_campaign_would_cost_enters_no_known_pairs(mined: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    subprocess.run(["cp", "-r", str(mined), str(root)], check=True)
    project = Project.open(root)
    known = project.pool().table[PAIR].head(2).assign(value=1)
    known.to_csv(tmp_path / "known.csv", index=False)
    project.draw_gold(tmp_path / "known.csv", 2)
    project.experts.add("bob")

    def decline(price: Price) -> None:
        raise DeclinedError(price.text)

    assert project.campaigns.price("c", ["bob"]).judgements == len(project.read("suspects"))
    project.approve = decline
    with pytest.raises(DeclinedError):
        project.campaigns.create("c", ["bob"])
    plan = project.plan(lambda one: one.campaigns.create("c", ["bob"]))
    assert [change.what for change in plan.changes] == ["labels.db"]
    assert len(project.labels.gold()) == 0
    assert len(project.campaigns.list()) == 0


def test_of_many_images_a_sample_is_queries_unless_all_are_asked_for(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p", {"suspects.k": 4})
    pd.DataFrame({"path": [f"{number}.png" for number in range(1003)]}).to_csv(tmp_path / "list.csv", index=False)

    def bring(queries: Literal["all"] | None = None) -> CatalogueResult:
        options = ScanOptions(queries=queries)
        return project.import_images(tmp_path / "list.csv", read_files=False, options=options)

    first = bring().proposal
    assert first is not None
    assert first.drawn
    assert (project.read("images")["role"] != "candidate").sum() == 1000
    assert (first.price.pairs, first.sample_price.pairs) == (4 * 1003, 4 * 1000)
    assert first.price.judgements == 3 * first.price.pairs
    assert bring("all").proposal is None
    assert set(project.read("images")["role"]) == {"both"}
    again = bring().proposal
    assert again is not None
    assert not again.drawn, "a catalogue whose images are all queries stays so"
    assert set(project.read("images")["role"]) == {"both"}


def test_a_leaderboard_is_one_line_for_each_model(tmp_path: Path) -> None:
    shop = draw_shop(Design(products=60, queries=40, models=2, prevalence=0.2), 7)
    project = make_project(shop, tmp_path, {"neighbors.k": 12})
    project.mine()
    judge(shop, project, project.pool().table, tmp_path / "votes.csv")
    scores = project.score(["ROC-AUC", "VSD-HR@2"], resamples=50)
    text = render_leaderboard(scores)
    heading, *lines = [line for line in text.splitlines() if line.strip("- ")]
    assert heading.split()[0] == "model"
    assert [line.split()[0] for line in lines] == scores.summary["model"].tolist()
    assert "[" in scores.summary.to_string()
    assert "[" not in text
    best = {item.model for item in scores.comparison["ROC-AUC"].models if item.best}
    assert {line.split()[0] for line in lines if line.split()[2] == "*"} == best
    for line in lines:
        row = scores.table.query("model == @line.split()[0] and measure.str.startswith('ROC-AUC')").iloc[0]
        assert f"{row['value']:.3f}" in line


def test_the_command_line_asks_and_scripts_say_yes(mined: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    subprocess.run(["cp", "-r", str(mined), str(root)], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "EDS_YES"}

    def eds(*words: str, answer: str | None = None) -> tuple[int, str]:
        command = [sys.executable, "-m", "eds.cli", *words, "-p", str(root)]
        if answer is None:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
            return done.returncode, done.stdout + done.stderr
        keyboard, screen = pty.openpty()
        os.write(keyboard, f"{answer}\n".encode())
        done = subprocess.run(command, stdin=screen, stdout=subprocess.PIPE, stderr=screen, text=True, env=environment)
        os.close(screen)
        os.close(keyboard)
        return done.returncode, done.stdout

    suspects = root / "suspects.parquet"
    code, text = eds("suspects", "pool")
    assert (code, suspects.exists()) == (2, False)
    assert "--yes" in text
    code, text = eds("suspects", "pool", "--dry-run", "--json")
    assert (code, suspects.exists()) == (0, False)
    price = json.loads(text)["price"]
    assert price["pairs"] > 0
    code, text = eds("run")
    assert (code, suspects.exists()) == (0, False), "what costs nothing is made, the pool is not"
    assert eds("suspects", "pool", answer="n")[0] == 2
    assert not suspects.exists()
    assert eds("suspects", "pool", answer="y")[0] == 0
    assert len(Project.open(root).read("suspects")) == price["pairs"]
    before = suspects.read_bytes()
    assert eds("run")[0] == 0
    assert suspects.read_bytes() == before
    assert eds("suspects", "random", "-n", "5", "--yes")[0] == 0


def test_a_label_store_without_a_judgement_is_not_fresh(mined: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    subprocess.run(["cp", "-r", str(mined), str(root)], check=True)
    project = Project.open(root)

    def condition() -> str:
        return next(state.condition for state in project.status().tables if state.table == "labels")

    assert condition() == "absent"
    project.experts.add("ann")
    assert condition() == "empty"
    (root / "labels.db").write_bytes(os.urandom(4000))
    assert condition() == "damaged"
