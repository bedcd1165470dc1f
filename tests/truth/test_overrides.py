from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.tables import TRUTH, check
from eds.truth import Decision, decide, with_adjudications, with_imported
from eds.truth.overrides import split_imported
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
    check(found.truth, TRUTH)
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
        with pytest.raises(InputError, match=r"are duplicated|is missing"):
            with_adjudications(plain, wrong)


NAMES = [f"c{number}" for number in range(8)]
values = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1))


def table(labels: dict[str, int], rule: str) -> pd.DataFrame:
    names = sorted(labels)
    frame = TRUTH.empty()
    if names:
        votes = {"votes_for": 1, "votes_against": 0, "unsure": 0, "tie": False}
        frame = pd.DataFrame(
            {"query_id": "q", "candidate_id": names, "value": [labels[name] for name in names], **votes, "rule": rule}
        )
    return frame


def plain(frame: pd.DataFrame) -> dict[str, tuple[int, str]]:
    return {name: (value, rule) for name, value, rule in frame[["candidate_id", "value", "rule"]].to_numpy().tolist()}


COUNTS = {"complete": 0, "decided": 0, "open": 0, "undefined": 0, "ties": 0, "positive": 0}


@given(values, values, st.booleans())
def test_every_pair_keeps_one_label(came: dict[str, int], voted: dict[str, int], replaced: bool) -> None:
    decision = Decision(table(voted, "majority"), pd.DataFrame(), COUNTS)
    both, differing = with_imported(decision, table(came, "imported vsd"), replace_imported=replaced)
    theirs = {name: (value, "imported vsd") for name, value in came.items()}
    mine = {name: (value, "majority") for name, value in voted.items()}
    assert plain(both.truth) == ({**theirs, **mine} if replaced else {**mine, **theirs})
    assert set(differing["candidate_id"]) == {name for name in came.keys() & voted if came[name] != voted[name]}
    check(both.truth, TRUTH)
    assert both.counts["positive"] == int(both.truth["value"].sum())
    assert both.counts.get("imported", 0) == len(came.keys() - voted.keys() if replaced else came)


@pytest.mark.parametrize("as_imported", [True, False])
def test_what_no_vote_here_has_made(as_imported: bool) -> None:
    stored = pd.concat([table({"c0": 1, "c1": 0}, "majority"), table({"c2": 1, "c3": 0}, "imported hf")])
    acts = pd.DataFrame({"query_id": "q", "candidate_id": ["c1", "c3", "c7"]})
    imported, own = split_imported(stored, acts, as_imported=as_imported)
    marked = {"c2": (1, "imported hf"), "c3": (0, "imported hf")}
    assert plain(imported) == (marked | {"c0": (1, "imported, majority")} if as_imported else marked)
    assert plain(own) == ({"c1": (0, "majority")} if as_imported else {"c0": (1, "majority"), "c1": (0, "majority")})
