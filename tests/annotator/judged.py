"""A drawn project with pool, random pairs, gold, guidelines and judged campaigns, for tests of the lead's pages."""

import hashlib

import pandas as pd

from eds import tables
from eds.labels.calibration import answer, begin_round, next_task, plan_calibration
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.gold import add_gold
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store
from eds.project import Project
from eds.suspects import Batching, draw_random, pool
from eds.universe import PairRules, Universe

NASTY = (
    "<script>alert(1)</script> [x](javascript:alert(2)) $\\latex$ **b** :red[r] http://a.example "
    "![i](http://b.example/i.png)"
)
NAME = "Pool <b>1</b> [x](javascript:alert(3)) $l$"
RANDOM, GRID = "Random pairs", "Pool in a grid"
PANEL = ("ann", "bob", "cid")
START = 1_770_000_000_000_000


def word(*parts: object) -> float:
    """A number from 0 to 1 that stands for these words."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 2**32


def similar(query_id: str, candidate_id: str, rate: float) -> int:
    """What is so."""
    return int(word(query_id, candidate_id) < rate)


def make_suspects(project: Project) -> pd.DataFrame:
    """A pool of three models' lists, and random pairs."""
    images = project.read("images")
    queries = images.loc[images["role"] != "candidate", "image_id"].tolist()[:12]
    others = images.loc[images["role"] != "query", "image_id"].tolist()
    rows = []
    for model in ("beit", "clip", "resnet"):
        for query in queries:
            ranked = sorted((one for one in others if one != query), key=lambda one: word(model, query, one))
            rows += [(model, query, one, rank, 1 - rank / 10) for rank, one in enumerate(ranked[:5])]
    lists = pd.DataFrame(rows, columns=["model", "query_id", "candidate_id", "rank", "score"])
    found = pool(lists, 5, Batching(order="random", seed=1))
    found = draw_random(Universe(images, PairRules()), 60, 1, suspects=found)
    project.write(found, "suspects", tables.Provenance("drawn for a test"))
    return found


def furnish(project: Project, store: Store) -> None:
    """Everything that a lead may look at."""
    suspects = make_suspects(project)
    images = project.read("images")["image_id"].tolist()
    examples = [
        Example(images[0], images[1], "positive", "the same cut " + NASTY),
        Example(images[2], images[3], "negative", "another cut"),
        Example(images[4], images[5], "border", "either may stand"),
    ]
    words = f"# What similar means\nSame **cut** and *pattern*.\n- colour counts not\n- {NASTY}"
    save_guideline(store, "1", words, examples, by="lea")
    known = [(images[place], images[-place - 1], place % 2) for place in range(6, 22)]
    add_gold(store, pd.DataFrame(known, columns=["query_id", "candidate_id", "value"]))
    pooled, random = (suspects[suspects["origin"] == origin] for origin in ("pool", "random"))
    create_campaign(store, Plan(NAME, guideline="1", repeat_share=0.1, gold_share=0.05), pooled, PANEL, by="lea")
    create_campaign(store, Plan(RANDOM, guideline="1", gold_share=0.1), random, PANEL, by="lea")
    grid = Plan(GRID, "grid", "similar", "1", repeat_share=0.2, gold_share=0.005, early_stop=True, control_share=0.3)
    create_campaign(store, grid, pooled.head(60), PANEL, by="lea")
    plan_calibration(store, NAME, 4, 0.75, by="lea")
    shown = {(one.query_id, one.candidate_id): int(one.kind == "positive") for one in examples}
    _calibrate(store, shown | {(query, candidate): value for query, candidate, value in known})
    judge(store, NAME, 0.8, leave={"cid": 12})
    judge(store, RANDOM, 0.05)
    judge(store, GRID, 0.8)
    put_in_force(store, NAME, "1")


def _calibrate(store: Store, answers: dict[tuple[str, str], int]) -> None:
    """Ann is right each time, bob never."""
    for expert, wrong in (("ann", False), ("bob", True)):
        made = begin_round(store, NAME, expert)
        while (task := next_task(store, made.round, expert)) is not None:
            value = answers[task.query_id, task.candidate_id]
            answer(store, expert, task.task, 1 - value if wrong else value, f"c/{expert}/{task.task}", seconds=4.0)


def judge(store: Store, campaign: str, rate: float, leave: dict[str, int] | None = None) -> None:
    """Let everybody judge all but the last few; they err now and then, and are unsure or flag a pair at times."""
    for number, expert in enumerate(PANEL):
        at = START + number * 60_000_000
        first = next_batch(store, campaign, expert, 10_000)
        tasks = first[: len(first) - (leave or {}).get(expert, 0)]
        if len(tasks) > 30:
            flag_task(store, expert, tasks[3].assignment, f"bad picture {NASTY}", f"flag/{campaign}/{expert}")
        acts, times = [], []
        for task in tasks:
            draw = word(campaign, expert, task.query_id, task.candidate_id)
            truth = similar(task.query_id, task.candidate_id, rate)
            value = None if draw < 0.02 else 1 - truth if draw < 0.1 else truth
            seconds = 3 + 9 * draw if task.mode == "pair" else 1 + 2 * draw
            at += int(seconds * 1e6)
            acts.append(Judgement(f"{campaign}/{expert}/{task.assignment}", task.assignment, value, seconds, task.mode))
            times.append(at)
        submit(store, expert, acts, times=times)
