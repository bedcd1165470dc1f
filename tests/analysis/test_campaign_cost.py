"""A campaign's cost before it begins: against a campaign that is really made and judged."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eds.analysis.campaign_cost import campaign_cost
from eds.errors import InputError
from eds.labels.campaigns import Plan
from eds.labels.gold import add_gold
from eds.labels.queue import progress
from eds.suspects.budget import Judging
from tests.labels.stores import begin, fresh_store, judge_all


@pytest.mark.parametrize("early_stop", [False, True])
def test_as_many_judgements_as_a_real_campaign_needs(early_stop: bool, tmp_path: Path) -> None:
    gold, again, control = 0.1, 0.2, 0.25
    with fresh_store("sqlite", tmp_path) as store:
        add_gold(store, pd.DataFrame({"query_id": "g", "candidate_id": [f"g{i}" for i in range(20)], "value": 1}))
        name = begin(
            store,
            Plan("first", gold_share=gold, repeat_share=again, early_stop=early_stop, control_share=control),
            queries=10,
            each=10,
        )
        given = sum(len(judge_all(store, name, expert)) for expert in ("ann", "bob", "cid"))  # everybody says yes
        assert progress(store, name)["left"].sum() == 0
    cost = campaign_cost(
        100,
        Judging(3, 12.0, 20.0),
        gold_share=gold,
        repeat_share=again,
        early_stop=early_stop,
        control_share=control,
        positive_rate=1.0,
    )
    assert cost.items == 130
    assert cost.judgements == given == (315 if early_stop else 390)
    assert cost.hours == pytest.approx(given * 12 / 3600)
    assert cost.hours_each == pytest.approx(cost.hours / 3)
    assert cost.money == pytest.approx(cost.hours * 20)
    assert cost.saved == pytest.approx(1 - given / 390)


def test_edges_and_nonsense() -> None:
    nothing = campaign_cost(0, Judging(3, 15), early_stop=True)
    assert (nothing.items, nothing.judgements, nothing.saved, nothing.money) == (0, 0.0, 0.0, None)
    with pytest.raises(InputError) as told:
        campaign_cost(-1, Judging(0, 0, -1), gold_share=2)
    assert len(told.value.faults) == 5
    assert np.isfinite(campaign_cost(10**9, Judging(50, 15), early_stop=True, positive_rate=0.5).hours)
