"""What needs a lead: a campaign of known simulated experts on a real store, one of whom works honestly."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from eds import tables
from eds.errors import InputError
from eds.labels.adjudication import adjudicate
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import accept, add_expert, invite
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import next_batch
from eds.labels.sessions import sign_in_vouched
from eds.project import Project
from eds.project.campaign_needs import Need
from eds.project.label_store import keep_open

QUERIES, EACH = 60, 6
EXPERTS = ("honest", "speeder", "drifter", "absent", "guesser", "nobody")
NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = Project.create(tmp_path_factory.mktemp("needs") / "shop")
    names = [f"q{query:02}" for query in range(QUERIES)] + [f"c{number:03}" for number in range(QUERIES * EACH)]
    images = pd.DataFrame({"image_id": names, "path": [f"{name}.png" for name in names], "product_id": names})
    images["category"] = np.where(images.index < 20, "bag", "coat")
    empty = pd.array([None] * len(images), dtype="Int64")
    boxes = {f"box_{edge}": empty for edge in ("left", "top", "right", "bottom")}
    images = images.assign(role="both", phase=None, width=empty, height=empty, sha256=None, **boxes)
    made.write(images, "images", tables.Provenance("test"))
    Project.open(made.root).experts.add("lea", "lead")
    keep_open(made)
    with closing(made):
        _judge(made)
        yield made


def _judge(project: Project) -> None:
    store, rng = project.store, np.random.default_rng(3)
    assert store is not None
    for name in EXPERTS:
        add_expert(store, name)
        if name != "nobody":
            accept(store, invite(store, name), "four words of one's own")
            sign_in_vouched(store, name, by="test")
    pairs = [(f"q{place // EACH:02}", f"c{place:03}") for place in range(QUERIES * EACH)]
    truth = dict(zip(pairs, rng.random(len(pairs)) < 0.4, strict=True))
    gold = pairs[:: len(pairs) // 30]
    names = ["query_id", "candidate_id"]
    add_gold(store, pd.DataFrame([(*pair, int(truth[pair])) for pair in gold], columns=[*names, "value"]))
    asked = pd.DataFrame([pair for pair in pairs if pair not in gold], columns=names)
    create_campaign(store, Plan("shop", gold_share=0.08, seed=1), asked, EXPERTS)
    for expert in EXPERTS[:-1]:
        tasks = next_batch(store, "shop", expert, 10_000)
        days_ago = 6 if expert == "absent" else 0
        tasks = tasks[: len(tasks) // 3 if expert == "absent" else len(tasks) - 9]
        if expert == "honest":
            flag_task(store, expert, tasks[0].assignment, "blurred", "flag")
        end = NOW - timedelta(days=days_ago, minutes=1)
        acts, times = [], []
        for place, task in enumerate(tasks):
            rate = {"drifter": 0.35 if place > 0.6 * len(tasks) else 0.03, "guesser": 0.45}.get(expert, 0.04)
            quick = expert == "speeder" and rng.random() < 0.3
            value = int(truth[task.query_id, task.candidate_id] ^ (rng.random() < rate))
            acts.append(Judgement(f"{expert}/{task.assignment}", task.assignment, value, 0.4 if quick else 3.0))
            times.append(round((end - timedelta(seconds=4 * (len(tasks) - place))).timestamp() * 1e6))
        submit(store, expert, acts, times=times)


def found(project: Project, kind: str, expert: str = "") -> Need:
    [need] = [one for one in project.campaigns.needs("shop").needs if (one.kind, one.expert) == (kind, expert)]
    return need


def test_those_who_need_a_look_are_named_and_the_honest_expert_is_not(project: Project) -> None:
    needs = project.campaigns.needs("shop").needs
    named = {(need.kind, need.expert) for need in needs if need.expert}
    assert {("speed", "speeder"), ("drift", "drifter"), ("gold", "guesser")} <= named
    assert {("absent", "absent"), ("uninvited", "nobody")} <= named
    assert "honest" not in {name for _, name in named}
    assert {name for kind, name in named if kind == "absent"} == {"absent"}
    assert [need.kind for need in needs if not need.expert] == ["flags", "split", "truth"]
    order = ["gold", "speed", "drift", "uninvited", "absent", "flags", "split", "truth"]
    assert [kind for kind in order if kind in {need.kind for need in needs}] == list(
        dict.fromkeys(need.kind for need in needs)
    )


def test_what_is_said_is_what_the_acts_say(project: Project) -> None:
    acts = project.read("labels")
    counts = project.campaigns.progress("shop").set_index("expert")
    speed = found(project, "speed", "speeder")
    mine = acts[acts["expert_id"] == "speeder"]
    assert (speed.count, speed.of) == ((mine["seconds"] < 1).sum(), len(mine))
    assert found(project, "absent", "absent").count == counts["left"]["absent"]
    assert found(project, "uninvited", "nobody").count == counts["total"]["nobody"]
    normal = acts[acts["kind"] == "normal"].groupby(["query_id", "candidate_id"])["value"].mean()
    split = normal[~normal.isin([0.0, 1.0])].index
    need = found(project, "split")
    assert need.count == len(split)
    assert dict(need.most)["bag"] == sum(query < "q20" for query, _ in split)
    assert found(project, "flags").count == 1


def test_a_decision_a_lead_takes_is_no_longer_asked_for(project: Project) -> None:
    before = found(project, "split")
    store = project.store
    assert store is not None
    adjudicate(store, "shop", *before.pairs[0], 1, by="lea", token="t")
    after = found(project, "split")
    assert after.count == before.count - 1
    assert before.pairs[0] not in after.pairs


def test_the_overview_tells_pace_and_finish_date(project: Project) -> None:
    found = project.campaigns.overview("shop")
    counts = project.campaigns.progress("shop")
    assert (found.state, found.done, found.left) == ("open", counts["done"].sum(), counts["left"].sum())
    acts = project.read("labels")
    assert found.days["judgements"].sum() == len(acts)
    people = found.experts.set_index("expert")
    assert people["a_day"]["honest"] == (acts["expert_id"] == "honest").sum()  # of the first day
    assert found.ready_at is None  # one has not begun
    project.campaigns.remove_expert("shop", "nobody")
    ready = project.campaigns.overview("shop").ready_at
    assert ready is not None
    left = counts.set_index("expert")["left"]["absent"]
    expected = left / people["a_day"]["absent"]
    assert (ready - datetime.now(UTC)) / timedelta(days=1) == pytest.approx(expected, rel=0.01)
    project.campaigns.add_experts("shop", ["nobody"])


def test_a_closed_campaign_waits_for_nobody_and_can_be_reopened(project: Project) -> None:
    project.campaigns.close("shop")
    kinds = {need.kind for need in project.campaigns.needs("shop").needs}
    assert not kinds & {"absent", "uninvited"}
    assert project.campaigns.overview("shop").state == "closed"
    project.campaigns.reopen("shop")
    assert found(project, "absent", "absent")
    with pytest.raises(InputError, match="is open"):
        project.campaigns.reopen("shop")


def test_an_invitation_carries_campaigns(project: Project) -> None:
    with pytest.raises(InputError, match="unknown campaign hats"):
        project.experts.add("dora", campaigns=["shop", "hats"])
    assert "dora" not in set(project.experts.list()["name"])
    project.experts.add("dora", campaigns=["shop"])
    assert project.campaigns.of_expert("shop", "dora").left > 0
    seen = project.experts.list().set_index("name")["seen_at"]
    assert pd.isna(seen["dora"])
    assert abs(seen["honest"] - pd.Timestamp(NOW)) < timedelta(hours=1)
