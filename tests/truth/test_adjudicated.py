from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import tables
from eds.errors import InputError
from eds.truth import decide, with_adjudications
from tests.truth.acts import PAIRS, act, campaigns, frame

KEY = ["query_id", "candidate_id"]


def lead(rows: dict[tuple[str, str], int]) -> pd.DataFrame:
    return pd.DataFrame([(*pair, value) for pair, value in rows.items()], columns=[*KEY, "value"])


def rows_of(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    records: list[dict[str, Any]] = table.to_dict(orient="records")  # type: ignore[assignment]
    return {(row["query_id"], row["candidate_id"]): row for row in records}


@given(campaigns(), st.dictionaries(st.sampled_from([*PAIRS, ("new", "pair")]), st.sampled_from([0, 1])))
def test_only_the_decided_pairs_change_and_the_votes_stay(
    acts: list[dict[str, Any]], rows: dict[tuple[str, str], int]
) -> None:
    plain = decide(frame(acts), 3)
    found = with_adjudications(plain, lead(rows))
    before, after, open_before = rows_of(plain.truth), rows_of(found.truth), rows_of(plain.undecided)
    assert set(after) == set(before) | set(rows)
    assert set(rows_of(found.undecided)) == set(open_before) - set(rows)
    for pair, row in after.items():
        if pair not in rows:
            assert row == before[pair]
            continue
        votes = before.get(pair) or open_before.get(pair) or dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
        assert (row["value"], row["rule"]) == (rows[pair], "adjudication")
        assert all(row[name] == votes[name] for name in ("votes_for", "votes_against", "unsure"))
        assert row["tie"] == (row["votes_for"] == row["votes_against"] > 0)
    assert found.truth[KEY].apply(tuple, axis=1).is_monotonic_increasing
    tables.check(found.truth, tables.TRUTH)
    assert found.counts["adjudicated"] == len(rows)
    assert found.counts["positive"] == sum(row["value"] for row in after.values())
    assert found.counts["open"] + found.counts["undefined"] == len(found.undecided)
    assert {name: found.counts[name] for name in ("complete", "decided", "ties")} == {
        name: plain.counts[name] for name in ("complete", "decided", "ties")
    }


def test_of_a_pair_given_twice_or_a_value_that_is_none_nothing_is_made() -> None:
    plain = decide(frame([act(0)]), 3, as_of=datetime(2027, 1, 1, tzinfo=UTC))
    twice = pd.concat([lead({("q1", "9"): 1})] * 2)
    for wrong in (twice, lead({("q1", "9"): 2}), lead({}).drop(columns="value")):
        with pytest.raises(InputError, match=r"stand there twice|is missing"):
            with_adjudications(plain, wrong)
