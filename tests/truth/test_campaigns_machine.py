"""Any sequence of campaigns, votes, leavers, joiners and adjudications: labels change only as section 18.5 says.

The verbs of a project on a real database, beside the slow model of tests/reference/campaigns.py.
"""

import shutil
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from eds import tables
from eds.errors import ProjectError, TruthChangeError
from eds.project import Project
from eds.project.campaigns import CampaignPlan
from eds.project.label_store import keep_open
from eds.project.labels import Judgement
from tests.reference.campaigns import Campaign, Pair, World

EXPERTS = ("ann", "bob", "cid", "dot")
PAIRS: list[Pair] = [("p", "a"), ("p", "b"), ("q", "a"), ("q", "c"), ("r", "d")]
WHOLE = {2: 2, 3: 2, 4: 4, 5: 5}  # pairs of whole queries within a limit
KEY = ["query_id", "candidate_id"]
VALUES = st.sampled_from([1, 0, 1, 0, None])


class Campaigns(RuleBasedStateMachine):
    """A lead and four experts."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.project = Project.create(self.folder / "p")
        frame = pd.DataFrame(PAIRS, columns=KEY).assign(
            origin="pool", batch=0, position=range(len(PAIRS)), sources="m:0", stratum=None, probability=1.0
        )
        self.project.write(frame.astype(tables.SUSPECTS.empty().dtypes), "suspects", tables.Provenance("test"))
        for name in EXPERTS:
            self.project.experts.add(name)
        self.project.experts.add("lea", "lead")
        keep_open(self.project)
        self.world, self.acts = World(), 0
        self.stored: dict[Pair, int] = {}
        self.untouched: set[Pair] = set()  # pairs on which nothing happened since they were decided

    def teardown(self) -> None:
        self.project.close()
        shutil.rmtree(self.folder)

    @initialize(experts=st.sets(st.sampled_from(EXPERTS), min_size=2, max_size=3))
    def first(self, experts: set[str]) -> None:
        self.begin(experts, len(PAIRS), None, early_stop=False)

    @precondition(lambda self: len(self.world.campaigns) < 3)
    @rule(
        experts=st.sets(st.sampled_from(EXPERTS), min_size=1, max_size=3),
        limit=st.sampled_from(sorted(WHOLE)),
        per_pair=st.sampled_from([None, None, 1, 2]),
        early_stop=st.booleans(),
    )
    def begin(self, experts: set[str], limit: int, per_pair: int | None, early_stop: bool) -> None:
        name = f"campaign {len(self.world.campaigns)}"
        per_pair = per_pair if per_pair and per_pair < len(experts) else None
        plan = CampaignPlan(early_stop=early_stop and not per_pair, control_share=0.01, experts_per_pair=per_pair)
        self.project.campaigns.create(name, sorted(experts), limit=limit, plan=plan)
        self.world.campaigns[name] = Campaign(PAIRS[: WHOLE[limit]], [sorted(experts)], some=per_pair is not None)

    def tasks(self, name: str, expert: str) -> dict[Pair, int]:
        return {
            (task.query_id, task.candidate_id): task.assignment
            for task in self.project.labels.next_tasks(name, expert, 99)
        }

    def say(self, name: str, expert: str, pair: Pair, assignment: int, value: int | None) -> None:
        self.acts += 1
        self.project.labels.submit(expert, [Judgement(f"act {self.acts}", assignment, value, 1.0)])
        self.world.campaigns[name].said[pair, expert] = (self.acts, value)
        self.untouched.discard(pair)

    @rule(data=st.data(), expert=st.sampled_from(EXPERTS), value=VALUES, count=st.integers(1, 3))
    def judge(self, data: st.DataObject, expert: str, value: int | None, count: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        for pair, assignment in list(self.tasks(name, expert).items())[:count]:
            self.say(name, expert, pair, assignment, value)

    @rule(data=st.data(), value=st.sampled_from([1, 0]))
    def everybody_judges(self, data: st.DataObject, value: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        for expert in EXPERTS:
            for pair, assignment in self.tasks(name, expert).items():
                if assignment in self.tasks(name, expert).values():  # another's vote may have stopped it
                    self.say(name, expert, pair, assignment, value ^ (expert == "cid"))

    @rule(data=st.data(), expert=st.sampled_from(EXPERTS), value=VALUES)
    def revise(self, data: st.DataObject, expert: str, value: int | None) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        for answer in self.project.labels.last_answers(name, expert, 1):
            pair = (answer.task.query_id, answer.task.candidate_id)
            self.say(name, expert, pair, answer.task.assignment, value)

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        campaign = self.world.campaigns[name]
        there = [one for wave in campaign.waves for one in wave if one not in campaign.gone]
        if not there:
            return
        expert = data.draw(st.sampled_from(there))
        progress = self.project.campaigns.remove_expert(name, expert)
        assert progress.loc[progress["expert"] == expert, "left"].tolist() == [0]
        campaign.gone.add(expert)
        self.untouched -= set(campaign.pairs)

    @rule(data=st.data(), expert=st.sampled_from(EXPERTS))
    def join(self, data: st.DataObject, expert: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        campaign = self.world.campaigns[name]
        if any(expert in wave for wave in campaign.waves) and expert not in campaign.gone:
            return
        if expert in campaign.gone:
            self.untouched -= set(campaign.pairs)  # waited for again
        self.project.campaigns.add_experts(name, [expert])
        campaign.join(expert)

    @rule(data=st.data(), value=st.sampled_from([1, 0, None]))
    def adjudicate(self, data: st.DataObject, value: int | None) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.campaigns)))
        pair = data.draw(st.sampled_from(self.world.campaigns[name].pairs))
        self.project.labels.adjudicate(*pair, name, value, by="lea")
        if value is None:
            self.world.decided.pop(pair, None)
        else:
            self.world.decided[pair] = value
        self.untouched.discard(pair)

    @rule()
    def decide(self) -> None:
        if not (self.acts or self.world.decided or self.project.path("truth").exists()):
            with pytest.raises(ProjectError, match="nobody has judged"):
                self.project.decide()
            return
        waiting = {
            name: {(pair, expert) for expert in EXPERTS for pair in self.tasks(name, expert)}
            for name in self.world.campaigns
        }
        expected = self.world.labels(waiting)
        for pair in self.untouched:  # new campaigns and experts who join change nothing
            assert expected.get(pair) == self.stored[pair]
        lost = [pair for pair in self.stored if pair not in expected]
        turned = [pair for pair, value in self.stored.items() if expected.get(pair, value) != value]
        if lost or len(turned) > 0.01 * len(self.stored):
            with pytest.raises(TruthChangeError) as caught:
                self.project.decide()
            assert (caught.value.lost, caught.value.turned) == (len(lost), len(turned))
            assert sum(caught.value.directions.values()) == sum(caught.value.reasons.values()) == len(lost + turned)
            assert self.labels() == self.stored
            self.project.decide(replace=True)
        else:
            self.project.decide()
        assert self.labels() == expected
        truth = self.project.read("truth")
        by_lead = truth.loc[truth["rule"] == "adjudication", KEY].to_numpy().tolist()
        assert sorted(map(tuple, by_lead)) == sorted(self.world.decided)
        self.stored, self.untouched = expected, set(expected)

    def labels(self) -> dict[Pair, int]:
        truth = self.project.read("truth")
        return {(query, candidate): value for query, candidate, value in truth[[*KEY, "value"]].to_numpy().tolist()}


TestCampaigns = Campaigns.TestCase
TestCampaigns.settings = settings(max_examples=12, stateful_step_count=16, deadline=None)
