"""How an expert stands in a campaign, against a count of the queue."""

from pathlib import Path

import pytest

from eds.errors import InputError
from eds.labels.campaigns import Plan, close_campaign, create_campaign, leave_panel
from eds.labels.experts import add_expert
from eds.labels.judgements import Judgement, submit
from eds.labels.progress import expert_progress, find_campaign
from eds.labels.queue import next_batch
from tests.labels.stores import BACKENDS, begin, fresh_store, judge_all, pairs


@pytest.mark.parametrize("kind", BACKENDS)
def test_left_and_total_are_what_the_queue_gives(kind: str, tmp_path: Path) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store)
        create_campaign(store, Plan("other", "grid", "different", "2", repeat_share=0.5), pairs(2, 2), ["bob"])
        judge_all(store, name, "bob", 1)
        tasks = next_batch(store, name, "ann", 100)
        submit(store, "ann", [Judgement("a", tasks[0].assignment, 1), Judgement("b", tasks[1].assignment, None)])
        found = expert_progress(store, name, "ann")
        assert found.total == len(tasks) == 12
        assert found.left == len(next_batch(store, name, "ann", 100)) == 11
        assert (found.done, found.member, found.closed) == (1, True, False)
        assert expert_progress(store, name, "bob").left == 0
        other = expert_progress(store, "other", "bob")
        assert (other.mode, other.polarity, other.guideline, other.left) == ("grid", "different", "2", 4 + 2)
        assert not expert_progress(store, "other", "ann").member
        leave_panel(store, name, "ann")
        assert (expert_progress(store, name, "ann").member, expert_progress(store, name, "ann").left) == (False, 0)
        close_campaign(store, "other")
        assert (expert_progress(store, "other", "bob").closed, expert_progress(store, "other", "bob").left) == (True, 0)


@pytest.mark.parametrize("kind", BACKENDS)
def test_a_handle_names_one_campaign_for_ever(kind: str, tmp_path: Path) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store)
        handle = expert_progress(store, name, "ann").handle
        assert find_campaign(store, handle) == name
        number, created = handle.split("-")
        for wrong in (
            f"{number}-{int(created, 16) + 1:x}",
            f"{int(number, 16) + 1:x}-{created}",
            "",
            "-",
            "1",
            "x-y",
            f"{'f' * 16}-1",
            "1-1\n",
        ):
            assert find_campaign(store, wrong) is None


def test_an_unknown_campaign_is_told(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        add_expert(store, "ann")
        with pytest.raises(InputError, match="unknown campaign"):
            expert_progress(store, "nowhere", "ann")
