from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError, TableError
from eds.truth.current_votes import KINDS, UNSURE, current_acts
from tests.reference import truth as reference
from tests.truth.acts import START, act, campaigns, frame


def found(labels: pd.DataFrame, as_of: datetime | None = None) -> dict[tuple[str, ...], int | None]:
    acts = current_acts(labels, as_of)
    pairs = acts.frame(acts.pair)
    return {
        (query, candidate, str(acts.experts[expert]), KINDS[kind]): None if value == UNSURE else int(value)
        for query, candidate, expert, kind, value in zip(
            pairs["query_id"], pairs["candidate_id"], acts.expert, acts.kind, acts.value, strict=True
        )
    }


@given(campaigns(), st.integers(-1, 30))
def test_the_current_acts_are_those_of_plain_loops(acts: list[dict[str, Any]], seconds: int) -> None:
    for as_of in (None, START + timedelta(seconds=seconds)):
        expected = {key: one["value"] for key, one in reference.current(acts, as_of).items()}
        assert found(frame(acts), as_of) == expected


@given(campaigns(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(acts: list[dict[str, Any]], random: Any) -> None:
    plain, shuffled = (current_acts(frame(rows)) for rows in (acts, random.sample(acts, len(acts))))
    for name in ("pair", "expert", "kind", "value", "seconds", "created", "query", "candidate", "experts", "order"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(shuffled, name))


def test_a_correction_counts_though_the_clock_went_backwards() -> None:
    acts = [act(5, value=1), act(3, value=0, supersedes="act-5")]
    assert list(found(frame(acts)).values()) == [0]
    assert list(found(frame(acts), START + timedelta(seconds=4)).values()) == [0]


def test_as_of_is_inclusive_and_forgets_later_corrections() -> None:
    acts = [act(1, value=1), act(2, value=None, supersedes="act-1")]
    assert list(found(frame(acts), START + timedelta(seconds=1)).values()) == [1]
    assert list(found(frame(acts), START + timedelta(seconds=2)).values()) == [None]
    assert found(frame(acts), START) == {}


def test_kinds_do_not_correct_each_other() -> None:
    acts = [act(1, value=1), act(2, value=0, kind="repeat"), act(3, value=0, kind="gold")]
    assert sorted(key[3] for key in found(frame(acts))) == ["gold", "normal", "repeat"]


def test_equal_acts_at_one_time_collapse_to_the_smallest_id() -> None:
    acts = [act(2, created_at=START, seconds=9.0), act(10, created_at=START, seconds=4.0)]
    assert current_acts(frame(acts)).seconds.tolist() == [4.0]
    assert current_acts(frame(acts[::-1])).seconds.tolist() == [4.0]


def test_contradictions_at_one_time_are_refused() -> None:
    acts = [act(1, created_at=START), act(2, created_at=START, value=0)]
    with pytest.raises(TableError, match=r"1 acts contradict another .* e\.g\. act-"):
        current_acts(frame(acts))
    settled = [*acts, act(3, value=0)]
    assert list(found(frame(settled)).values()) == [0]
    with pytest.raises(TableError, match="contradict"):
        current_acts(frame(settled), START)


@pytest.mark.parametrize(
    ("acts", "fault"),
    [
        ([act(1, supersedes="gone")], "a missing act: row 0"),
        ([act(1), act(2, supersedes="act-1", expert_id="bo")], "another expert, pair or kind: row 1"),
        ([act(1), act(2, supersedes="act-1", candidate_id="10")], "another expert, pair or kind: row 1"),
        ([act(1), act(2, supersedes="act-1", kind="gold")], "another expert, pair or kind: row 1"),
        ([act(1, supersedes="act-1")], "in a circle: row 0"),
        ([act(1, supersedes="act-3"), act(2, supersedes="act-1"), act(3, supersedes="act-2")], "in a circle: row 0"),
    ],
)
def test_a_broken_chain_is_refused(acts: list[dict[str, Any]], fault: str) -> None:
    with pytest.raises(TableError, match=fault):
        current_acts(frame(acts))


def test_all_faults_are_told_at_once() -> None:
    acts = [act(1, supersedes="gone"), act(2, supersedes="act-2"), act(3, supersedes="act-1", expert_id="bo")]
    with pytest.raises(TableError, match="3 faults") as caught:
        current_acts(frame(acts))
    assert len(caught.value.faults) == 3


def test_a_malformed_frame_is_refused() -> None:
    good = frame([act(1), act(2)])
    for bad in (
        good.drop(columns="expert_id"),
        good.assign(value=7),
        good.assign(label_id="same"),
        good.assign(more=1),
    ):
        with pytest.raises(TableError):
            current_acts(bad)


def test_a_date_needs_a_zone() -> None:
    with pytest.raises(InputError, match="no time zone"):
        current_acts(frame([act(1)]), datetime(2026, 1, 1))
    assert current_acts(frame([act(1)]), datetime(2027, 1, 1, tzinfo=UTC)).n_pairs == 1


def test_a_long_chain_ends_at_its_last_act() -> None:
    acts = [act(n, seconds=n, supersedes=f"act-{n - 1}" if n else None, created_at=START) for n in range(1000)]
    assert current_acts(frame(acts)).seconds.tolist() == [999.0]


def test_empty_text_supersedes_nothing() -> None:
    assert current_acts(frame([act(1, supersedes="")])).n_pairs == 1
