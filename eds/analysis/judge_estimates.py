"""Rates estimated with a second judge: experts' labels of some pairs, corrected answers of a judge on more (PPI++).

The judge may be anything: good, useless, inverted, fitted on the labels of other queries. What it says of the pairs
that experts judged is compared with their labels, and the difference is taken off what it says of all.
"""

from dataclasses import dataclass

import numpy as np

from eds.errors import InputError
from eds.intervals import Interval, rate_interval
from eds.pairs import Integers, Reals

FOLDS = 5  # of the queries
SEEN = 4.5  # standard errors by which answers of labelled pairs differ from those of the others, if it saw the labels
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of answers, whose shares are compared for this
USEFUL = 1.05  # labels worth at least so many, below which a judge is of no use here


@dataclass(frozen=True)
class JudgeEstimate:
    """A rate with the judge and without it."""

    rate: float  # with the judge where it is of use, else without
    interval: Interval
    plain: float  # by the experts' labels alone
    plain_interval: Interval
    power: float  # how much of the judge's answers is used: 0 none, 1 all (lambda of PPI++)
    worth: float  # experts' labels that each label is worth with the judge: 1 is no use
    useful: bool
    labelled: int
    answered: int  # pairs with an answer of the judge
    pairs: int
    saw_labels: bool = False  # it answers labelled pairs otherwise than the others: it is left out


def estimate_rate(
    query: Integers,
    value: Reals,
    weight: Reals,
    answer: Reals,
    size: Reals,
    *,
    of_both: Reals | None = None,
    of_answers: Reals | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeEstimate:
    """The rate of similar pairs among all of them, from the labels of some and a judge's answers.

    Arrays have one entry for each pair: `value` is 1 or 0, NaN without a label; `weight` how many pairs a labelled one
    stands for; `answer` the judge's probability, NaN without one; `size` how many pairs each pair stands for in the
    whole, labelled or not. Where the judge answers a part only: `of_both` is how many pairs one with a label and an
    answer stands for, `of_answers` one with an answer; by default `weight` and `size`, for a random part.

    Formula: r - mean over queries of lambda_fold D_q, with r = sum w y / sum w, and D_q the judge's mean on the pairs
    with a label and an answer less that on all with an answer, as each query adds to it; lambda = sum u D / sum D^2
    over the other folds of the queries, u_q what a query adds to r. The interval is `rate_interval` of the queries'
    remaining contributions.
    Source: Angelopoulos, Duchi and Zrnic 2023 (PPI++, power tuning); Zrnic and Candes 2024 (cross-fitting); a query's
    pairs stay together, specification 18.4.
    Conventions: a judge that answers labelled pairs alone is of no use. One that does not make the interval narrower
    is left out, so the interval is never wider than without; so is one that copies the labels, which answers labelled
    pairs otherwise than others (the labelled ones are a random part). One that was fitted on labels of the very queries
    looks like a good one, and no number shows it: its answers must come from other queries' labels, or before the
    labels.
    No label: NaN.
    Example, run by doctest:
    >>> rng = np.random.default_rng(0)
    >>> truth = (rng.random(4000) < 0.3).astype(float)
    >>> value = np.where(np.arange(4000) < 800, truth, np.nan)
    >>> found = estimate_rate(np.arange(4000) % 400, value, np.ones(4000), 0.9 * truth + 0.05, np.ones(4000))
    >>> found.useful, bool(found.worth > 2)
    (True, True)
    """
    if not len(query) == len(value) == len(weight) == len(answer) == len(size):
        raise InputError("arrays of several lengths", where="estimate", hint="Give one entry for each pair.")
    said = answer[~np.isnan(answer)]
    if len(said) and (said.min() < 0 or said.max() > 1):
        raise InputError("an answer is not from 0 to 1", where="estimate", hint="Give probabilities, or 0 and 1.")
    known = ~np.isnan(value)
    counts = int(known.sum()), int((~np.isnan(answer)).sum()), len(value)
    nothing = Interval.none("no pair is labelled")
    if not known.any() or not (weight[known] > 0).any():
        return JudgeEstimate(np.nan, nothing, np.nan, nothing, 0.0, 1.0, False, *counts)
    w = np.where(known, weight, 0.0)
    said_it = ~np.isnan(answer)
    f = np.where(said_it, answer, 0.0)
    both = np.where(known & said_it, weight if of_both is None else of_both, 0.0)
    answers = np.where(said_it, size if of_answers is None else of_answers, 0.0)
    place = np.unique(query, return_inverse=True)[1]
    n = int(place.max()) + 1

    def by_query(values: Reals) -> Reals:
        return np.asarray(np.bincount(place, values, n), np.float64)

    everything = by_query(size)
    rate = float((w * np.where(known, value, 0.0)).sum() / w.sum())
    u = by_query(w * (np.where(known, value, 0.0) - rate)) / by_query(w).mean()

    def apart(what: Reals) -> Reals:
        """What each query adds to the mean over pairs with label and answer less the mean over all with an answer."""
        centred = what - float(answers @ what) / float(answers.sum())
        part, whole = (by_query(each * centred) / by_query(each).mean() for each in (both, answers))
        return np.asarray(part - whole, np.float64)

    if not both.sum() > 0 or not answers.sum() > 0:  # nothing to compare
        plain = _interval(u, rate, everything, level)
        return JudgeEstimate(rate, plain, rate, plain, 0.0, 1.0, False, *counts)
    d = apart(f)
    seen = any(_differs(apart(what)) for what in (f, np.abs(f - 0.5), *(1.0 * (f > level) for level in LEVELS)))
    fold = np.random.default_rng(seed).permutation(n) % FOLDS
    power = np.zeros(n)
    for number in range(FOLDS):
        mine, others = fold == number, fold != number
        spread = float(d[others] @ d[others])
        power[mine] = np.clip(float(u[others] @ d[others]) / spread, -1.0, 2.0) if spread > 1e-12 else 0.0
    taken = power * d
    corrected = rate - float(taken.mean())
    plain = _interval(u, rate, everything, level)
    result, useful, worth = plain, False, 1.0
    value_of = rate
    if not seen and 0 < corrected < 1 and plain.no_interval is None:
        tuned = _interval(u - taken + taken.mean(), corrected, everything, level)
        if tuned.no_interval is None:
            gain = ((plain.high - plain.low) / (tuned.high - tuned.low)) ** 2
            if gain >= USEFUL:
                result, value_of, worth, useful = tuned, corrected, float(gain), True
    return JudgeEstimate(value_of, result, rate, plain, float(power.mean()), worth, useful, *counts, seen)


def _differs(contributions: Reals) -> bool:
    """Whether the sum of the queries' contributions is farther from 0 than chance brings it."""
    error = float(np.sqrt(contributions @ contributions))
    return error > 1e-12 and abs(float(contributions.sum())) > SEEN * error


def _interval(spread: Reals, rate: float, size: Reals, level: float) -> Interval:
    """The interval of a rate whose queries contribute `spread` to it, and stand for `size` pairs each."""
    if not 0 < rate < 1:
        return rate_interval(rate * size, size, level)
    return rate_interval(spread * size.mean() + rate * size, size, level)
