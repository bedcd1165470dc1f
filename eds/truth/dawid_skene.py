"""Truth and experts' errors estimated together (Dawid and Skene): a second opinion, never the benchmark's label.

Not here: the queue of pairs worth another vote (disputes.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.truth.current_votes import UNSURE, Ints
from eds.truth.votes import Votes

Floats = npt.NDArray[np.float64]
FLOOR: Final = 1e-10  # of a count in a confusion matrix
ITERATIONS: Final = 50


@dataclass(frozen=True)
class Fitted:
    """What the votes say under the model.

    `posterior`: float64, tasks: probability of label 1, NaN without a vote. `prior`: share of label 1. `confusion`:
    float64, workers x true label x given label. `change`: the largest step of a posterior in the last iteration.
    """

    posterior: Floats
    prior: float
    confusion: Floats
    change: float


def fit(
    task: Ints,
    worker: Ints,
    value: npt.NDArray[np.int8],
    *,
    tasks: int,
    workers: int,
    iterations: int = ITERATIONS,
    known: Mapping[int, int] | None = None,
) -> Fitted:
    """Fit the model to votes, three integer arrays of one length; `known` anchors tasks at their true label.

    Formula: start from vote shares. M-step: prior = mean posterior; confusion of a worker = votes weighted by the
    posterior, each true label's counts floored at 1e-10 and normalised. E-step: posterior of 1 proportional to prior
    times the confusions of the votes given. One iteration is an M-step and an E-step.
    Source: Dawid and Skene 1979; specification 13.8.
    Conventions: votes are 1 or 0; tasks without a vote have no posterior and no share in the prior. With fewer than
    about three votes a task, or contrary workers, the solution can flip: anchor it with gold pairs.
    Example, run by doctest:
    >>> task, worker = np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    >>> fitted = fit(task, worker, np.array([1, 1, 0, 0, 1, 1], dtype=np.int8), tasks=3, workers=2, iterations=5)
    >>> fitted.posterior.round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    if iterations < 1:
        raise InputError(f"iterations is {iterations}", where="dawid_skene", hint="Give a number from 1 up.")
    given = np.bincount(task, minlength=tasks)
    voted = given > 0
    anchored = np.array(sorted(known or {}), dtype=np.int64)
    truths = np.array([(known or {})[place] for place in anchored.tolist()], dtype=np.float64)
    posterior = np.bincount(task, weights=value, minlength=tasks) / np.maximum(given, 1)
    posterior[anchored] = truths
    cell = worker * 2 + value
    prior, change = 0.5, 0.0
    confusion = np.full((workers, 2, 2), 0.5)
    for _ in range(iterations):
        prior = float(posterior[voted].mean()) if voted.any() else 0.5
        for label, weight in ((1, posterior[task]), (0, 1 - posterior[task])):
            counts = np.bincount(cell, weights=weight, minlength=workers * 2).reshape(workers, 2)
            floored = np.maximum(counts, FLOOR)
            confusion[:, label] = floored / floored.sum(axis=1, keepdims=True)
        step = np.log(confusion[worker, 1, value]) - np.log(confusion[worker, 0, value])
        with np.errstate(divide="ignore", over="ignore"):
            odds = np.log(prior) - np.log1p(-prior) + np.bincount(task, weights=step, minlength=tasks)
            renewed = 1 / (1 + np.exp(-odds))
        renewed[anchored] = truths
        change = float(np.abs(renewed - posterior)[voted].max(initial=0.0))
        posterior = renewed
    return Fitted(np.where(voted, posterior, np.nan), prior, confusion, change)


def dawid_skene(votes: Sequence[tuple[Any, Any, int]], iterations: int = ITERATIONS) -> dict[Any, float]:
    """Each task's probability of label 1 from votes (task, worker, 1 or 0), by the formula of `fit`.

    Formula, source, conventions: see `fit`; a worker votes once a task.
    Example, run by doctest:
    >>> dawid_skene([("a", "x", 1), ("a", "y", 1), ("b", "x", 0), ("b", "y", 0)], iterations=5)["a"]
    1.0
    """
    wrong = [vote for vote in votes if len(vote) != 3 or isinstance(vote[2], bool) or vote[2] not in (0, 1)]
    if wrong:
        raise InputError(f"a vote is {wrong[0]!r}", where="dawid_skene", hint="Give (task, worker, 1 or 0).")
    if len({(task, worker) for task, worker, _ in votes}) < len(votes):
        raise InputError("a worker votes twice on a task", where="dawid_skene", hint="Give the current vote only.")
    tasks = {name: place for place, name in enumerate(sorted({vote[0] for vote in votes}))}
    workers = {name: place for place, name in enumerate(sorted({vote[1] for vote in votes}))}
    rows = np.array(sorted((tasks[task], workers[worker], value) for task, worker, value in votes), dtype=np.int64)
    task, worker, value = rows.reshape(-1, 3).T
    fitted = fit(task, worker, value.astype(np.int8), tasks=len(tasks), workers=len(workers), iterations=iterations)
    return {name: float(fitted.posterior[place]) for name, place in tasks.items()}


def fit_votes(votes: Votes, iterations: int = ITERATIONS, known: Mapping[int, int] | None = None) -> Fitted:
    """The model fitted to experts' votes; unsure ones say nothing."""
    result = votes.value != UNSURE
    return fit(
        votes.pair[result],
        votes.expert[result],
        votes.value[result],
        tasks=votes.n_pairs,
        workers=len(votes.acts.experts),
        iterations=iterations,
        known=known,
    )
