"""The delta pool of a new model, against plain loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import EdsError
from eds.suspects import Batching, draw_delta, pool, sources_frame
from tests.reference.suspects import Row
from tests.suspects.lists import drawn_lists, frame_of

PAIR = ["query_id", "candidate_id"]


def pairs_of(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["query_id"], frame["candidate_id"], strict=True))


def case(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[tuple[str, str], int]]:
    """The new model's lists; suspects of two other models, pooled at 4; the pairs of them judged; and its ranks."""
    rows: list[Row] = drawn_lists(8, 3, 10, 30, seed)
    suspects = pool(frame_of([row for row in rows if row[0] != "m2"]), 4, Batching(size=7))
    judged = suspects.sample(frac=0.8, random_state=seed)[PAIR]
    mine = frame_of([row for row in rows if row[0] == "m2"])
    ranks = dict(zip(pairs_of(mine), mine["rank"].tolist(), strict=True))
    return mine, suspects, judged, ranks


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40), st.integers(1, 8), st.one_of(st.none(), st.integers(1, 70)))
def test_what_nobody_judged_first_ranks_first(seed: int, k: int, n: int | None) -> None:
    mine, suspects, judged, ranks = case(seed)
    queries = judged["query_id"].drop_duplicates()
    found = draw_delta(mine, suspects, judged, queries, k, n, seed=3)
    done, there, asked = set(pairs_of(judged)), set(pairs_of(suspects)), set(queries)
    near = {pair: rank for pair, rank in ranks.items() if rank < k and pair[0] in asked}
    free = {pair: rank for pair, rank in near.items() if pair not in done and pair not in there}
    new = found.suspects.iloc[len(suspects) :]
    assert (found.places, found.judged) == (len(near), len(near.keys() & done))
    assert found.waiting == len([pair for pair in near if pair in there and pair not in done])
    assert (found.chosen, found.left) == (len(new), len(free) - len(new))
    assert len(new) == min(len(free), n or len(free))
    took = [free[pair] for pair in pairs_of(new)]
    assert took == sorted(free.values())[: len(new)]  # the first ranks come first, and no pair twice
    assert len(set(pairs_of(new))) == len(new)
    sizes = pd.Series(list(free.values()), dtype="int64").value_counts()
    for rank in set(took):
        share = new.loc[np.array(took) == rank, "probability"]
        assert share.tolist() == pytest.approx([took.count(rank) / sizes[rank]] * took.count(rank))
    if len(new):
        assert set(new["stratum"]) == {"delta:m2"}
        assert new["sources"].tolist() == [f"m2:{rank}" for rank in took]
        assert new["batch"].nunique() == 1
        assert new["batch"].iloc[0] > suspects["batch"].max()
    kept = found.suspects.iloc[: len(suspects)]
    unchanged = [*PAIR, "origin", "batch", "position", "stratum", "probability"]
    pd.testing.assert_frame_equal(kept[unchanged], suspects[unchanged])
    told = sources_frame(kept)
    by_others = {row for row in told.itertuples(index=False, name=None) if row[0] != "m2"}
    assert by_others == set(sources_frame(suspects).itertuples(index=False, name=None))
    by_it = {(q, c, rank) for model, q, c, rank in told.itertuples(index=False, name=None) if model == "m2"}
    assert by_it == {(*pair, rank) for pair, rank in near.items() if pair in there}
    again = draw_delta(
        mine.sample(frac=1, random_state=1),
        suspects.sample(frac=1, random_state=2),
        judged.iloc[::-1],
        queries.iloc[::-1],
        k,
        n,
        seed=3,
    )
    key = ["position", *PAIR]
    first, second = (one.suspects.sort_values(key, ignore_index=True) for one in (found, again))
    pd.testing.assert_frame_equal(first, second)


def test_what_was_left_comes_next_time_and_what_waits_is_not_chosen_again() -> None:
    mine, suspects, judged, _ = case(1)
    queries = judged["query_id"].drop_duplicates()
    first = draw_delta(mine, suspects, judged, queries, 5, 9)
    second = draw_delta(mine, first.suspects, judged, queries, 5)
    whole = draw_delta(mine, suspects, judged, queries, 5)
    assert second.waiting == first.waiting + first.chosen
    assert second.chosen == first.left
    assert set(pairs_of(second.suspects)) == set(pairs_of(whole.suspects))
    assert second.judged_after == whole.judged_after == 1.0
    every = pd.concat([judged, second.suspects[PAIR]])
    assert draw_delta(mine, second.suspects, every, queries, 5).chosen == 0


def test_labels_of_random_draws_come_in_for_nothing() -> None:
    mine, suspects, judged, ranks = case(1)
    queries = judged["query_id"].drop_duplicates()
    asked, there, done = (set(queries), set(pairs_of(suspects)), set(pairs_of(judged)))
    near = {pair for pair, rank in ranks.items() if rank < 5 and pair[0] in asked}
    drawn = sorted(near - there - done)[::3]
    known = pd.DataFrame([*drawn, *sorted(done)], columns=PAIR)
    found = draw_delta(mine, suspects, judged, queries, 5, 4, known=known)
    assert (found.known, found.chosen) == (len(drawn), 4)
    new = found.suspects.iloc[len(suspects) :]
    assert set(drawn) <= set(pairs_of(new))
    assert new["probability"].tolist()[: len(drawn)] == [1.0] * len(drawn)
    assert found.known + found.chosen + found.left == len(near - there - done)
    assert found.judged_after == pytest.approx(1 - found.left / found.places)


def test_a_prefix_of_a_rank_is_drawn_evenly() -> None:
    lists = frame_of([("new", f"q{number:02}", "c", 0) for number in range(20)])
    nothing = pd.DataFrame({"query_id": ["x"], "candidate_id": ["y"]})
    times = dict.fromkeys(lists["query_id"].tolist(), 0)
    for seed in range(120):
        chosen = draw_delta(lists, None, nothing, lists["query_id"], 1, 5, seed=seed).suspects
        assert chosen["probability"].tolist() == [0.25] * 5
        for query in chosen["query_id"]:
            times[query] += 1
    assert all(10 < count < 50 for count in times.values())  # 30 expected, 4.7 apart


def test_what_cannot_be_meant_is_refused() -> None:
    mine, suspects, judged, _ = case(2)
    queries = judged["query_id"]
    with pytest.raises(EdsError, match="k is 0"):
        draw_delta(mine, suspects, judged, queries, 0)
    with pytest.raises(EdsError, match="n is 0"):
        draw_delta(mine, suspects, judged, queries, 3, 0)
    with pytest.raises(EdsError, match="2 models have lists"):
        draw_delta(pd.concat([mine, mine.assign(model="m3")]), suspects, judged, queries, 3)
    with pytest.raises(EdsError, match="column candidate_id is missing"):
        draw_delta(mine, suspects, judged[["query_id"]], queries, 3)
