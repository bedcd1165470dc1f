import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from eds import truth
from eds.errors import InputError
from eds.intervals import rate_interval
from eds.truth import panel
from tests.reference import truth as reference
from tests.speed import agreement as agreement_study
from tests.truth.acts import EXPERTS, act, campaigns, frame

NAMES = ["percent_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa"]


def matrix(acts: list[dict[str, Any]]) -> tuple[list[str], list[list[int | None]]]:
    """The experts who judged, and pairs x experts of those judged at least once."""
    found = reference.votes(acts, ("normal",))
    told = sorted({name for by in found.values() for name, value in by.items() if value is not None})
    rows = [[by.get(name) for name in told] for _, by in sorted(found.items())]
    return told, [row for row in rows if any(value is not None for value in row)]


def noisy(pairs: int = 150, share: float = 0.2, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    true = rng.random(pairs) < 0.7
    return frame(
        [
            act(
                len(EXPERTS) * number + place,
                query_id=f"q{number // 3}",
                candidate_id=f"c{number}",
                expert_id=name,
                value=int(true[number] ^ (rng.random() < share)),
            )
            for number in range(pairs)
            for place, name in enumerate(EXPERTS)
        ]
    )


@given(campaigns())
def test_coefficients_are_those_of_the_matrix(acts: list[dict[str, Any]]) -> None:
    experts, rows = matrix(acts)
    found = truth.panel_agreement(frame(acts), resamples=3)
    values = dict(zip(found.coefficients["coefficient"], found.coefficients["value"], strict=True))
    assert list(values) == NAMES
    assert found.items == len(rows)
    if rows:
        expected = truth.agreement(rows)
        cohen = expected.pop("cohen_kappa")
        assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)
        table = found.pairs_of_experts
        assert [*zip(table["expert_a"], table["expert_b"], strict=True)] == [
            (experts[a], experts[b]) for a in range(len(experts)) for b in range(a + 1, len(experts))
        ]
        np.testing.assert_allclose(table["kappa"], list(cohen.values()), atol=1e-12)
        for first, second, items, agreed in zip(
            *(table[name].tolist() for name in ("expert_a", "expert_b", "items", "agreement")), strict=True
        ):
            a, b = experts.index(first), experts.index(second)
            both = [row[a] == row[b] for row in rows if row[a] is not None and row[b] is not None]
            assert items == len(both)
            assert agreed == pytest.approx(sum(both) / len(both) if both else math.nan, nan_ok=True)


@settings(max_examples=10)
@given(campaigns(), st.randoms(use_true_random=False))
def test_intervals_do_not_depend_on_row_order(acts: list[dict[str, Any]], random: Any) -> None:
    first = truth.panel_agreement(frame(acts), resamples=50, seed=3)
    second = truth.panel_agreement(frame(random.sample(acts, len(acts))), resamples=50, seed=3)
    pd.testing.assert_frame_equal(first.coefficients, second.coefficients)
    pd.testing.assert_frame_equal(first.pairs_of_experts, second.pairs_of_experts)


def test_blocks_do_not_change_the_matrix_of_experts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = truth.panel_agreement(noisy(), resamples=1).pairs_of_experts
    monkeypatch.setattr(panel, "BLOCK", 7)
    pd.testing.assert_frame_equal(truth.panel_agreement(noisy(), resamples=1).pairs_of_experts, whole)


def test_intervals_are_those_of_resampled_queries() -> None:
    labels = noisy()
    found = truth.panel_agreement(labels, resamples=2000, seed=1).coefficients.set_index("coefficient")
    estimates: dict[Any, Any] = found.to_dict()
    rows = labels["value"].to_numpy(dtype=np.int64).reshape(-1, len(EXPERTS))
    rng = np.random.default_rng(5)
    queries = rows.reshape(-1, 3, len(EXPERTS))  # all pairs of a query are drawn together
    drawn = [
        truth.agreement(queries[rng.integers(len(queries), size=len(queries))].reshape(-1, len(EXPERTS)).tolist())
        for _ in range(600)
    ]
    for name in NAMES:
        low, high = np.quantile([one[name] for one in drawn], [0.025, 0.975])
        width = high - low
        assert estimates["low"][name] == pytest.approx(low, abs=0.12 * width)
        assert estimates["high"][name] == pytest.approx(high, abs=0.12 * width)
        assert estimates["low"][name] < estimates["value"][name] < estimates["high"][name]


