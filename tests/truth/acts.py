"""Random campaigns: acts of a few experts on a few pairs, with corrections, repeats and gold."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from eds.tables import LABELS

START = datetime(2026, 1, 1, tzinfo=UTC)
EXPERTS = ("ada", "bo", "cy")
PAIRS = (("q1", "10"), ("q1", "9"), ("q2", "9"), ("é", "Z"))


def act(number: int, **values: Any) -> dict[str, Any]:
    """An act with everything that a test does not care about."""
    return {
        "label_id": f"act-{number}",
        "query_id": "q1",
        "candidate_id": "9",
        "expert_id": "ada",
        "value": 1,
        "seconds": 1.0,
        "created_at": START + timedelta(seconds=number),
        "session_id": None,
        "kind": "normal",
        "supersedes": None,
        "guideline": None,
        **values,
    }


def frame(acts: list[dict[str, Any]]) -> pd.DataFrame:
    """The acts as a labels frame."""
    empty = LABELS.empty()
    return pd.DataFrame(
        {name: pd.Series([one[name] for one in acts], dtype=empty[name].dtype) for name in LABELS.names}
    )


@st.composite
def campaigns(draw: st.DrawFn, max_acts: int = 30) -> list[dict[str, Any]]:
    """Acts at different times; a correction may name what it corrects, and may bear an earlier time than it."""
    count = draw(st.integers(0, max_acts))
    times = draw(st.permutations(range(count)))
    acts: list[dict[str, Any]] = []
    for number in range(count):
        query, candidate = draw(st.sampled_from(PAIRS))
        one = act(
            number,
            query_id=query,
            candidate_id=candidate,
            expert_id=draw(st.sampled_from(EXPERTS)),
            value=draw(st.sampled_from([1, 0, None])),
            seconds=draw(st.sampled_from([None, 0.5, 2.0, 7.0])),
            created_at=START + timedelta(seconds=times[number]),
            kind=draw(st.sampled_from(["normal", "normal", "normal", "gold", "repeat"])),
        )
        own = [
            other["label_id"]
            for other in acts
            if all(other[name] == one[name] for name in ("query_id", "candidate_id", "expert_id", "kind"))
        ]
        one["supersedes"] = draw(st.sampled_from([None, *own]))
        acts.append(one)
    return acts
