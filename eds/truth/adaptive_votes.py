"""How many votes a pair needs: further experts are asked only where the label may be wrong otherwise.

A full panel votes on a control share of the pairs, which says how often experts err, and what asking less would have
changed. Not here: who is asked next (`eds.labels.early_stop`, which knows only the leads).
"""

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.intervals import wilson_interval
from eds.truth.majority import majority_accuracy, tally

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
SURE = 0.01  # no pair counts as more certain beforehand: the relevance model may be wrong
USUAL_ERROR = 0.1  # of an expert, where too few control pairs say it
LEAST = 30  # control pairs that say it
FACTORS = (*(1.1 * 0.95**step for step in range(60)), 0.0)  # of a full panel's error: what a stop allows
TOLERANCE = 1.02  # of the expected error beside the full panel's


def needed_leads(probability: Reals, error: float, panel: int, *, matters: npt.ArrayLike = False) -> Integers:
    """By how many votes similar, and different, must lead before a pair needs no further vote; pairs x 2.

    Formula: with f the pair's probability, e the experts' error, E a share of the error of a full panel's majority:
    lead_similar = ceil((logit(1 - E) - logit f) / logit(1 - e)), lead_different = ceil((logit(1 - E) + logit f) /
    logit(1 - e)), from 1 to the panel. The share is the largest from 1.1 down at which the labels of all pairs
    together are expected to be as right as those of full panels (1.1 often is, as most labels are surer than 1 - E).
    Source: Wald 1945 (sequential probability ratio test).
    Conventions: f is kept within [0.01, 0.99]; a pair that matters for a comparison needs a lead of 2; a full panel
    decides by its majority, whatever the leads. e is kept within [0.01, 0.4].
    Example, run by doctest:
    >>> needed_leads(np.array([0.02, 0.5, 0.9]), 0.1, 3).tolist()
    [[4, 1], [2, 2], [1, 3]]
    """
    if panel < 1:
        raise InputError(f"the panel is {panel}", where="panel", hint="Give the number of experts, from 1 up.")
    if np.isnan(probability).any() or (probability < 0).any() or (probability > 1).any():
        raise InputError("a probability is not from 0 to 1", where="probability")
    e = min(max(error, 0.01), 0.4)
    f = np.clip(probability, SURE, 1 - SURE)
    odd = panel if panel % 2 else panel - 1  # of an even panel a tie is negative, which is one vote less
    of_panel = 1 - majority_accuracy(odd, 1 - e, 1 - e)["sensitivity"]
    prior = np.log(f / (1 - f))
    least = np.where(np.broadcast_to(np.asarray(matters, np.bool_), f.shape), 2, 1)[:, None]
    everybody: Integers = np.full((len(f), 2), panel + 1)
    allowed = _expected_error(everybody, f, e, panel)
    for factor in FACTORS:
        wanted = _logit(1 - max(factor * of_panel, 1e-12))
        leads = np.ceil(np.stack([wanted - prior, wanted + prior], axis=1) / _logit(1 - e) - 1e-9).astype(np.int64)
        result: Integers = np.clip(leads, np.minimum(least, panel), panel + 1)
        if _expected_error(result, f, e, panel) <= allowed * TOLERANCE:
            return result
    return everybody


def experts_error(positive: Integers, negative: Integers) -> float:
    """How often an expert errs, by the disagreement of pairs that several judged; 0.1 where fewer than 30 did.

    Formula: d = share of different answers among all twos of experts of a pair, averaged; e = (1 - sqrt(1 - 2d)) / 2.
    Source: two independent experts of error e differ in 2 e (1 - e) of the pairs.
    Conventions: where experts err on the same pairs, e is too small; d above 1/2 counts as 1/2.

    >>> experts_error(np.array([3, 0] * 20), np.array([0, 3] * 20)), experts_error(np.array([1]), np.array([1]))
    (0.0, 0.1)
    """
    votes = positive + negative
    several = votes > 1
    if several.sum() < LEAST:
        return USUAL_ERROR
    n = votes[several].astype(np.float64)
    d = float((2 * positive[several] * negative[several] / (n * (n - 1))).mean())
    return float((1 - np.sqrt(1 - 2 * min(d, 0.5))) / 2)


def recalibrated(probability: Reals, at: Integers, label: Integers) -> Reals:
    """The probabilities as the control pairs `at`, with the labels of full panels, bear them out.

    Formula: logit f' = a + b logit f, fitted on the control pairs; b below 0 counts as 0, above 1 f stays as it is.
    Source: Platt 1999.
    Conventions: fewer than 30 control pairs, or all alike: f stays. So a model that is too sure, or knows nothing,
    does not save votes at the cost of the truth.
    """
    from sklearn.linear_model import LogisticRegression

    if len(at) < LEAST or label.min() == label.max():
        return probability
    f = np.clip(probability, SURE, 1 - SURE)
    x = np.log(f / (1 - f))
    fit = LogisticRegression().fit(x[at][:, None], label)
    a, b = float(fit.intercept_[0]), float(fit.coef_[0, 0])
    if b >= 1:
        return probability
    if b <= 0:
        return np.full_like(f, label.mean())
    return np.asarray(1 / (1 + np.exp(-a - b * x)), np.float64)


