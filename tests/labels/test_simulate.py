"""A campaign filled by simulated experts holds exactly what they said, in the order they were asked."""

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from eds import tables
from eds.labels.campaigns import Plan
from eds.labels.frames import labels_frame
from eds.labels.queue import next_batch, progress
from eds.labels.simulate import fill
from tests.labels.stores import BACKENDS, begin, fresh_store

START = datetime(2026, 1, 1, tzinfo=UTC)


def answer(expert: str, pairs: pd.DataFrame) -> pd.DataFrame:
    """Says similar to c…-0, is unsure of c…-1, and takes a second for each."""
    last = pairs["candidate_id"].str[-1]
    value = pd.Series(pd.NA, index=pairs.index, dtype="Int64").mask(last != "1", (last == "0").astype("Int64"))
    seconds = pd.Series(1.0, index=pairs.index)
    return pd.DataFrame(
        {
            "value": value,
            "seconds": seconds,
            "session_id": f"{expert}@1",
            "created_at": pd.Timestamp(START) + pd.to_timedelta(seconds.cumsum(), unit="s"),
        }
    )


@pytest.mark.parametrize("kind", BACKENDS)
def test_fill(kind: str, tmp_path: Path) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store, Plan("demo", repeat_share=0.25))
        expected = {e: [t.candidate_id for t in next_batch(store, name, e, 99)] for e in ("ann", "bob", "cid")}
        seen: list[tuple[int, int]] = []
        acts = fill(store, name, answer, progress_of=lambda done, total: seen.append((done, total)))
        frame = labels_frame(store)
        tables.check(frame, tables.LABELS)
        assert len(frame) == acts == seen[-1][0]
        assert progress(store, name)["left"].tolist() == [0, 0, 0]
        for expert, order in expected.items():
            mine = frame[frame["expert_id"] == expert]
            first = mine[mine["supersedes"].isna()]
            assert first["candidate_id"].tolist() == order
            assert first["created_at"].tolist() == [
                pd.Timestamp(START) + pd.Timedelta(seconds=i + 1) for i in range(15)
            ]
            current = mine[~mine["label_id"].isin(mine["supersedes"])]
            assert current["value"].isna().eq(current["candidate_id"].str.endswith("-1")).all()
            assert current["value"].eq(1).fillna(False).eq(current["candidate_id"].str.endswith("-0")).all()
        assert fill(store, name, answer) == 0
