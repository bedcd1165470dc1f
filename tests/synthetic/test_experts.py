from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import InputError
from eds.synthetic.attributes import WEIGHTS, similarity
from eds.synthetic.experts import draw_experts, judge, seen_similarity
from eds.synthetic.products import draw_products

START = datetime(2024, 5, 1, 8, 0, tzinfo=UTC)
PRODUCTS = draw_products(120, seed=2)
IMAGES = pd.DataFrame(
    [
        {"image_id": f"i{k}", "product_id": f"p{k}", "category": p.category, "role": "both", **p.columns()}
        for k, p in enumerate(PRODUCTS)
    ]
)
CALM = replace(draw_experts(1, 9)[0], noise=0.0, fatigue=0.0, unsure_rate=0.0)


def draw_pairs(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.Generator(np.random.PCG64(seed))
    every = rng.permutation(120 * 120)[:count]
    return pd.DataFrame({"query_id": [f"i{k // 120}" for k in every], "candidate_id": [f"i{k % 120}" for k in every]})


PAIRS = draw_pairs(6000)


def by_pair(labels: pd.DataFrame) -> pd.DataFrame:
    return labels.set_index(["expert_id", "query_id", "candidate_id"]).sort_index()[["value", "seconds", "label_id"]]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_shuffling_or_splitting_the_pairs_changes_no_judgement_without_fatigue(seed: int, count: int) -> None:
    experts = [replace(expert, fatigue=0.0) for expert in draw_experts(2, seed)]
    pairs = draw_pairs(count, seed)
    whole = judge(pairs, IMAGES, experts, started_at=START)
    shuffled = judge(pairs.sample(frac=1, random_state=1), IMAGES, experts, started_at=START)
    pd.testing.assert_frame_equal(by_pair(whole), by_pair(shuffled))
    halves = [judge(part, IMAGES, experts, started_at=START) for part in (pairs[: count // 2], pairs[count // 2 :])]
    pd.testing.assert_frame_equal(by_pair(whole), by_pair(pd.concat(halves)))


def test_without_noise_the_threshold_decides() -> None:
    labels = judge(PAIRS, IMAGES, [CALM], started_at=START)
    expected = seen_similarity(PAIRS, IMAGES, [CALM])[0] >= CALM.threshold
    np.testing.assert_array_equal(labels["value"].to_numpy(dtype=np.int8), expected)


def test_the_plain_weights_see_the_true_similarity() -> None:
    plain = replace(CALM, weights=tuple(WEIGHTS.values()))
    rows = IMAGES.set_index("image_id", drop=False)
    expected = similarity(rows.loc[PAIRS["query_id"]], rows.loc[PAIRS["candidate_id"]])
    np.testing.assert_array_equal(seen_similarity(PAIRS, IMAGES, [plain])[0], expected)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.3])
def test_the_unsure_rate_is_near_its_nominal(rate: float) -> None:
    labels = judge(PAIRS, IMAGES, [replace(CALM, unsure_rate=rate)], started_at=START)
    assert abs(labels["value"].isna().mean() - rate) <= 4 * np.sqrt(rate * (1 - rate) / len(PAIRS))


def near_pairs(count: int) -> pd.DataFrame:
    """Pairs spread over the session whose similarity lies just below the threshold, so that noise shows."""
    return pd.DataFrame({"query_id": ["i0"] * count, "candidate_id": ["i0"] * count})


def test_fatigue_raises_the_error_late_in_a_session() -> None:
    tired = replace(CALM, fatigue=0.05, threshold=0.9)
    labels = judge(near_pairs(6000), IMAGES, [tired], started_at=START)  # a product with itself: truly similar
    wrong = labels["value"].to_numpy(dtype=np.int8) == 0
    assert wrong[:500].mean() < 0.01
    assert wrong[-1000:].mean() > 0.2


def test_noise_is_normal_and_of_the_size_told() -> None:
    """At a threshold of S + k * noise, the share of yes is the normal tail."""
    for k, tail in ((0.0, 0.5), (1.0, 0.158655), (-2.0, 0.977250)):
        noisy = replace(CALM, noise=0.02, threshold=1.0 + 0.02 * k)
        share = judge(near_pairs(20000), IMAGES, [noisy], started_at=START)["value"].astype(float).mean()
        assert abs(share - tail) < 4 * np.sqrt(tail * (1 - tail) / 20000)


def test_experts_err_independently() -> None:
    experts = [replace(CALM, expert_id=f"e{k}", noise=0.05, threshold=1.0) for k in range(2)]
    labels = judge(near_pairs(4000), IMAGES, experts, started_at=START)
    votes = labels["value"].to_numpy(dtype=np.float64).reshape(2, -1)
    assert abs(np.corrcoef(votes)[0, 1]) < 0.07


def test_the_labels_table_is_whole() -> None:
    experts = draw_experts(3, 1)
    labels = judge(PAIRS, IMAGES, experts, started_at=START)
    assert " ".join(labels.columns) == (
        "label_id query_id candidate_id expert_id value seconds created_at session_id kind supersedes guideline"
    )
    assert len(labels) == 3 * len(PAIRS)
    assert labels["label_id"].is_unique
    assert str(labels["value"].dtype) == "Int8"
    assert str(labels["created_at"].dt.tz) == "UTC"
    assert (labels["created_at"] > pd.Timestamp(START)).all()
    assert (labels["seconds"] > 0).all()
    assert set(labels["kind"]) == {"normal"}
    assert labels["supersedes"].isna().all()
    for expert in experts:
        mean = labels.loc[labels["expert_id"] == expert.expert_id, "seconds"].mean()
        assert mean == pytest.approx(expert.seconds_per_pair, rel=0.06)
    assert labels["session_id"].nunique() == 3
    assert set(judge(PAIRS[:5], IMAGES, experts, started_at=START, session_id="s")["session_id"]) == {"s"}


def test_experts_differ_and_come_back_by_seed() -> None:
    panel = draw_experts(4, 11)
    assert panel == draw_experts(4, 11)
    assert panel[:2] == draw_experts(2, 11)
    assert len({expert.weights for expert in panel}) == 4
    assert all(sum(expert.weights) == pytest.approx(1, abs=1e-5) for expert in panel)


def test_no_pairs_give_no_labels() -> None:
    assert len(judge(PAIRS[:0], IMAGES, [CALM], started_at=START)) == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="unknown"):
        judge(pd.DataFrame({"query_id": ["i0"], "candidate_id": ["lost"]}), IMAGES, [CALM], started_at=START)
    with pytest.raises(InputError, match="time zone"):
        judge(PAIRS, IMAGES, [CALM], started_at=datetime(2024, 1, 1))
    with pytest.raises(InputError, match="size is 0"):
        draw_experts(0)
    with pytest.raises(InputError, match="empty"):
        judge(PAIRS, IMAGES, [], started_at=START)


def test_an_expert_is_a_value() -> None:
    assert replace(CALM) == CALM
    assert hash(CALM) == hash(replace(CALM))
    with pytest.raises(FrozenInstanceError):
        CALM.threshold = 0.5  # type: ignore[misc]
