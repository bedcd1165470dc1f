"""The majority of a panel: ties are negative, unsure experts shrink the electorate.

This is the rule that makes benchmark labels. Also here: what it costs with early stop, and how right
it is for experts of known quality. Not here: where votes come from (current_votes.py), other rules (rules.py).
"""

from collections.abc import Sequence
from math import comb, fsum
from numbers import Real
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eds.errors import InputError

Counts = npt.NDArray[np.int64]
OPEN: Final = 0
DECIDED: Final = 1
COMPLETE: Final = 2
STATUS: Final = ("open", "decided", "complete")
NO_LABEL: Final = -1
DECIMALS: Final = 12  # sums that agree to here are equal
Ruling = tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]  # status and label of each pair


def majority_vote(votes: Sequence[Any], panel: int) -> dict[str, Any]:
    """The label of one pair, and whether asking can stop.

    Formula: p, n, s = votes for, against, skipped; r = panel - p - n - s still to come.
    r = 0: `complete`; label 1 if p > n, 0 if p <= n and p+n >= 1, none if p+n = 0.
    r > 0: `decided` with 1 iff p-n > r, with 0 iff p+n >= 1 and p-n+r <= 0; otherwise `open`, no label.
    Source: specification 2.1; equal to trying all remaining answers (tests/reference/truth.py).
    Conventions: a vote is 1, 0, "skip" (cannot tell) or None (not answered); **a tie is negative**; a skip answers
    the question and shrinks the electorate; more answers than `panel` are refused.
    Example, run by doctest:
    >>> majority_vote([1, 0, 1, 0], 4)
    {'status': 'complete', 'label': 0, 'positive': 2, 'negative': 2, 'skipped': 0}
    >>> majority_vote([1, 1, None], 3)["status"]
    'decided'
    """
    _check_panel(panel)
    unknown = [vote for vote in votes if not (vote is None or _is_skip(vote) or _is_vote(vote))]
    if unknown:
        raise InputError(f"a vote is {unknown[0]!r}", where="majority_vote", hint='Give 1, 0, "skip" or None.')
    given = [vote for vote in votes if vote is not None]
    skipped = sum(_is_skip(vote) for vote in given)
    positive = sum(_is_vote(vote) and vote == 1 for vote in given)
    negative = len(given) - skipped - positive
    status, label = tally(np.array([positive]), np.array([negative]), np.array([skipped]), np.array([panel]))
    return {
        "status": STATUS[status[0]],
        "label": None if label[0] == NO_LABEL else int(label[0]),
        "positive": positive,
        "negative": negative,
        "skipped": skipped,
    }


def tally(positive: Counts, negative: Counts, skipped: Counts, panel: Counts) -> Ruling:
    """Status and label of many pairs at once, by the formula of `majority_vote`.

    Four integer arrays of one length go in; two int8 arrays come out: a place in STATUS, and 1, 0 or NO_LABEL.
    """
    left = panel - positive - negative - skipped
    if (panel < 1).any() or (left < 0).any():
        worst = int(np.argmin(np.where(panel < 1, -1, left)))
        answers = int(panel[worst] - left[worst])
        raise InputError(
            f"{answers} answers from a panel of {panel[worst]}",
            where="majority vote",
            hint="Give the panel's full size.",
        )
    result = positive + negative >= 1
    lead = positive - negative
    label = np.full(len(panel), NO_LABEL, dtype=np.int8)
    # With left = 0 both lines are the rule of a complete panel: lead > 0, and lead <= 0.
    label[result & (lead + left <= 0)] = 0
    label[lead > left] = 1
    status = np.where(left == 0, COMPLETE, np.where(label == NO_LABEL, OPEN, DECIDED)).astype(np.int8)
    return status, label


def expected_votes_early_stop(panel: int, q: float) -> float:
    """Votes a pair needs on average when asking stops as soon as it is decided.

    Formula: sum over t = 0 .. panel-1 of P[still open after t votes], votes independent, positive with probability q.
    Source: specification 2.2; panel 3: 2 + 2q(1-q); panel 2: 1 + q.
    Conventions: nobody skips; ties are negative; early stop never changes a label, but the votes it leaves out are
    not missing at random: agreement is to be computed on a fully voted control subset.
    Example, run by doctest:
    >>> round(expected_votes_early_stop(3, 0.85), 12)
    2.255
    """
    _check_panel(panel)
    _check_share(q, "q")
    open_with = np.zeros(panel + 1)  # probability of p positive votes so far, and of not being decided yet
    open_with[0] = 1.0
    expected = []
    for requested in range(panel):
        expected.append(float(open_with.sum()))
        after = open_with * (1 - q)
        after[1:] += open_with[:-1] * q
        positive = np.arange(panel + 1)
        _, label = tally(*np.broadcast_arrays(*_prefix(positive, requested + 1, panel)))
        open_with = np.where((positive <= requested + 1) & (label == NO_LABEL), after, 0.0)
    return fsum(expected)


def majority_accuracy(panel: int, sensitivity: float, specificity: float) -> dict[str, float]:
    """How often the majority is right about similar pairs, and about others.

    Formula: sensitivity P[Bin(E, se) > E/2]; specificity P[Bin(E, 1-sp) <= E/2].
    Source: specification 2.3.
    Conventions: experts err independently and alike, nobody skips; ties are negative, so an even panel trades
    sensitivity for specificity.
    Example, run by doctest:
    >>> {name: round(value, 10) for name, value in majority_accuracy(3, 0.95, 0.85).items()}
    {'sensitivity': 0.99275, 'specificity': 0.93925}
    """
    _check_panel(panel)
    for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
        _check_share(value, name)
    most = panel // 2
    return {
        "sensitivity": fsum(_binomial(panel, count, sensitivity) for count in range(most + 1, panel + 1)),
        "specificity": fsum(_binomial(panel, count, 1 - specificity) for count in range(most + 1)),
    }


def _prefix(positive: Counts, requested: int, panel: int) -> tuple[Any, Any, Any, Any]:
    return (
        np.minimum(positive, requested),
        np.maximum(requested - positive, 0),
        np.zeros_like(positive),
        np.array(panel),
    )


def _binomial(size: int, count: int, share: float) -> float:
    return comb(size, count) * float(share) ** count * (1 - float(share)) ** (size - count)


def _is_skip(vote: Any) -> bool:
    return isinstance(vote, str) and vote == "skip"


def _is_vote(vote: Any) -> bool:
    return isinstance(vote, Real) and not isinstance(vote, (bool, np.bool_)) and vote in (0, 1)


def _check_panel(panel: int) -> None:
    if isinstance(panel, bool) or not isinstance(panel, (int, np.integer)) or panel < 1:
        raise InputError(f"the panel is {panel!r}", where="panel", hint="Give the number of experts, from 1 up.")


def _check_share(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}", where=name, hint="Give a number from 0 to 1.")
