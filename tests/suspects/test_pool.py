import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError, TableError, UnknownNameError
from eds.suspects import Batching, pool, reorder, reversed_pairs, shared_ranks, sources_frame
from eds.tables import NEIGHBORS, SUSPECTS, check
from tests.reference import suspects as slow
from tests.suspects.lists import drawn_lists, frame_of, rankings

ORDERS = ["random", "fusion", "bandit"]


def pairs_of(frame: pd.DataFrame) -> dict[tuple[str, str], str]:
    return dict(zip(zip(frame["query_id"], frame["candidate_id"], strict=True), frame["sources"], strict=True))


@given(rankings(), st.integers(1, 9), st.sampled_from(ORDERS))
def test_pool_is_the_union_with_its_provenance(rows: list[slow.Row], k: int, order: str) -> None:
    found = pool(frame_of(rows), k, Batching(order=order, size=3))
    check(found, SUSPECTS)
    assert pairs_of(found) == slow.pooled(rows, k)
    assert len(found) <= len({row[0] for row in rows}) * len({row[1] for row in rows}) * k
    told = sources_frame(found)
    assert sorted(map(tuple, told.to_numpy().tolist())) == sorted(row for row in rows if row[3] < k)
    assert found["position"].tolist() == list(range(len(found)))
    assert found["batch"].is_monotonic_increasing
    assert found["batch"].value_counts().max() <= 3
    assert found["probability"].between(0, 1, inclusive="right").all()


@given(rankings(), st.sampled_from(ORDERS), st.integers(0, 5))
def test_shuffled_rows_give_the_same_pool(rows: list[slow.Row], order: str, seed: int) -> None:
    one, two = (pool(frame_of(rows, shuffle), 3, Batching(order=order, size=2, seed=seed)) for shuffle in (1, 2))
    pd.testing.assert_frame_equal(one, two)


@given(rankings(), st.integers(1, 4))
def test_merged_pool_holds_one_of_two_symmetric_pairs(rows: list[slow.Row], k: int) -> None:
    kept, merged = (pool(frame_of(rows), k, symmetric=rule) for rule in ("keep", "merge"))
    assert set(pairs_of(merged)) == slow.merged(rows, k)
    assert reversed_pairs(merged) == 0
    assert reversed_pairs(kept) == len(kept) - len(merged)


@given(rankings(), st.integers(1, 5), st.integers(1, 3), st.data())
def test_a_cut_takes_tie_groups_whole_where_it_is_told_to(
    rows: list[slow.Row], k: int, distinct: int, data: st.DataObject
) -> None:
    """Every model has few different scores, as codes do; some models take ties whole, some are cut by id."""
    lists = frame_of(rows)
    lists["score"] = -(lists["rank"] // distinct).astype(float)
    names = sorted(lists["model"].unique())
    whole = data.draw(st.lists(st.sampled_from(names), unique=True))
    found = pool(lists, k, whole_ties=whole)
    expected: dict[tuple[str, str], dict[str, int]] = {}
    for model, query, candidate, rank in rows:
        if model not in whole:
            place = rank
        else:  # how many score more
            place = sum(
                1 for m, q, _, other in rows if (m, q) == (model, query) and other // distinct < rank // distinct
            )
        if place < k:
            expected.setdefault((query, candidate), {})[model] = place
    assert pairs_of(found) == {
        pair: ";".join(f"{name}:{by[name]}" for name in sorted(by)) for pair, by in expected.items()
    }
    pd.testing.assert_frame_equal(pool(lists.iloc[::-1], k, whole_ties=whole), found)
    pd.testing.assert_frame_equal(pool(shared_ranks(lists, whole), k, whole_ties=whole), found)
    pd.testing.assert_frame_equal(pool(lists, k, whole_ties=whole, previous=found), found)


def test_a_model_added_later_yields_only_the_delta_pool() -> None:
    rows = drawn_lists(8, 3, 4, 15)
    first = [row for row in rows if row[0] != "m2"]
    before = pool(frame_of(first), 4, Batching(size=7))
    after = pool(frame_of(rows), 4, Batching(size=7), previous=before)
    columns = ["query_id", "candidate_id", "batch", "position", "stratum", "probability"]
    pd.testing.assert_frame_equal(after[columns].head(len(before)), before[columns])
    delta = after.iloc[len(before) :]
    assert set(pairs_of(delta)) == set(slow.pooled(rows, 4)) - set(slow.pooled(first, 4))
    assert delta["batch"].min() == before["batch"].max() + 1
    assert delta["position"].tolist() == list(range(len(before), len(after)))
    assert pairs_of(after) == slow.pooled(rows, 4), "old pairs tell the new model too"
    pd.testing.assert_frame_equal(pool(frame_of(rows), 4, Batching(size=7), previous=after), after)


def test_a_model_removed_loses_no_row_and_its_sources_stay() -> None:
    rows = drawn_lists(8, 3, 4, 15)
    before = pool(frame_of(rows), 4)
    pd.testing.assert_frame_equal(pool(frame_of(rows), 4, models=["m0", "m1"], previous=before), before)
    pd.testing.assert_frame_equal(pool(frame_of(rows), 2, previous=before), before)


def test_a_model_mined_anew_keeps_old_rows_and_takes_new_ranks() -> None:
    before = pool(frame_of([("m", "q", "a", 0), ("m", "q", "b", 1)]), 2)
    after = pool(frame_of([("m", "q", "c", 0), ("m", "q", "a", 1)]), 2, previous=before)
    assert pairs_of(after) == {("q", "a"): "m:1", ("q", "b"): "m:1", ("q", "c"): "m:0"}


def test_merge_does_not_ask_again_what_was_there_mirrored() -> None:
    before = pool(frame_of([("m", "a", "b", 1), ("m", "a", "x", 0), ("m", "b", "y", 0), ("m", "b", "z", 1)]), 2)
    rows: list[slow.Row] = [("n", "a", "x", 0), ("n", "a", "y", 1), ("n", "b", "a", 0), ("n", "b", "x", 1)]
    after = pool(frame_of(rows), 2, previous=before, symmetric="merge")
    assert set(pairs_of(after)) - set(pairs_of(before)) == {("a", "y"), ("b", "x")}


def test_batches_of_the_random_order_are_balanced() -> None:
    found = pool(frame_of(drawn_lists(60, 3, 5, 30)), 5, Batching(size=40))
    depth = sources_frame(found).groupby(["query_id", "candidate_id"])["rank"].min().rename("depth").reset_index()
    table = found.merge(depth)
    assert np.ptp(table["batch"].value_counts()) <= 1
    by_depth = table.groupby(["depth", "batch"]).size().unstack(fill_value=0)
    assert (by_depth.max(axis=1) - by_depth.min(axis=1) <= 2).all()


def test_fusion_puts_the_best_fused_pairs_first() -> None:
    found = pool(frame_of(drawn_lists(40, 3, 5, 20)), 5, Batching(order="fusion", size=50, floor=0.2))
    ranks = sources_frame(found)
    fused = (1 / (61 + ranks["rank"])).groupby([ranks["query_id"], ranks["candidate_id"]]).sum().rename("score")
    table = found.merge(fused.reset_index(), on=["query_id", "candidate_id"])
    first = table[table["batch"] == 0]
    certain = first[first["probability"] == 1]
    assert 30 <= len(certain) <= 40
    assert certain["score"].min() >= table.drop(certain.index)["score"].max() - 1e-12


def test_bandit_follows_the_labels() -> None:
    rows = drawn_lists(200, 2, 4, 4000, seed=3)
    frame = frame_of([(m, q, f"{m}{c}", r) for m, q, c, r in rows])  # lists without common pairs
    plain = pool(frame, 4, Batching(order="bandit", size=100))
    told = plain[plain["batch"] < 4].assign(value=lambda t: t["sources"].str.startswith("m1").astype(int))
    truth = told[["query_id", "candidate_id", "value"]]
    after = reorder(plain, truth, Batching(order="bandit", size=100, truth=truth))
    following = after[after["batch"] == sorted(after["batch"].unique())[4]]
    assert following["sources"].str.startswith("m1").mean() > 0.8
    kept = after["batch"] < 4
    pd.testing.assert_frame_equal(after[kept], plain[kept])
    assert set(pairs_of(after)) == set(pairs_of(plain))


def base() -> list[slow.Row]:
    return [(m, q, c, r) for m in ("a", "b") for q in ("q1", "q2") for r, c in enumerate("xyz")]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "6", None])
