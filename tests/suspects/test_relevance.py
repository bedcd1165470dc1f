"""The relevance model: calibrated, blind to the labels of a pair's own query, fast at the paper's size."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from eds.errors import InputError
from eds.pairs import Integers, Reals
from eds.suspects import pair_features, relevance
from eds.suspects.sampling_order import ABSENT


def world(pairs: int = 6000, queries: int = 300, seed: int = 0) -> tuple[Reals, Integers, Reals, Integers]:
    """Features, queries, true probabilities and labels of pairs that four models list."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=pairs)
    seen = quality[:, None] + rng.normal(size=(pairs, 4))
    ranks = np.clip(np.floor(np.exp(2.5 - 1.2 * seen)), 0, 99).astype(np.int64)
    ranks[seen < -1.5] = ABSENT
    chance = 1 / (1 + np.exp(2 - 2 * quality))
    value = (rng.random(pairs) < chance).astype(np.int64)
    return pair_features(ranks, np.where(ranks == ABSENT, np.nan, seen)), rng.integers(0, queries, pairs), chance, value


@pytest.mark.parametrize(("labels", "learner", "error"), [(400, "logistic", 0.1), (4000, "boosting", 0.05)])
def test_probabilities_are_calibrated_and_tell_similar_pairs_apart(labels: int, learner: str, error: float) -> None:
    features, query, _, value = world()
    known = np.where(np.arange(len(value)) < labels, value, -1)
    found = relevance(features, query, known)
    assert found.learner == learner
    assert (found.probability > 0).all()
    assert (found.probability < 1).all()
    unseen = known < 0
    for low, high in [(0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1)]:
        band = unseen & (found.probability >= low) & (found.probability < high)
        assert abs(value[band].mean() - found.probability[band].mean()) < error
    assert roc_auc_score(value[unseen], found.probability[unseen]) > 0.8


def test_a_pairs_probability_does_not_know_the_labels_of_its_query() -> None:
    """Turning every label of one fold changes no probability of that fold, and others' do change."""
    features, query, _, value = world()
    for known in (np.where(np.arange(len(value)) < 500, value, -1), value):
        found = relevance(features, query, known)
        mine = found.fold == 2
        again = relevance(features, query, np.where(mine & (known >= 0), 1 - known, known))
        assert np.array_equal(again.probability[mine], found.probability[mine])
        assert not np.array_equal(again.probability[~mine], found.probability[~mine])
        for number in np.unique(query):
            assert len(np.unique(found.fold[query == number])) == 1, "a query is of one fold"


def test_the_fit_is_that_of_the_labels_it_was_not_learned_from() -> None:
    features, query, _, value = world(1500)
    found = relevance(features, query, value)
    assert (found.labels, found.positives) == (1500, int(value.sum()))
    assert found.log_loss == pytest.approx(log_loss(value, found.probability))
    assert found.auc == pytest.approx(roc_auc_score(value, found.probability))


def test_of_too_few_labels_only_the_share_is_learned() -> None:
    features, query, _, _ = world(1000)
    nothing = relevance(features, query, np.full(1000, -1))
    assert set(nothing.probability) == {0.5}
    assert np.isnan(nothing.auc)
    negatives = relevance(features, query, np.where(np.arange(1000) < 90, 0, -1))
    assert negatives.learner == "constant"
    assert (negatives.probability < 0.02).all()
    assert np.isnan(negatives.auc)


def test_rows_in_another_order_have_the_same_probabilities() -> None:
    features, query, _, value = world(3000)
    turn = np.random.default_rng(3).permutation(3000)
    first, second = relevance(features, query, value), relevance(features[turn], query[turn], value[turn])
    assert np.allclose(first.probability[turn], second.probability, atol=0.02)  # trees add in the order of rows
    few = np.where(np.arange(3000) < 300, value, -1)
    first, second = relevance(features, query, few), relevance(features[turn], query[turn], few[turn])
    assert np.allclose(first.probability[turn], second.probability, atol=1e-6)


def test_what_is_no_input_is_refused() -> None:
    features, query, _, value = world(100)
    with pytest.raises(InputError, match="99 queries"):
        relevance(features, query[1:], value)
    features[3, 0] = np.nan
    with pytest.raises(InputError, match="not a number"):
        relevance(features, query, value)
