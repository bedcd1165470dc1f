"""One expert's own acts and pace, against a slow count."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from eds.labels.events import Judgement, submit
from eds.labels.own_work import PAUSE, Pace, own_acts, pace
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
        found = own_acts(store, "ann")
        assert found["campaign"].tolist() == [name, name]
        assert found["first"].tolist() == [True, False]
        assert found["seconds"].tolist() == [2.0, 3.0]
        assert found["value"].isna().tolist() == [False, True]
        assert len(own_acts(store, "bob")) == 12
        assert len(own_acts(store, "cid")) == 0


@given(gaps=some.lists(some.floats(0.01, 400), min_size=1, max_size=60), since=some.floats(0, 300))
def test_pace_leaves_breaks_out(gaps: list[float], since: float) -> None:
    gaps = [gap for gap in gaps if abs(gap - PAUSE) > 1e-3]
    moments = [NOW]
    for gap in gaps:
        moments.append(moments[-1] + pd.Timedelta(microseconds=round(gap * 1e6)))
    found = pace(pd.Series(moments), moments[-1] + pd.Timedelta(seconds=since))
    working = [gap for gap in gaps if gap < PAUSE]
    assert found.per_hour == (pytest.approx(3600 * len(working) / sum(working), rel=1e-4) if len(working) > 9 else None)
    stretch = 0.0
    for gap in gaps:
        stretch = 0.0 if gap >= PAUSE else stretch + gap
    if abs(since - PAUSE) > 1e-3:
        assert found.stretch_minutes == pytest.approx(0.0 if since >= PAUSE else stretch / 60, abs=1e-4)


def test_the_pace_of_nothing_is_unknown() -> None:
    assert pace(pd.Series(pd.DatetimeIndex([], tz="UTC")), NOW) == Pace(None, 0.0)
