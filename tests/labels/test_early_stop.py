"""The rule of early stop stands in two places, since stages are strangers: here they are held together."""

from contextlib import closing
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from eds.labels.campaigns import Plan, create_campaign
from eds.labels.early_stop import decided
from eds.labels.experts import add_expert
from eds.labels.frames import control_pairs
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from eds.truth.majority import NO_LABEL, OPEN, majority_vote, tally
from tests.labels.stores import pairs

LARGEST = 9
COUNTS = np.array(
    [
        (yes, no, skipped, panel)
        for panel in range(1, LARGEST + 1)
        for yes, no, skipped in product(range(panel + 1), repeat=3)
        if yes + no + skipped <= panel
    ],
    dtype=np.int64,
)


def test_asking_stops_exactly_where_the_truth_is_decided() -> None:
    yes, no, skipped, panel = COUNTS.T
    status, label = tally(yes, no, skipped, panel)
    left = panel - yes - no - skipped
    assert len(COUNTS) == 714  # (panel + 3 choose 3) ways for each panel: all there are
    assert np.array_equal(decided(yes, no, left), label != NO_LABEL)
    waiting = left > 0
    assert np.array_equal(decided(yes, no, left)[waiting], status[waiting] != OPEN)


@pytest.mark.parametrize("panel", [1, 2, 3, 4])
def test_the_queue_goes_on_exactly_while_the_majority_is_open(panel: int, tmp_path: Path) -> None:
    answers = list(product((1, 0, None), repeat=panel))
    experts = [f"e{place}" for place in range(panel)]
    with closing(open_store(tmp_path / "labels.db")) as store:
        for expert in experts:
            add_expert(store, expert)
        plan = Plan("all", early_stop=True, control_share=1e-9)  # at least one pair is always a control
        create_campaign(store, plan, pairs(1, len(answers) + 1), experts)
        control = set(control_pairs(store, "all")["candidate_id"])
        free = sorted({f"c0-{place}" for place in range(len(answers) + 1)} - control)
        assert len(control) == 1
        meant = dict(zip(free, answers, strict=True))
        given: dict[str, list[int | str]] = {name: [] for name in free}
        for place, expert in enumerate(experts):
            asked = {task.candidate_id: task.assignment for task in next_batch(store, "all", expert, 999)}
            for name in free:
                status = majority_vote(given[name], panel)["status"]
                assert (name in asked) == (status == "open"), (name, given[name])
                if name in asked:
                    value = meant[name][place]
                    turns = (0, 1) if value is None else (0,)  # unsure comes back once
                    acts = [Judgement(f"{expert}/{name}/{turn}", asked[name], value) for turn in turns]
                    submit(store, expert, acts)
                    given[name].append("skip" if value is None else value)
            assert control <= set(asked)
