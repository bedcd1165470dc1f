"""Whether an expert's errors become more frequent: a CUSUM test, with the moment of the change."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
LEAST_ANSWERS = 20  # fewer say nothing about a change
LEAST_BLOCKS = 10


@dataclass(frozen=True)
class ErrorDrift:
    """The rise of an error rate: errors and answers before and after its most likely moment."""

    p: float  # probability of so large a rise where nothing changes
    errors_before: int
    answers_before: int
    errors_after: int
    answers_after: int

    @property
    def rise(self) -> float:
        """The error rate after the change minus that before."""
        return self.errors_after / self.answers_after - self.errors_before / self.answers_before


def error_drift(error: Flags, block: npt.NDArray[np.int64]) -> ErrorDrift | None:
    """Test whether errors become more frequent over time; None where too few answers can tell.

    `error`: each answer in the order of time, true where it was wrong; `block`: a number of each answer's query.
    Formula:     S_j = sum over the blocks b <= j of (e_b - r n_b), D = max_j(-S_j) / sqrt(sum_b (e_b - r n_b)^2),
                 p = exp(-2 D^2); e_b errors of n_b answers of block b, r the error rate of all
    Source:      the CUSUM of deviations from the mean tends to a Brownian bridge, and P(max > d) = exp(-2 d^2)
                 (Doob 1949, Annals of Mathematical Statistics 20, 393-403)
    Conventions: answers to one query in a row are a block, since a difficult query brings several errors; one-sided;
                 the change lies behind the block where -S is largest; fewer than LEAST_ANSWERS answers or LEAST_BLOCKS
                 blocks, or errors that are all or none, give None

    >>> late = np.arange(60) >= 40
    >>> found = error_drift(late & (np.arange(60) % 2 == 0), np.arange(60))
    >>> found.answers_before, found.errors_after, round(found.p, 4)
    (40, 10, 0.0)
    """
    if len(error) < LEAST_ANSWERS or not 0 < int(error.sum()) < len(error):
        return None
    first = np.flatnonzero(np.diff(block, prepend=block[0] - 1) != 0)
    answers = np.diff(first, append=len(error))
    errors = np.add.reduceat(error.astype(np.int64), first)
    deviation = errors - error.mean() * answers
    scale = float(np.sqrt((deviation**2).sum()))
    if len(first) < LEAST_BLOCKS or scale == 0:
        return None
    below = -np.cumsum(deviation)[:-1]
    change = int(below.argmax())
    largest = max(float(below[change]), 0.0) / scale
    before = int(answers[: change + 1].sum())
    early = int(errors[: change + 1].sum())
    return ErrorDrift(float(np.exp(-2 * largest**2)), early, before, int(error.sum()) - early, len(error) - before)
