import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.suspects import labels_frame, lists_frame, overlap, pool_growth, positive_rates
from eds.tables import NEIGHBORS
from tests.reference import suspects as slow
from tests.suspects.lists import NAMES, frame_of, rankings
from tests.test_spec_vectors import differences


@given(rankings(), st.integers(1, 8))
def test_overlap_is_that_of_plain_sets(rows: list[slow.Row], k: int) -> None:
    found = overlap(frame_of(rows), k)
    assert differences(found, slow.overlapped(row for row in rows if row[3] < k), 1e-12) == []
    exactly = found["proposed_by_exactly"]
    assert sum(j * count for j, count in enumerate(exactly, 1)) == found["raw"]
    assert sum(exactly) == found["unique"]
    assert sum(found["unique_by_model"].values()) == exactly[0]
    for shares, jaccards in zip(found["overlap"], found["jaccard_pooled"], strict=True):
        for share, jaccard in zip(shares, jaccards, strict=True):
            assert share >= jaccard
            assert (share == jaccard) == (share in (0.0, 1.0))


@given(rankings(), st.lists(st.integers(1, 7), min_size=4, max_size=4))
def test_lists_of_different_lengths_overlap_by_the_shorter(rows: list[slow.Row], depths: list[int]) -> None:
    depth = dict(zip(NAMES, depths, strict=True))
    cut = [row for row in rows if row[3] < depth[row[0]]]
    assert differences(overlap(frame_of(cut)), slow.overlapped(cut), 1e-12) == []


def test_a_list_within_a_longer_one_overlaps_wholly() -> None:
    found = overlap(lists_frame({"a": {"q": ["x", "y", "z"]}, "b": {"q": ["y"]}}))
    assert found["overlap"][0][1] == 1.0
    assert found["jaccard_pooled"][0][1] == pytest.approx(1 / 3)


@given(rankings(), st.integers(1, 9))
def test_growth_is_the_size_of_each_cut(rows: list[slow.Row], k_max: int) -> None:
    found = pool_growth(frame_of(rows), k_max)
    assert found["size"] == slow.grown(rows, k_max)
    assert sum(found["marginal"]) == found["size"][-1]


def test_nothing_listed_is_undefined_and_not_zero() -> None:
    found = overlap(lists_frame({"a": {"q": ["x", "y"], "r": []}}), n_queries=2)
    assert found["mean_candidates_per_query"] == 1.0
    found = overlap(NEIGHBORS.empty())
    assert found["unique"] == 0
    assert math.isnan(found["duplication_rate"])
    assert math.isnan(found["mean_candidates_per_query"])


def test_equal_labels_collapse_and_contradictory_ones_are_refused() -> None:
    lists = lists_frame({"m": {"q": ["a", "b"]}})
    twice = labels_frame([("q", "a", 1), ("q", "a", 1), ("other", "a", 0)])
    pool = positive_rates(lists, twice).pool
    assert (pool.pairs, pool.labelled, pool.positive, pool.value) == (2, 1, 1, 1.0)
    with pytest.raises(InputError, match="q a is both 1 and 0"):
        positive_rates(lists, labels_frame([("q", "a", 1), ("q", "a", 0)]))


@pytest.mark.parametrize("value", [2, -1, None, "yes", 0.5])
def test_labels_other_than_one_and_zero_are_refused(value: object) -> None:
    labels = pd.DataFrame({"query_id": ["q"], "candidate_id": ["a"], "value": [value]})
    with pytest.raises(InputError, match="column value"):
        positive_rates(lists_frame({"m": {"q": ["a"]}}), labels)


def test_labels_without_a_column_are_refused() -> None:
    with pytest.raises(InputError, match="column value is missing"):
        positive_rates(lists_frame({"m": {"q": ["a"]}}), labels_frame([]).drop(columns="value"))
