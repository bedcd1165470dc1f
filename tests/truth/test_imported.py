"""Labels that came with a benchmark beside what the votes here came to: none is lost, none decided twice."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.tables import TRUTH, check
from eds.truth import Decision, with_imported
from eds.truth.imported import split

NAMES = [f"c{number}" for number in range(8)]
values = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1))


def table(labels: dict[str, int], rule: str) -> pd.DataFrame:
    names = sorted(labels)
    frame = TRUTH.empty()
    if names:
        votes = {"votes_for": 1, "votes_against": 0, "unsure": 0, "tie": False}
        frame = pd.DataFrame({"query_id": "q", "candidate_id": names, "value": [labels[name] for name in names],
                              **votes, "rule": rule})  # fmt: skip
    return frame


def plain(frame: pd.DataFrame) -> dict[str, tuple[int, str]]:
    return {name: (value, rule) for name, value, rule in frame[["candidate_id", "value", "rule"]].to_numpy().tolist()}


COUNTS = {"complete": 0, "decided": 0, "open": 0, "undefined": 0, "ties": 0, "positive": 0}


@given(values, values, st.booleans())
def test_every_pair_keeps_one_label(came: dict[str, int], voted: dict[str, int], anew: bool) -> None:
    decision = Decision(table(voted, "majority"), pd.DataFrame(), COUNTS)
    both, differing = with_imported(decision, table(came, "imported vsd"), anew=anew)
    theirs = {name: (value, "imported vsd") for name, value in came.items()}
    mine = {name: (value, "majority") for name, value in voted.items()}
    assert plain(both.truth) == ({**theirs, **mine} if anew else {**mine, **theirs})
    assert set(differing["candidate_id"]) == {name for name in came.keys() & voted if came[name] != voted[name]}
    check(both.truth, TRUTH)
    assert both.counts["positive"] == int(both.truth["value"].sum())
    assert both.counts.get("imported", 0) == len(came.keys() - voted.keys() if anew else came)


@pytest.mark.parametrize("came_so", [True, False])
def test_what_no_vote_here_has_made(came_so: bool) -> None:
    stored = pd.concat([table({"c0": 1, "c1": 0}, "majority"), table({"c2": 1, "c3": 0}, "imported hf")])
    acts = pd.DataFrame({"query_id": "q", "candidate_id": ["c1", "c3", "c7"]})
    imported, own = split(stored, acts, came_so=came_so)
    marked = {"c2": (1, "imported hf"), "c3": (0, "imported hf")}
    assert plain(imported) == (marked | {"c0": (1, "imported, majority")} if came_so else marked)
    assert plain(own) == ({"c1": (0, "majority")} if came_so else {"c0": (1, "majority"), "c1": (0, "majority")})
