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
from eds.intervals import NOT_REQUESTED, RESAMPLES, UNDEFINED, Interval, Multiplicity, bootstrap_interval, rate_interval
from eds.truth import coefficients as formulas
from eds.truth.current_votes import UNSURE, Ints, current_acts
from eds.truth.votes import VOTING, Votes, votes_of

BLOCK: Final = 1 << 16  # pairs whose ratings are unfolded at a time
Floats = npt.NDArray[np.float64]
COEFFICIENTS: Final[dict[str, Callable[[Ints, Ints, Any], Floats]]] = {
    "percent_agreement": formulas.observed_agreement,
    "krippendorff_alpha": formulas.krippendorff_alpha,
    "gwet_ac1": formulas.gwet_ac1,
    "fleiss_kappa": formulas.fleiss_kappa,
}


@dataclass(frozen=True)
class PanelAgreement:
    """The agreement of a panel; every interval is over queries.

    `coefficients`: coefficient, value, low, high, no_interval (the reason where there is none). `pairs_of_experts`:
    expert_a, expert_b, items (both judged), agreement, low, high, kappa (Cohen's). `items`: pairs judged at least once;
    `pairable`: at least twice; `complete`: by every expert; `unsure`: unsure answers; `control`: was it the subset?
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
    """Agreement of everybody who voted, with intervals over queries (seeded, whatever the row order).

    All pairs of a query are drawn together, since they are alike. `control` names the fully voted subset (query_id,
    candidate_id); with `early_stop` it must be given. Unsure answers count as missing. An expert who judged nothing
    there is left out. Without `resamples` there are no intervals of coefficients.
    """
    if early_stop and control is None:
        raise InputError(
            "agreement of early-stopped votes is biased", where="agreement", hint="Give the fully voted control subset."
        )
    if resamples < 0:
        raise InputError(f"resamples is {resamples}", where="agreement", hint="Give 0 (no intervals) or more, as 2000.")
    votes = votes_of(current_acts(labels, as_of), voting)
    votes = votes if control is None else votes.only(control, "control subset")
    positive, negative, unsure = votes.counts()
    rated = positive + negative
    result = np.unique(votes.expert[votes.value != UNSURE])
    judged = np.flatnonzero(rated > 0)
    query = np.unique(votes.acts.query[judged], return_inverse=True)[1]
    return PanelAgreement(
        _coefficients(positive[judged], negative[judged], query, level, resamples, seed),
        _pairs_of_experts(votes, result, level),
        items=int((rated > 0).sum()),
        pairable=int((rated > 1).sum()),
        complete=int(((rated == len(result)) & (rated > 0)).sum()),
        unsure=int(unsure.sum()),
        experts=len(result),
        control=control is not None,
    )


def _coefficients(positive: Ints, negative: Ints, query: Ints, level: float, resamples: int, seed: int) -> pd.DataFrame:
    """The coefficients of pairs with these votes for and against, of these queries (places from 0)."""
    base = int(negative.max(initial=0)) + 1
    keys, pattern = np.unique(positive * base + negative, return_inverse=True)
    queries = int(query.max(initial=-1)) + 1
    by_query = np.zeros((queries, len(keys)))
    np.add.at(by_query, (query, pattern), 1)
    said = keys // base, keys % base

    rows: list[tuple[Any, ...]] = []
    for name, function in COEFFICIENTS.items():
        value = float(function(*said, by_query.sum(axis=0)))
        if not resamples:
            interval = Interval.none(NOT_REQUESTED)
        elif name == "percent_agreement":  # a share: no random numbers, and it covers better
            pairable = (said[0] + said[1] > 1).astype(np.float64)
            alike = np.nan_to_num(function(*said, np.eye(len(keys))))
            interval = rate_interval(by_query @ alike, by_query @ pairable, level)
        else:
            statistic = partial(_resampled, function, *said, by_query)
            interval = bootstrap_interval(statistic, queries, level, resamples, seed)
        rows.append((name, value, interval.low, interval.high, interval.no_interval))
    return pd.DataFrame(rows, columns=["coefficient", "value", "low", "high", "no_interval"])


def _resampled(
    function: Callable[..., Floats], positive: Ints, negative: Ints, by_query: Floats, times: Multiplicity
) -> Floats:
    """A coefficient of resamples: `times` says how often each query is drawn."""
    return function(positive, negative, times.astype(np.float64) @ by_query)


def _pairs_of_experts(votes: Votes, result: Ints, level: float) -> pd.DataFrame:
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
    by_query = _agreement_by_query(votes)
    nothing = Interval.none(UNDEFINED)
    intervals = [
        rate_interval(*by_query[two], level) if two in by_query else nothing
        for two in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "expert_a": names[first],
            "expert_b": names[second],
            "items": both[first, second],
            "agreement": agreed[first, second],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "kappa": kappa[first, second],
        }
    )


def _agreement_by_query(votes: Votes) -> dict[tuple[int, int], tuple[Ints, Ints]]:
    """For every two experts (lower place first): pairs judged alike, and pairs both judged, of each query."""
    rows = np.flatnonzero(votes.value != UNSURE)  # sorted by pair and expert
    pair, expert, value = votes.pair[rows], votes.expert[rows], votes.value[rows]
    firsts, seconds = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for step in range(1, len(votes.acts.experts)):
        same = np.flatnonzero(pair[step:] == pair[:-step])
        if not len(same):
            break
        firsts.append(same)
        seconds.append(same + step)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    frame = pd.DataFrame(
        {
            "a": expert[first],
            "b": expert[second],
            "query": votes.acts.query[pair[first]],
            "alike": (value[first] == value[second]).astype(np.int64),
        }
    )
    sums = frame.groupby(["a", "b", "query"])["alike"].agg(["sum", "size"]).reset_index()
    result = {}
    for _, part in sums.groupby(["a", "b"]):
        two = int(part["a"].iloc[0]), int(part["b"].iloc[0])
        result[two] = part["sum"].to_numpy(np.int64), part["size"].to_numpy(np.int64)
    return result
