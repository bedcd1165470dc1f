"""The effect of wrong labels on an AUC, and how wrong a panel's labels are: a sensitivity analysis."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.truth.majority import majority_accuracy


def label_contamination(panel: int, sensitivity: float, specificity: float, prevalence: float) -> dict[str, float]:
    """The shares of wrong labels among a panel's positives and negatives.

    Formula: with se, sp of the majority and prevalence pi: eps_pos = (1-pi)(1-sp) / (pi se + (1-pi)(1-sp)),
    eps_neg = pi(1-se) / (pi(1-se) + (1-pi)sp), attenuation = 1 - eps_pos - eps_neg.
    Source: specification 13.7.
    Conventions: sensitivity and specificity are a single expert's; no positives (negatives) at all: undefined.
    Example, run by doctest:
    >>> round(label_contamination(3, 0.95, 0.85, 0.848)["attenuation"], 12)
    0.94786475841
    """
    if not 0 <= prevalence <= 1:
        raise InputError(f"prevalence is {prevalence!r}", where="prevalence", hint="Give a number from 0 to 1.")
    right = majority_accuracy(panel, sensitivity, specificity)
    true_pos, false_neg = prevalence * right["sensitivity"], prevalence * (1 - right["sensitivity"])
    true_neg, false_pos = (1 - prevalence) * right["specificity"], (1 - prevalence) * (1 - right["specificity"])
    eps_pos, eps_neg = _share(false_pos, true_pos), _share(false_neg, true_neg)
    return {"eps_pos": eps_pos, "eps_neg": eps_neg, "attenuation": 1 - eps_pos - eps_neg}


def auc_under_label_noise(
    pos_scores: Sequence[float], neg_scores: Sequence[float], eps_pos: float, eps_neg: float
) -> dict[str, float]:
    """The AUC that wrong labels would show for known scores, and its correction.

    Formula: observed = the AUC of the mixtures (1-eps_pos) P + eps_pos N against (1-eps_neg) N + eps_neg P, from their
    four component AUCs; corrected = `corrected_auc` of it.
    Source: specification 13.7; Menon et al. 2015.
    Conventions: errors are independent of the score given the truth; a tied score counts one half; no positives or no
    negatives: undefined.
    Example, run by doctest:
    >>> auc_under_label_noise([3, 2, 1], [2.5, 0, 1], 0, 0.2)["observed"]
    0.6777777777777778
    """
    _check_eps(eps_pos, eps_neg)
    pos, neg = (_finite(scores, name) for scores, name in ((pos_scores, "pos_scores"), (neg_scores, "neg_scores")))
    true = _auc(pos, neg)
    alike = 0.5  # a class against itself
    observed = (
        (1 - eps_pos) * (1 - eps_neg) * true
        + (1 - eps_pos) * eps_neg * alike
        + eps_pos * (1 - eps_neg) * alike
        + eps_pos * eps_neg * (1 - true)
    )
    return {"true": true, "observed": observed, "corrected": corrected_auc(observed, eps_pos, eps_neg)}


def corrected_auc(observed: float, eps_pos: float, eps_neg: float) -> float:
    """The AUC on right labels from the AUC on wrong ones.

    Formula: 1/2 + (observed - 1/2) / (1 - eps_pos - eps_neg).
    Source: specification 13.7.
    Conventions: not clipped to [0, 1]; labels that say nothing (eps_pos + eps_neg = 1): undefined.
    Example, run by doctest:
    >>> round(corrected_auc(0.9, 0.01, 0.04), 6)
    0.921053
    """
    _check_eps(eps_pos, eps_neg)
    kept = round(1 - eps_pos - eps_neg, 12)
    return 0.5 + (observed - 0.5) / (1 - eps_pos - eps_neg) if kept else float("nan")


def _auc(pos: npt.NDArray[np.float64], neg: npt.NDArray[np.float64]) -> float:
    """The share of (positive, negative) whose positive scores higher, ties one half; NaN if a side is empty."""
    if not len(pos) or not len(neg):
        return float("nan")
    ordered = np.sort(neg)
    below, not_above = np.searchsorted(ordered, pos, "left"), np.searchsorted(ordered, pos, "right")
    return float(int(below.sum() + not_above.sum()) / (2 * len(pos) * len(neg)))


def _share(part: float, other: float) -> float:
    return part / (part + other) if part + other else float("nan")


def _check_eps(eps_pos: float, eps_neg: float) -> None:
    for name, value in (("eps_pos", eps_pos), ("eps_neg", eps_neg)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value!r}", where=name, hint="Give a number from 0 to 1.")


def _finite(scores: Sequence[float], name: str) -> npt.NDArray[np.float64]:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError("a score is not a finite number", where=name, hint="Give a list of finite numbers.")
    return array
