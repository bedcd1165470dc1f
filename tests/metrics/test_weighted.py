"""Areas of resamples against scikit-learn's with weights, with ties and without, zero weights among them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from eds.metrics.auc import micro_order, weighted_aucs


@given(st.integers(0, 10_000), st.booleans(), st.integers(2, 60))
def test_weights_count_as_repeats(seed: int, tied: bool, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    query, value = rng.integers(0, 5, pairs), rng.integers(0, 2, pairs)
    score = rng.integers(0, 4, pairs).astype(float) if tied else rng.permutation(pairs).astype(float)
    times = rng.integers(0, 4, (3, 5)).astype(np.int16)
    roc, precision = weighted_aucs(micro_order(query, value, score), times)
    for row in range(3):
        weight = times[row][query]
        used = weight > 0
        if len(set(value[used].tolist())) < 2:
            assert np.isnan([roc[row], precision[row]]).all()
            continue
        told = value[used], score[used]
        assert roc[row] == pytest.approx(roc_auc_score(*told, sample_weight=weight[used]), abs=1e-12)
        assert precision[row] == pytest.approx(average_precision_score(*told, sample_weight=weight[used]), abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_many_times_as_many_draws_change_nothing(tied: bool) -> None:
    """Weights too large for 32 bits are counted in 64."""
    rng = np.random.default_rng(0)
    query, value = rng.integers(0, 20, 500), rng.integers(0, 2, 500)
    score = rng.integers(0, 40, 500).astype(float) if tied else rng.permutation(500).astype(float)
    pairs, times = micro_order(query, value, score), rng.integers(0, 4, (5, 20))
    np.testing.assert_allclose(weighted_aucs(pairs, times * 30_000), weighted_aucs(pairs, times), rtol=1e-12)
