"""Estimates beside the truth, where the truth is known: in projects whose catalogue is drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eds.analysis.analyses.prevalence import Prevalence
from eds.analysis.totals import Estimate
from eds.universe import UniverseSize


@dataclass(frozen=True)
class KnownTruth:
    """What the majority of the experts would say, were every unit of the project's universe judged without error."""

    universe: UniverseSize
    positives: int
    prevalence: float  # p
    pool_units: int
    pool_positives: int
    pool_rate: float | None  # p_k
    pool_recall: float | None  # share of the positives that the pool holds
    gain: float | None  # p_k over p
    image_pair_prevalence: float  # the share of similar pairs among all pairs of images of the universe


@dataclass(frozen=True)
class CheckedEstimate:
    """An estimate, what is true, and whether the interval contains it."""

    name: str  # p_k, p or pool recall
    about: str  # what it is the share of
    estimate: Estimate | None  # None: the labels do not say
    truth: float | None

    @property
    def contained(self) -> bool | None:
        """Whether the interval contains the truth; None without an estimate, an interval or a truth."""
        if self.estimate is None or self.truth is None:
            return None
        if math.isnan(self.estimate.value + self.estimate.low + self.estimate.high):
            return None
        return bool(self.estimate.low - 1e-12 <= self.truth <= self.estimate.high + 1e-12)

    def to_dict(self) -> dict[str, Any]:
        """The fields and `contained`; the limits beside the estimate."""
        values = self.estimate.to_dict() if self.estimate else {"value": None, "low": None, "high": None}
        return {"name": self.name, "about": self.about, **values, "truth": self.truth, "contained": self.contained}


def check_estimates(found: Prevalence, truth: KnownTruth) -> tuple[CheckedEstimate, ...]:
    """Compare p_k, p and pool recall, as the labels estimate them, with the known truth.

    Source: specification 18.1.
    Conventions: all three in units of the universe. The truth is the experts' majority without noise, so p_k of a pool
    that is judged throughout may differ from it, too, by the experts' errors; its interval is over queries. Of a pool
    that is judged in part, p_k is that of the whole pool by its design: the judged part may be the most similar one.
    """
    rate, p_k = found.pool.rate, None
    if is_judged(found):
        p_k = Estimate(rate.value, rate.interval.low, rate.interval.high)
    elif rate.labelled and not math.isnan(found.pool.whole_rate.value):
        p_k = found.pool.whole_rate
    return (
        CheckedEstimate("p_k", "the pool's pairs that are similar", p_k, truth.pool_rate),
        CheckedEstimate("p", "all pairs that are similar", found.p, truth.prevalence),
        CheckedEstimate("pool recall", "similar pairs that are in the pool", found.recall, truth.pool_recall),
    )


def is_judged(found: Prevalence) -> bool:
    """Whether every unit of the pool has a label: only then the rate of the judged ones is about the whole pool."""
    return 0 < found.pool.rate.labelled == found.pool.rate.pairs


def checks_sentence(checks: Sequence[CheckedEstimate]) -> str:
    """Say which intervals contain the truth.

    >>> inside, outside = (Estimate(0.5, low, 0.6) for low in (0.4, 0.45))
    >>> both = [CheckedEstimate("p_k", "", inside, 0.42), CheckedEstimate("p", "", outside, 0.42)]
    >>> checks_sentence(both)
    'The interval of p_k contains the known truth, that of p does not.'
    >>> checks_sentence(both[:1])
    'The interval of p_k contains the known truth.'
    >>> checks_sentence([CheckedEstimate("p", "", None, 0.42)])
    'No estimate has an interval that could be compared with the known truth.'
    """
    held, missed = ([check.name for check in checks if check.contained is wanted] for wanted in (True, False))

    def intervals(names: Sequence[str], first: str, several: str) -> str:
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{first if len(names) == 1 else several} of {listed}"

    if not held and not missed:
        return "No estimate has an interval that could be compared with the known truth."
    if not missed:
        verb = "contains" if len(held) == 1 else "contain"
        return f"{intervals(held, 'The interval', 'The intervals')} {verb} the known truth."
    verb = "does not" if len(missed) == 1 else "do not"
    if not held:
        return f"{intervals(missed, 'The interval', 'The intervals')} {verb} contain the known truth."
    holds = "contains" if len(held) == 1 else "contain"
    return (
        f"{intervals(held, 'The interval', 'The intervals')} {holds} the known truth,"
        f" {intervals(missed, 'that', 'those')} {verb}."
    )