def test_early_stopped_votes_need_the_control_subset() -> None:
    labels = noisy(20)
    with pytest.raises(InputError, match="early-stopped"):
        truth.panel_agreement(labels, early_stop=True)
    chosen = labels[labels["candidate_id"].isin([f"c{number}" for number in range(0, 20, 2)])]
    control = chosen[["query_id", "candidate_id"]].drop_duplicates()
    found = truth.panel_agreement(labels, early_stop=True, control=control)
    assert found.control
    assert found.items == 10
    pd.testing.assert_frame_equal(found.coefficients, truth.panel_agreement(chosen).coefficients)


def test_a_control_pair_without_a_vote_is_refused() -> None:
    with pytest.raises(InputError, match="1 pairs have no vote, first q1 none"):
        truth.panel_agreement(noisy(5), control=pd.DataFrame({"query_id": ["q1"], "candidate_id": ["none"]}))


def test_undefined_stays_undefined() -> None:
    labels = frame([act(1), act(2, expert_id="bo")])
    found = truth.panel_agreement(labels, resamples=20).coefficients.set_index("coefficient")
    assert np.isnan(found.loc["krippendorff_alpha", ["value", "low", "high"]].astype(float)).all()
    assert found.loc["krippendorff_alpha", "no_interval"] == "the value is undefined"
    assert found.loc["gwet_ac1", "no_interval"] == "fewer than 8 queries"
    assert found.loc["gwet_ac1", "value"] == 1.0


def test_no_labels_give_no_agreement() -> None:
    found = truth.panel_agreement(frame([]))
    assert found.coefficients["value"].isna().all()
    assert (found.items, found.experts, len(found.pairs_of_experts)) == (0, 0, 0)
    with pytest.raises(InputError, match="resamples is -1"):
        truth.panel_agreement(frame([]), resamples=-1)
    assert set(truth.panel_agreement(noisy(), resamples=0).coefficients["no_interval"]) == {"not requested"}


def test_fleiss_kappa_counts_ratings_whoever_gave_them() -> None:
    """Of panels of k of n experts each pair has k ratings, with missing cells: as if two experts had given them all."""
    rng = np.random.default_rng(3)
    rows = (rng.random((60, 2)) < 0.6).astype(int).tolist()
    spread = [[None] * 5 for _ in rows]
    for row, values in zip(spread, rows, strict=True):
        for place, value in zip(rng.permutation(5)[:2].tolist(), values, strict=True):
            row[place] = value
    dense, sparse = truth.agreement(rows), truth.agreement(spread)
    for name in NAMES:
        assert sparse[name] == pytest.approx(dense[name], abs=1e-12)
    assert sparse["fleiss_kappa"] == pytest.approx(inter_rater.fleiss_kappa(inter_rater.aggregate_raters(rows)[0]))


def test_intervals_of_two_experts_are_over_queries() -> None:
    labels = noisy(90)
    found = truth.panel_agreement(labels, resamples=0).pairs_of_experts
    wide = labels.pivot(index=["query_id", "candidate_id"], columns="expert_id", values="value")
    for row in found.to_dict("records"):
        alike = (wide[row["expert_a"]] == wide[row["expert_b"]]).groupby("query_id")
        expected = rate_interval(alike.sum(), alike.size())
        assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_intervals_hold_the_true_value_where_queries_differ() -> None:
    """The short form of tests/speed/agreement.py, whose long form has 92 to 98 %."""
    held = agreement_study.coverage(30, (4.0, 1.0), 120, resamples=400)
    assert (held > 0.885).all()  # 120 worlds of 95 %: 2.5 standard errors below 93.5 %
    pair_by_pair = agreement_study.coverage(30, (4.0, 1.0), 40, resamples=100, by_pairs=True)
    assert (pair_by_pair < 0.885).all()
