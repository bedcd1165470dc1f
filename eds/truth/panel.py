"""A panel's agreement from its labels: coefficients with intervals, and every two experts.

Where asking stopped early the votes that are missing are not missing at random: agreement is then
computed on a fully voted control subset, and refused without one. Not here: the formulas (coefficients.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError
from eds.intervals import percentile_interval
from eds.truth import coefficients as formulas
from eds.truth.current_votes import UNSURE, Ints, current_acts
from eds.truth.votes import VOTING, Votes, votes_of

RESAMPLES: Final = 2000
BLOCK: Final = 1 << 16  # pairs whose ratings are unfolded at a time
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PanelAgreement:
    """The agreement of a panel.

    `coefficients`: coefficient, value, low, high, undefined (resamples in which it is). `pairs_of_experts`: expert_a,
    expert_b, items (both judged), agreement, kappa (Cohen's). `items`: pairs judged at least once; `pairable`: at
    least twice; `complete`: by every expert; `unsure`: unsure answers; `control`: was it the subset?
    """

    coefficients: pd.DataFrame
    pairs_of_experts: pd.DataFrame
    items: int
    pairable: int
    complete: int
    unsure: int
    experts: int
    control: bool


def panel_agreement(
    labels: pd.DataFrame,
    *,
    early_stop: bool = False,
    control: pd.DataFrame | None = None,
    as_of: datetime | None = None,
    voting: Sequence[str] = VOTING,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PanelAgreement:
    """Agreement of everybody who voted, with bootstrap intervals over pairs (seeded, whatever the row order).

    `control` names the fully voted subset (query_id, candidate_id); with `early_stop` it must be given. Unsure
    answers count as missing. An expert who judged nothing there is left out.
    """
    if early_stop and control is None:
        raise InputError(
            "agreement of early-stopped votes is biased", where="agreement", hint="Give the fully voted control subset."
        )
    if resamples < 1:
        raise InputError(f"resamples is {resamples}", where="agreement", hint="Give a number from 1 up, as 2000.")
    votes = votes_of(current_acts(labels, as_of), voting)
    votes = votes if control is None else votes.only(control, "control subset")
    positive, negative, unsure = votes.counts()
    rated = positive + negative
    result = np.unique(votes.expert[votes.value != UNSURE])
    counted = formulas.patterns(positive[rated > 0], negative[rated > 0])
    return PanelAgreement(
        _coefficients(*counted, len(result), level, resamples, seed),
        _pairs_of_experts(votes, result),
        items=int((rated > 0).sum()),
        pairable=int((rated > 1).sum()),
        complete=int(((rated == len(result)) & (rated > 0)).sum()),
        unsure=int(unsure.sum()),
        experts=len(result),
        control=control is not None,
    )


def _coefficients(
    positive: Ints, negative: Ints, weight: Ints, experts: int, level: float, resamples: int, seed: int
) -> pd.DataFrame:
    functions: dict[str, Callable[..., Floats]] = {
        "percent_agreement": formulas.observed_agreement,
        "krippendorff_alpha": formulas.krippendorff_alpha,
        "gwet_ac1": formulas.gwet_ac1,
        "fleiss_kappa": partial(formulas.fleiss_kappa, experts=experts),
    }
    # Drawing n items with replacement draws their patterns from a multinomial: the same law, far fewer numbers.
    total = int(weight.sum())
    share = weight / max(total, 1)
    drawn = np.random.default_rng(seed).multinomial(total, share, size=resamples) if total else weight[None]
    rows: list[tuple[Any, ...]] = []
    for name, function in functions.items():
        value, again = float(function(positive, negative, weight)), function(positive, negative, drawn)
        low, high = (np.nan, np.nan) if np.isnan(value) else percentile_interval(again, level)
        rows.append((name, value, low, high, int(np.isnan(again).sum())))
    return pd.DataFrame(rows, columns=["coefficient", "value", "low", "high", "undefined"])


def _pairs_of_experts(votes: Votes, result: Ints) -> pd.DataFrame:
    """Every two experts, by name; those without a common item have NaN."""
    size = len(votes.acts.experts)
    yes, no = (np.zeros((size, size, 2), dtype=np.int64) for _ in range(2))
    for start in range(0, votes.n_pairs, BLOCK):
        part = formulas.cohen_tables(votes.ratings(start, min(start + BLOCK, votes.n_pairs)))
        yes, no = yes + part[0], no + part[1]
    kappa = formulas.cohen_kappa(yes, no)
    both = (yes + no).sum(axis=-1)
    agreed = np.where(both > 0, (yes[..., 0] + no[..., 1]) / np.maximum(both, 1), np.nan)
    first, second = (result[places] for places in np.triu_indices(len(result), 1))
    names = votes.acts.experts
    return pd.DataFrame(
        {
            "expert_a": names[first],
            "expert_b": names[second],
            "items": both[first, second],
            "agreement": agreed[first, second],
            "kappa": kappa[first, second],
        }
    )
