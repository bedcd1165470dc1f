"""How likely a pair is similar, learned from the labels so far: it orders work, and never labels.

Cross-fitted by queries: a pair's probability comes from a model that has seen no label of the pair's query, so that an
estimate which uses both the probability and the label stays unbiased.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals
from eds.suspects.codes import generator
from eds.suspects.sampling_order import ABSENT

FOLDS: Final = 5
FEWEST: Final = 5  # positives, and negatives, below which the share of positives is all that is learned
BOOSTED: Final = 1000  # labels from which on trees are fitted and calibrated
MOST: Final = 20_000  # labels that trees are fitted on: more change little, and take long

Learner = Literal["constant", "logistic", "boosting"]


@dataclass(frozen=True, eq=False)
class Relevance:
    """The probability that each pair is similar, and how well it fits the labels that it was not learned from."""

    probability: Reals  # above 0 and below 1
    fold: Integers  # of the pair's query
    learner: Learner  # the most that any fold was learned by
    labels: int
    positives: int
    log_loss: float  # of the labelled pairs; NaN without labels
    auc: float  # NaN where labels are all alike


def pair_features(ranks: Integers, scores: Reals | None = None, same_category: Flags | None = None) -> Reals:
    """What a model learns from: a row of numbers for each pair.

    `ranks` and `scores` are pairs x models: ranks from 0, ABSENT (-1) and NaN where a model does not list the pair.

    Formula: log(1 + rank) and the score by model, the share of models that list the pair, the best log rank, the mean
    log rank, whether the categories are the same.
    Conventions: an absent rank counts as the one behind the deepest that the model gives, an absent score as the
    lowest that it gives to any of the pairs.
    Example, run by doctest:
    >>> pair_features(np.array([[0, ABSENT], [1, 0]])).round(2).tolist()
    [[0.0, 0.69, 0.5, 0.0, 0.35], [0.69, 0.0, 1.0, 0.0, 0.35]]
    """
    listed = ranks != ABSENT
    behind = ranks.max(axis=0, initial=ABSENT) + 1
    place: Reals = np.log1p(np.where(listed, ranks, behind))
    columns = [place]
    if scores is not None:
        known = ~np.isnan(scores)
        lowest = np.where(known, scores, np.inf).min(axis=0, initial=np.inf)
        columns.append(np.where(known, scores, np.where(np.isfinite(lowest), lowest, 0.0)))
    models = max(ranks.shape[1], 1)
    columns.append((listed.sum(axis=1) / models)[:, None])
    columns.append(place.min(axis=1, initial=np.inf)[:, None])
    columns.append((place.sum(axis=1) / models)[:, None])
    if same_category is not None:
        columns.append(same_category.astype(np.float64)[:, None])
    return np.concatenate(columns, axis=1)


def relevance(features: Reals, query: Integers, value: Integers, *, seed: int = 0) -> Relevance:
    """The cross-fitted probability that each pair is similar; `value` is 1, 0, or -1 without a label.

    Formula: queries fall into 5 folds. From 1,000 labels on, a fold's pairs are scored by boosted trees of three other
    folds, calibrated by isotonic regression on the fourth; before, by a logistic regression of the four. Of fewer than
    5 positives or negatives only their share is learned, (a + 1/2) / (n + 1).
    Source: Friedman 2001 (trees); Zadrozny and Elkan 2002 (isotonic calibration); Chernozhukov et al. 2018
    (cross-fitting).
    Conventions: the features' rows, queries and values are one entry for each pair, in any order; the same seed gives
    the same folds. Without labels every pair has 1/2.
    Example, run by doctest:
    >>> rng = np.random.default_rng(0)
    >>> x, query = rng.normal(size=(600, 1)), np.arange(600) // 6
    >>> found = relevance(x, query, (rng.random(600) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(np.int64))
    >>> found.learner, bool(found.auc > 0.8)
    ('logistic', True)
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if not len(features) == len(query) == len(value):
        raise InputError(
            f"{len(features)} rows of features, {len(query)} queries, {len(value)} labels",
            where="relevance",
            hint="Give one of each for every pair.",
        )
    if not np.isfinite(features).all():
        raise InputError("a feature is not a number", where="relevance", hint="Fill what is missing.")
    distinct, at = np.unique(query, return_inverse=True)
    turn = generator(seed, "relevance folds").permutation(len(distinct)) % FOLDS
    fold = turn[at].astype(np.int64)
    probability, learners = np.full(len(query), 0.5), ["constant"]
    known = value >= 0
    boosted = int(known.sum()) >= BOOSTED
    with threadpool_limits(limits=1):  # so few rows are fitted sooner by one thread than by many
        for number in range(FOLDS):
            mine = fold == number
            if mine.any():
                probability[mine], learner = _predict(features, value, fold, number, boosted, seed)
                learners.append(learner)
    positives = int((value == 1).sum())
    return Relevance(
        probability,
        fold,
        max(learners, key=("constant", "logistic", "boosting").index),  # type: ignore[arg-type]
        int(known.sum()),
        positives,
        *_fit(probability[known], value[known]),
    )


def _predict(
    features: Reals, value: Integers, fold: Integers, number: int, boosted: bool, seed: int
) -> tuple[Reals, Learner]:
    """The probabilities of one fold's pairs, by the labels of the others."""
    others = (value >= 0) & (fold != number)
    held = others & (fold == (number + 1) % FOLDS)
    fitted = others & ~held
    asked = features[fold == number]
    if boosted and _enough(value[fitted]) and _enough(value[held]):
        return _boosted(features, value, np.flatnonzero(fitted), np.flatnonzero(held), asked, seed), "boosting"
    if _enough(value[others]):
        model = _logistic().fit(features[others], value[others])
        least = 1 / (4 * int(others.sum()))
        return np.clip(np.asarray(model.predict_proba(asked)[:, 1], np.float64), least, 1 - least), "logistic"
    share = (float(value[others].sum()) + 0.5) / (int(others.sum()) + 1)
    return np.full(len(asked), share), "constant"


def _enough(value: Integers) -> bool:
    return FEWEST <= int(value.sum()) <= len(value) - FEWEST


def _boosted(features: Reals, value: Integers, fitted: Integers, held: Integers, asked: Reals, seed: int) -> Reals:
    rng = generator(seed, "relevance labels")
    some = fitted if len(fitted) <= MOST else np.sort(rng.permutation(fitted)[:MOST])
    model = _trees(seed).fit(features[some], value[some])
    raw, wanted = (model.predict_proba(part)[:, 1] for part in (features[held], asked))
    return np.asarray(_isotonic(len(held)).fit(raw, value[held]).predict(wanted), np.float64)


def _trees(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=12,
        min_samples_leaf=20,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )


def _isotonic(labels: int) -> Any:
    from sklearn.isotonic import IsotonicRegression

    least = 1 / (2 * labels)  # that none of the held-out labels was positive does not mean that none is
    return IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=500))


def _fit(probability: Reals, value: Integers) -> tuple[float, float]:
    """Log loss and ROC AUC of cross-fitted probabilities."""
    from scipy.stats import rankdata

    if not len(value):
        return float("nan"), float("nan")
    loss = float(-np.where(value == 1, np.log(probability), np.log1p(-probability)).mean())
    above, below = int(value.sum()), int(len(value) - value.sum())
    if not above or not below:
        return loss, float("nan")
    ranks = rankdata(probability)
    return loss, float((ranks[value == 1].sum() - above * (above + 1) / 2) / (above * below))
