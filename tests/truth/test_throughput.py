"""Pace: hours of sittings, not of the nights between them."""

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.truth.throughput import expert_pace

START = pd.Timestamp("2026-01-01", tz="UTC")


def labels(rows: list[tuple[str, int, float | None]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["expert_id", "second", "seconds"])
    return frame.assign(
        created_at=START + pd.to_timedelta(frame["second"], unit="s"), seconds=frame["seconds"].astype(float)
    )


def test_sittings_hours_and_pace() -> None:
    ann = [("ann", 10, 10.0), ("ann", 910, 4.0), ("ann", 1811, 99.0), ("ann", 1812, 1.0)]
    rows: list[tuple[str, int, float | None]] = [("bob", 5, None), *ann]
    found = expert_pace(labels(rows))
    assert found["expert_id"].tolist() == ["ann", "bob"]
    assert found["acts"].tolist() == [4, 1]
    assert found["sittings"].tolist() == [2, 1]  # 900 s is still a pause within, 901 s not
    assert found["hours"].tolist() == pytest.approx([(10 + 900 + 99 + 1) / 3600, 0])
    assert found["per_hour"].tolist() == pytest.approx([4 / (1010 / 3600), np.nan], nan_ok=True)
    assert found["last_at"].tolist() == [START + pd.Timedelta(seconds=one) for one in (1812, 5)]
    pd.testing.assert_frame_equal(found, expert_pace(labels(rows[::-1])))


def test_nothing_and_nonsense() -> None:
    assert expert_pace(labels([])).empty
    with pytest.raises(InputError, match="more than 0"):
        expert_pace(labels([]), rest=0)
