"""Tie-aware and collision-aware numbers against enumeration, and what must hold whatever the codes are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from eds.errors import InputError
from eds.hashing.code_usage import code_usage, utilisation_bound
from eds.hashing.codes import hamming, hamming_ranking, pack, signs
from eds.hashing.collisions import Balls, lgap, mlgap
from eds.hashing.single_ranking import ap_at_p, graded, map_at_p, ndcg_at_p, radius_precision
from eds.hashing.ties import TiedLists, ap, ap_best, ap_worst, hypergeometric, precision, tie_metrics
from tests.reference import hashing as slow

GROUPS = st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=3).filter(lambda groups: any(groups))


@settings(max_examples=150, deadline=None)
@given(GROUPS, st.none() | st.integers(1, 9))
def test_every_number_is_the_mean_over_all_orders(groups: list[list[int]], k: int | None) -> None:
    found, expected = tie_metrics(groups, k), slow.expected(groups, k)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-13), name


@given(GROUPS, st.none() | st.integers(1, 9), st.randoms(use_true_random=False))
def test_the_order_inside_a_group_never_counts(groups: list[list[int]], k: int | None, chance: Any) -> None:
    shuffled = [chance.sample(group, len(group)) for group in groups]
    assert tie_metrics(shuffled, k) == tie_metrics(groups, k)


@given(GROUPS)
def test_expectation_lies_between_worst_and_best(groups: list[list[int]]) -> None:
    found = tie_metrics(groups)
    assert found["ap_worst"] <= found["ap_total"] + 1e-15
    assert found["ap_total"] <= found["ap_best"] + 1e-15


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 14))
def test_without_ties_all_agree_with_the_plain_ranking(rel: list[int], p: int) -> None:
    tied, plain = tie_metrics([[value] for value in rel], p), ap_at_p(rel, p)
    for name in ("total", "retrieved", "capped"):
        assert tied[f"ap_{name}"] == pytest.approx(plain[name], abs=1e-14)
    assert tied["ap_best"] == tied["ap_worst"] == pytest.approx(tied["ap_total"], abs=1e-14)
    assert tied["ndcg"] == pytest.approx(ndcg_at_p(rel, p)["ndcg"], abs=1e-14)


def test_long_lists_keep_their_digits() -> None:
    """One group of a million items: the sum over places, term by term in higher precision, is the reference."""
    n, p = 1_000_000, 400_000
    place = np.arange(1, n + 1, dtype=np.longdouble)
    mean = np.longdouble(p - 1) / (n - 1)
    expected = float((np.longdouble(p) / n * ((place - 1) * mean + 1) / place).sum() / p)
    lists = TiedLists(np.array([[[n - p, p]]]), (0, 1))
    assert ap(lists)[0] == pytest.approx(expected, rel=1e-13)
    # the same group behind another one, where harmonic numbers nearly cancel
    behind = TiedLists(np.array([[[n, 0], [1, 1]]]), (0, 1))
    assert ap(behind)[0] == pytest.approx((1 / (n + 1) + 1 / (n + 2)) / 2, rel=1e-13)


@given(st.integers(1, 60), st.data())
def test_the_hypergeometric_shares(n: int, data: st.DataObject) -> None:
    p, w = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    h, share = hypergeometric(n, p, w)
    np.testing.assert_allclose(share, stats.hypergeom(n, p, w).pmf(h), atol=1e-12)


def test_many_queries_at_once_equal_each_alone() -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, (30, 9, 4))
    lists = TiedLists(counts, (0, 1, 2, 3), 10)
    for query in range(30):
        alone = TiedLists(counts[query : query + 1], (0, 1, 2, 3), 10)
        for measure in (ap, ap_best, ap_worst, precision):
            assert measure(alone)[0] == pytest.approx(measure(lists)[query], abs=1e-14)
        assert ap(alone, "retrieved")[0] == pytest.approx(ap(lists, "retrieved")[query], abs=1e-14)


CODES = st.integers(1, 5).flatmap(
    lambda bits: st.lists(st.lists(st.sampled_from([-1, 1]), min_size=bits, max_size=bits), min_size=1, max_size=12)
)


@given(CODES, st.data())
def test_lgap_is_what_its_definition_says(codes: list[list[int]], data: st.DataObject) -> None:
    bits = len(codes[0])
    query = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=bits, max_size=bits))
    relevant = data.draw(st.lists(st.integers(0, 1), min_size=len(codes), max_size=len(codes)))
    r = data.draw(st.integers(0, bits))
    value = lgap(query, codes, relevant, r)["lgap"]
    assert value == pytest.approx(float(slow.lgap(query, codes, relevant, r)), abs=1e-14)
    assert 0 <= value <= 1 + 1e-15
    assert lgap(query, codes * 2, relevant * 2, r)["lgap"] == pytest.approx(value, abs=1e-14)


def test_one_code_for_everything_fills_one_of_the_possible_codes() -> None:
    terms = lgap([1, 1, 1], [[1, 1, 1]] * 7, [1] * 7, 2)["terms"]
    assert terms == pytest.approx([1, 1 / 4, 1 / 7])


@given(CODES)
def test_usage_counts_pairs_and_classes(codes: list[list[int]]) -> None:
    labels = [index % 3 for index in range(len(codes))]
    found = code_usage(codes, labels)
    pairs = [(i, j) for i in range(len(codes)) for j in range(len(codes)) if i != j and codes[i] == codes[j]]
    assert found["colliding_pair_rate"] * len(codes) * (len(codes) - 1) == pytest.approx(len(pairs))
    across = [pair for pair in pairs if labels[pair[0]] != labels[pair[1]]]
    assert found["cross_class_share_of_collisions"] == pytest.approx(len(across) / len(pairs) if pairs else 0)


def test_packing_holds_64_bits_and_three_ways_of_writing() -> None:
    rng = np.random.default_rng(1)
    codes = signs(rng.normal(size=(50, 64)))
    packed, bits = pack(codes)
    assert bits == 64
    assert (pack((codes + 1) // 2)[0] == packed).all()
    apart = np.bitwise_count(packed[:, None] ^ packed[None])
    assert (apart == (codes[:, None] != codes[None]).sum(axis=2)).all()
    assert signs([[0.0, -0.0, -1e-300]]).tolist() == [[1, 1, -1]]


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: pack([[1, -1], [1]]), "differ in length"),
        (lambda: pack([[1, 0, -1]]), "row 0 holds something else"),
        (lambda: pack([[1, -2]]), "row 0 holds something else"),
        (lambda: pack([[0.5, 1]]), "row 0 holds something else"),
        (lambda: pack(np.ones((2, 65))), "65 bits"),
        (lambda: pack([["a"]]), "a row of numbers"),
        (lambda: hamming([1, 1], [1, 1, 1]), "2 bits against 3"),
        (lambda: hamming_ranking([1], {"a": [1, 1]}), "1 bits against 2"),
        (lambda: signs([[float("nan")]]), "NaN"),
        (lambda: lgap([1, 1], [[1, 1]], [1], 3), "radius is 3"),
        (lambda: mlgap(np.ones((0, 2)), [[1, 1]], np.ones((0, 1)), 1), "no query"),
        (lambda: Balls.of([[1]], [[1]], [[1, 0]], 0), "relevance has shape"),
        (lambda: code_usage([[1]], [1, 2]), "2 labels for 1"),
        (lambda: code_usage(np.ones((0, 2))), "no code"),
        (lambda: utilisation_bound(0), "diameter is 0"),
        (lambda: ap_at_p([1], 0), "p is 0"),
        (lambda: map_at_p([], 1), "no query"),
        (lambda: map_at_p([[1]], 1, "all"), "unknown denominator"),
        (lambda: ap(TiedLists(np.zeros((1, 1, 1), np.int64), (0,)), "all"), "unknown denominator"),
        (lambda: TiedLists(np.array([[[-1]]]), (0,)), "below 0"),
        (lambda: TiedLists(np.array([[[1]]]), (0, 1)), "2 levels"),
        (lambda: TiedLists(np.array([[[1]]]), (0,), 0), "k is 0"),
        (lambda: graded([0.5]), "relevance is 0.5"),
        (lambda: ap_at_p(np.array([1, 0.5]), 1), "relevance is 0.5"),
        (lambda: ap_at_p(np.array([1, np.nan]), 1), "relevance is nan"),
        (lambda: ndcg_at_p([-1], 1), "relevance is -1"),
    ],
)
def test_bad_input_is_told(act: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        act()


def test_identities_and_grades() -> None:
    found = hamming([1, -1, 1], [0, 0, 1])
    assert found["count"] == 1
    assert found["via_euclid"] == pytest.approx(found["via_cosine"]) == pytest.approx(found["via_dot"])
    assert graded([0, 3]).tolist() == [0, 3]
    assert radius_precision([1, 1], [[-1, -1]], [1], 1) == [{"retrieved": 0, "precision": 0.0}] * 2
