"""One expert's own acts and pace, against a slow count."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from eds.labels.expert_activity import NEAR, PAUSE, Pace, expert_acts, pace
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from tests.labels.stores import BACKENDS, begin, fresh_store, judge_all

NOW = pd.Timestamp("2026-05-01 12:00", tz="UTC")


@pytest.mark.parametrize("kind", BACKENDS)
def test_an_expert_sees_their_own_acts_only(kind: str, tmp_path: Path) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store)
        (task,) = next_batch(store, name, "ann", 1)
        submit(store, "ann", [Judgement("a", task.assignment, 1, 2.0)])
        submit(store, "ann", [Judgement("b", task.assignment, None, 3.0)])
        judge_all(store, name, "bob", 0)
        found = expert_acts(store, "ann")
        assert found["campaign"].tolist() == [name, name]
        assert found["first"].tolist() == [True, False]
        assert found["seconds"].tolist() == [2.0, 3.0]
        assert found["value"].isna().tolist() == [False, True]
        assert len(expert_acts(store, "bob")) == 12
        assert len(expert_acts(store, "cid")) == 0


def acts_of(gaps: list[float], answers: list[int], seconds: float | None = None) -> pd.DataFrame:
    """Pages of so many answers, each stored that long after the one before; `seconds` of each answer."""
    rows, at = [], NOW
    for gap, many in zip([0.0, *gaps], answers, strict=True):
        at += pd.Timedelta(microseconds=round(gap * 1e6))
        rows += [(at, seconds)] * many
    return pd.DataFrame(rows, columns=["created_at", "seconds"])


@given(gaps=some.lists(some.floats(1.01, 400), min_size=1, max_size=60), since=some.floats(0, 300))
def test_pace_leaves_breaks_out(gaps: list[float], since: float) -> None:
    gaps = [gap for gap in gaps if abs(gap - PAUSE) > 1e-3]
    acts = acts_of(gaps, [1] * (len(gaps) + 1))
    found = pace(acts, acts["created_at"].iloc[-1] + pd.Timedelta(seconds=since))
    working = [gap for gap in gaps if gap < PAUSE]
    assert found.per_hour == (pytest.approx(3600 * len(working) / sum(working), rel=1e-4) if len(working) > 9 else None)
    stretch = 0.0
    for gap in gaps:
        stretch = 0.0 if gap >= PAUSE else stretch + gap
    if abs(since - PAUSE) > 1e-3:
        assert found.stretch_minutes == pytest.approx(0.0 if since >= PAUSE else stretch / 60, abs=1e-4)


@pytest.mark.parametrize("each", [2.5, 7.5, 25.0])
def test_a_page_of_a_grid_takes_longer_than_a_pair_and_is_no_break(each: float) -> None:
    acts = acts_of([24 * each] * 20, [24] * 21, each)
    found = pace(acts, acts["created_at"].iloc[-1] + pd.Timedelta(seconds=24 * each))
    assert found.per_hour == pytest.approx(3600 / each)
    assert found.stretch_minutes == pytest.approx(21 * 24 * each / 60)


def test_after_a_break_a_page_counts_by_the_time_it_was_looked_at() -> None:
    acts = acts_of([180.0] * 3 + [3600.0] + [180.0] * 2, [24] * 7, 7.5)
    now = acts["created_at"].iloc[-1]
    assert pace(acts, now) == Pace(480.0, 9.0)  # the hour between is no work; the stretch begins behind it
    assert pace(acts, now + pd.Timedelta(seconds=721)).stretch_minutes == 0.0
    parts = acts.assign(created_at=acts["created_at"] + pd.to_timedelta(([0.0] * 20 + [0.4 * NEAR] * 4) * 7, "s"))
    assert pace(parts, now + pd.Timedelta(seconds=700)) == Pace(480.0, 9.0)  # each page in two parts, as it is sent
    unseen = acts.assign(seconds=acts["seconds"].where(acts["created_at"] != acts["created_at"].iloc[4 * 24], 150.0))
    assert pace(unseen, now).stretch_minutes == 6.0  # an hour before an open page is no work either


def test_a_break_before_a_page_that_was_looked_at_for_less_is_no_work() -> None:
    acts = acts_of([60.0] * 2 + [720.0] + [60.0] * 2, [24] * 6, 2.5)
    assert pace(acts, acts["created_at"].iloc[-1]) == Pace(1440.0, 3.0)


def test_the_pace_of_nothing_is_unknown() -> None:
    assert pace(acts_of([], [0]), NOW) == Pace(None, 0.0)
