"""Between which values missing labels leave a measure, against all ways to complete the labels."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.analysis.label_bounds import intervals, least_to_decide
from eds.metrics import Measure
from eds.metrics.judged_lists import judge, read_rankings
from eds.pairs import LabelledPairs

P = 0.8
Lists = dict[str, list[str]]


def frame_of(lists: dict[str, Lists]) -> pd.DataFrame:
    rows = [
        (model, query, candidate, rank)
        for model, told in lists.items()
        for query, ranked in told.items()
        for rank, candidate in enumerate(ranked)
    ]
    return pd.DataFrame(rows, columns=["model", "query_id", "candidate_id", "rank"])


def labels_of(labels: dict[tuple[str, str], int]) -> pd.DataFrame:
    rows = [(*pair, value) for pair, value in labels.items()]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"]).astype({"value": "int64"})


def slow_precision(lists: Lists, labels: dict[tuple[str, str], int], k: int, queries: set[str]) -> float:
    return float(np.mean([sum(labels.get((q, c), 0) for c in lists[q][:k]) / k for q in sorted(queries)]))


def slow_rbp(lists: Lists, labels: dict[tuple[str, str], int]) -> float:
    queries = sorted({query for query, _ in labels})
    return float(
        np.mean([(1 - P) * sum(P**n * labels.get((q, c), 0) for n, c in enumerate(lists[q])) for q in queries])
    )


@st.composite
def judged_lists(draw: st.DrawFn) -> tuple[Lists, dict[tuple[str, str], int]]:
    """Two queries with four candidates each, a positive of each among the labels, up to five places without one."""
    lists = {query: draw(st.permutations(["a", "b", "c", "d"])) for query in ("q", "r")}
    labels = {(query, "z"): 1 for query in lists}
    for query, candidate in itertools.product(lists, "abcd"):
        if (value := draw(st.sampled_from([None, 0, 1]))) is not None:
            labels[query, candidate] = value
    return lists, labels


@settings(max_examples=40, deadline=None)
@given(judged_lists(), st.integers(1, 4))
def test_intervals_are_what_every_way_to_complete_the_labels_gives(
    given_lists: tuple[Lists, dict[tuple[str, str], int]], k: int
) -> None:
    lists, labels = given_lists
    judged = judge(read_rankings(frame_of({"m": lists})), None, LabelledPairs.from_frame(labels_of(labels)))
    open_pairs = [(q, c) for q in lists for c in lists[q] if (q, c) not in labels]
    found: dict[str, list[float]] = {name: [] for name in ("P", "RBP", "Success", "RR", "VSD-MRR")}
    for values in itertools.product([0, 1], repeat=len(open_pairs)):
        full = labels | dict(zip(open_pairs, values, strict=True))
        found["P"].append(slow_precision(lists, full, k, {"q", "r"}))
        found["RBP"].append(slow_rbp(lists, full))
        hits = {q: [1 / n for n, c in enumerate(lists[q][:k], 1) if full.get((q, c))] for q in ("q", "r")}
        found["Success"].append(float(np.mean([bool(part) for part in hits.values()])))
        found["RR"].append(float(np.mean([max(part, default=0) for part in hits.values()])))
        found["VSD-MRR"].append(
            float(np.mean([sum(part) for part in hits.values()])) / sum(1 / n for n in range(1, k + 1))
        )
    for measure in (Measure("P", k=k), Measure("VSD-HR", k=k)):
        low, high = intervals(judged, measure)
        assert low["m"] == pytest.approx(min(found["P"]), abs=1e-12)
        assert high["m"] == pytest.approx(max(found["P"]), abs=1e-12)
    for name in ("Success", "RR", "VSD-MRR"):
        low, high = intervals(judged, Measure(name, k=k))
        assert low["m"] == pytest.approx(min(found[name]), abs=1e-12)
        assert high["m"] == pytest.approx(max(found[name]), abs=1e-12)
    low, high = intervals(judged, Measure("RBP"))
    assert low["m"] == pytest.approx(min(found["RBP"]), abs=1e-12)
    assert high["m"] == pytest.approx(max(found["RBP"]) + P**4, abs=1e-12)  # what lies behind the list's end is open


@given(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted),
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted),
)
def test_the_fewest_labels_that_could_decide(mine: list[int], other: list[int]) -> None:
    expected = next((n for n in range(mine[1] - mine[0] + 1) if mine[0] + n > other[1] or mine[1] - n < other[0]), None)
    tenth = [value / 12 for value in (*mine, *other)]
    assert least_to_decide((tenth[0], tenth[1]), (tenth[2], tenth[3]), 1 / 12) == expected
