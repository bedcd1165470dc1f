"""How p_k grew: each decided pair from its last vote on."""

import pandas as pd
import pytest

from eds.errors import InputError
from eds.intervals import FEW, rate_interval
from eds.truth.rate_curve import rate_growth

START = pd.Timestamp("2026-01-01", tz="UTC")


def labels(seconds: dict[str, list[int]], kind: str = "normal") -> pd.DataFrame:
    rows = [(candidate, START + pd.Timedelta(seconds=one)) for candidate, all_ in seconds.items() for one in all_]
    return pd.DataFrame(rows, columns=["candidate_id", "created_at"]).assign(query_id="q", kind=kind)


def truth(values: dict[str, int]) -> pd.DataFrame:
    return pd.DataFrame({"query_id": "q", "candidate_id": list(values), "value": list(values.values())})


def test_pairs_count_from_their_last_vote_on() -> None:
    votes = pd.concat(
        [labels({"late": [1, 99], "early": [2, 3], "mid": [50], "open": [5]}), labels({"early": [500]}, "repeat")]
    )
    found = rate_growth(votes, truth({"late": 1, "early": 0, "mid": 1}))
    assert found["at"].tolist() == [START + pd.Timedelta(seconds=one) for one in (3, 50, 99)]
    assert found[["labelled", "positive"]].to_numpy().tolist() == [[1, 0], [2, 1], [3, 2]]
    assert found["rate"].tolist() == pytest.approx([0, 1 / 2, 2 / 3])
    assert set(found["no_interval"]) == {FEW}  # of one query
    pd.testing.assert_frame_equal(found, rate_growth(votes.iloc[::-1], truth({"mid": 1, "late": 1, "early": 0})))


def test_many_points_are_thinned_and_the_last_one_stays() -> None:
    names = {f"c{i:04d}": [i] for i in range(1000)}
    found = rate_growth(labels(names), truth({name: int(i % 4 > 0) for i, name in enumerate(names)}), points=50)
    assert len(found) == 50
    assert found["labelled"].iloc[[0, -1]].tolist() == [1, 1000]
    assert found["rate"].iloc[-1] == 0.75


def test_the_interval_of_each_point_is_over_the_queries_so_far() -> None:
    names = [f"c{i:03d}" for i in range(60)]
    queries = {name: f"q{i % 20}" for i, name in enumerate(names)}
    votes = labels({name: [i] for i, name in enumerate(names)})
    decided = truth({name: int(i % 7 > 1) for i, name in enumerate(names)})
    votes, decided = (rows.assign(query_id=rows["candidate_id"].map(queries)) for rows in (votes, decided))
    found = rate_growth(votes, decided, points=60)
    for n in (30, 60):
        part = decided.iloc[:n].groupby("query_id")["value"]
        expected = rate_interval(part.sum(), part.size())
        assert tuple(found[["low", "high"]].iloc[n - 1]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found["no_interval"].iloc[6] == FEW


def test_nothing_decided() -> None:
    assert rate_growth(labels({"a": [1]}), truth({})).empty
    with pytest.raises(InputError, match="2 or more"):
        rate_growth(labels({"a": [1]}), truth({}), points=1)