def test_k_below_one_is_refused(k: object) -> None:
    with pytest.raises(InputError, match="k is"):
        pool(frame_of(base()), k)  # type: ignore[arg-type]


def test_empty_lists_are_refused() -> None:
    with pytest.raises(InputError, match="no lists to pool"):
        pool(NEIGHBORS.empty(), 3)


def test_models_with_different_queries_are_told() -> None:
    rows = [row for row in base() if row[:2] != ("b", "q2")]
    with pytest.raises(InputError, match=r"model b has no list for 1 of 2 queries: 'q2'"):
        pool(frame_of(rows), 3)


def test_a_model_that_was_mined_less_deep_is_told() -> None:
    rows = [row for row in base() if row[0] == "a" or row[3] < 2]
    with pytest.raises(InputError, match="model b end at depth 2, others reach 3"):
        pool(frame_of(rows), 3)
    assert len(pool(frame_of(rows), 2)) == 4


def test_unknown_model_lists_the_known() -> None:
    with pytest.raises(InputError, match=r"no lists of model c\. Known: a, b"):
        pool(frame_of(base()), 3, models=["a", "c"])


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (("a", "q1", "x", 0), "must be unique"),
        (("a", "q1", "w", 1), "two candidates at one rank"),
        (("a", "q1", "q1", 1), "lists the query itself"),
        (("a", "q1", "w\0", 1), "NUL"),
        (("a", "", "w", 1), "empty text"),
        (("a;b", "q1", "w", 1), "cannot name a model"),
        (("a", "q1", "w", -1), "at least 0"),
        (("a", None, "w", 1), "may not be empty"),
    ],
)
def test_bad_rows_are_told(row: tuple[str, str, str, int], told: str) -> None:
    with pytest.raises(InputError, match=told):
        pool(frame_of([*base(), row]), 3)


def test_missing_column_is_told() -> None:
    with pytest.raises(TableError, match="column rank is missing"):
        pool(frame_of(base()).drop(columns="rank"), 3)


@pytest.mark.parametrize(
    ("batching", "options"),
    [
        (Batching(order="best"), {}),
        (Batching(size=0), {}),
        (Batching(floor=0.0), {}),
        (Batching(seed=-1), {}),
        (Batching(), {"symmetric": "drop"}),
    ],
)
def test_bad_options_are_refused(batching: Batching, options: dict[str, str]) -> None:
    with pytest.raises((InputError, UnknownNameError)):
        pool(frame_of(base()), 3, batching, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["clip", "clip:", "clip:-1", "clip:1.0", ":3", "a:1;;b:2", "a b:1"])
def test_sources_that_are_not_sources_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        sources_frame(pd.DataFrame({"query_id": ["q"], "candidate_id": ["c"], "sources": [text]}))
