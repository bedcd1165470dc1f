import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from eds import truth
from eds.errors import InputError

scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8)
shares = st.sampled_from([0.0, 0.1, 0.25, 0.4])


@given(scores, scores, shares, shares)
def test_the_mixtures_auc_is_that_of_a_mixed_sample(
    pos: list[float], neg: list[float], eps_pos: float, eps_neg: float
) -> None:
    found = truth.auc_under_label_noise(pos, neg, eps_pos, eps_neg)
    both, labels = np.array([*pos, *neg]), np.array([1] * len(pos) + [0] * len(neg))
    assert found["true"] == pytest.approx(roc_auc_score(labels, both), abs=1e-12)
    # Every score stands on both sides, weighted by how much of that side it makes up.
    of_pos = np.array([(1 - eps_pos) / len(pos)] * len(pos) + [eps_pos / len(neg)] * len(neg))
    of_neg = np.array([eps_neg / len(pos)] * len(pos) + [(1 - eps_neg) / len(neg)] * len(neg))
    weighted = roc_auc_score(
        [1] * len(both) + [0] * len(both), np.tile(both, 2), sample_weight=np.concatenate([of_pos, of_neg])
    )
    assert found["observed"] == pytest.approx(weighted, abs=1e-12)
    assert found["corrected"] == pytest.approx(found["true"], abs=1e-12)


def test_labels_that_say_nothing_cannot_be_corrected() -> None:
    assert math.isnan(truth.corrected_auc(0.6, 0.3, 0.7))
    assert math.isnan(truth.auc_under_label_noise([], [1.0], 0, 0)["true"])


def test_contamination_equals_a_simulated_panel() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(400_000) < 0.3
    votes = np.where(true, rng.random((3, len(true))) < 0.9, rng.random((3, len(true))) < 0.2).sum(axis=0)
    label = votes > 1.5
    found = truth.label_contamination(3, 0.9, 0.8, 0.3)
    assert found["eps_pos"] == pytest.approx((~true[label]).mean(), abs=0.004)
    assert found["eps_neg"] == pytest.approx(true[~label].mean(), abs=0.004)
    assert found["attenuation"] == pytest.approx(1 - found["eps_pos"] - found["eps_neg"])


def test_no_positives_at_all_are_undefined() -> None:
    assert math.isnan(truth.label_contamination(1, 0.9, 1.0, 0.0)["eps_pos"])


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"eps_pos is 1\.2"):
        truth.corrected_auc(0.6, 1.2, 0.1)
    with pytest.raises(InputError, match="prevalence is -1"):
        truth.label_contamination(1, 0.9, 0.9, -1)
    with pytest.raises(InputError, match="not a finite number"):
        truth.auc_under_label_noise([1.0, math.nan], [0.0], 0, 0)