@dataclass(frozen=True)
class Stopped:
    """Which label each pair gets, and after how many votes."""

    label: Integers  # 1, 0; -1 without a vote
    votes: Integers


def stop_votes(votes: Integers, leads: Integers) -> Stopped:
    """Ask the votes (pairs x experts: 1, 0, -1 unsure) in their order until one answer leads by enough.

    >>> found = stop_votes(np.array([[0, 1, 1], [1, 0, 1]]), np.array([[3, 1], [2, 2]]))
    >>> found.label.tolist(), found.votes.tolist()
    ([0, 1], [1, 3])
    """
    panel = votes.shape[1]
    yes = np.cumsum(votes == 1, axis=1)
    no = np.cumsum(votes == 0, axis=1)
    lead = yes - no
    left = panel - 1 - np.arange(panel)
    certain = (lead > left) | ((yes + no > 0) & (lead + left <= 0))
    done = certain | (lead >= leads[:, :1]) | (-lead >= leads[:, 1:])
    done[:, -1] = True
    at = done.argmax(axis=1)
    row = np.arange(len(votes))
    label = np.where((yes + no)[row, at] == 0, -1, (lead[row, at] > 0).astype(np.int64))
    return Stopped(label, at + 1)


def expected_votes(leads: Integers, probability: Reals, error: float, panel: int) -> float:
    """Votes that a pair is expected to need, on average.

    Formula: the distribution of the lead after t votes that are still open, t = 1, 2, ..., for a similar pair and for
    another, weighted by f and 1 - f.
    Source: as `expected_votes_early_stop`, with the leads beside the majority.
    Example, run by doctest:
    >>> f = np.array([0.5])
    >>> round(expected_votes(needed_leads(f, 0.1, 3), f, 0.1, 3), 2)
    2.18
    """
    if not len(leads):
        return 0.0
    cells, of = np.unique(leads, axis=0, return_inverse=True)
    total = 0.0
    for cell, (similar, different) in enumerate(cells.tolist()):
        mine = probability[of.ravel() == cell]
        for right, share in ((1 - error, float(mine.sum())), (error, float((1 - mine).sum()))):
            total += share * _walk(similar, different, right, panel)[0]
    return total / len(leads)


def _expected_error(leads: Integers, probability: Reals, error: float, panel: int) -> float:
    """The expected wrong labels of all pairs."""
    total = 0.0
    cells, of = np.unique(leads, axis=0, return_inverse=True)
    for cell, (similar, different) in enumerate(cells.tolist()):
        mine = probability[of.ravel() == cell]
        total += float(mine.sum()) * (1 - _walk(similar, different, 1 - error, panel)[1])
        total += float((1 - mine).sum()) * _walk(similar, different, error, panel)[1]
    return total


@dataclass(frozen=True)
class ControlCheck:
    """What asking less would have changed on the pairs that everybody judged."""

    pairs: int
    votes: float  # a pair, asked adaptively
    panel: float  # a pair, as they were asked
    turned: int  # labels that differ from the full panel's
    low: float  # of their share
    high: float


def check_control(votes: Integers, leads: Integers, level: float = 0.95) -> ControlCheck:
    """Compare labels of fewer votes with those of all, on pairs judged by everybody (pairs x experts, in their order).

    Example, run by doctest:
    >>> check_control(np.array([[0, 0, 0], [0, 1, 1]]), np.array([[3, 1], [3, 1]])).turned
    1
    """
    if not len(votes):
        return ControlCheck(0, 0.0, 0.0, 0, 0.0, 1.0)
    stopped = stop_votes(votes, leads)
    yes, no, unsure = ((votes == value).sum(axis=1) for value in (1, 0, -1))
    _, label = tally(yes, no, unsure, np.full(len(votes), votes.shape[1]))
    turned = int((stopped.label != label).sum())
    low, high = wilson_interval(turned, len(votes), level)
    return ControlCheck(len(votes), float(stopped.votes.mean()), float(votes.shape[1]), turned, float(low), float(high))


def _walk(similar: int, different: int, positive: float, panel: int) -> tuple[float, float]:
    """Votes until a stop, each positive with this probability, and how probably the label is positive then."""
    open_with = {0: 1.0}
    expected = label = 0.0
    for asked in range(1, panel + 1):
        expected += sum(open_with.values())
        left = panel - asked
        after: dict[int, float] = {}
        for lead, chance in open_with.items():
            for step, share in ((1, positive), (-1, 1 - positive)):
                new = lead + step
                if new < similar and -new < different and new <= left and new + left > 0:
                    after[new] = after.get(new, 0.0) + chance * share
                elif new > 0:
                    label += chance * share
        open_with = after
    return expected, label


def _logit(share: float) -> float:
    return log(share / (1 - share))
