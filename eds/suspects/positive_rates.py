"""p_k: the share of similar pairs among the labelled ones of the pool, of each model, and at each rank.

The only place that computes it: report, pages and command line show what these functions return.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.intervals import Interval, rate_interval
from eds.pairs import Integers, LabelledPairs, factorize
from eds.suspects.lists import read_lists


@dataclass(frozen=True)
class Rate:
    """Positive over labelled pairs, with its interval over queries."""

    pairs: int
    labelled: int
    positive: int
    interval: Interval

    @classmethod
    def from_values(cls, query: Integers, value: Integers, level: float = 0.95) -> "Rate":
        """The rate of pairs with their queries' codes (0 and up) and their labels (1, 0, or -1 for none)."""
        size = int(query.max(initial=-1)) + 1
        positive, labelled = (np.bincount(query[chosen], minlength=size) for chosen in (value == 1, value >= 0))
        interval = rate_interval(positive, labelled, level)
        return cls(len(value), int(labelled.sum()), int(positive.sum()), interval)

    @property
    def value(self) -> float:
        """The rate; NaN where nothing is labelled."""
        return self.positive / self.labelled if self.labelled else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Pairs, labelled, positive, rate (None where nothing is labelled), low, high, no_interval."""
        rate = self.value if self.labelled else None
        counts = {"pairs": self.pairs, "labelled": self.labelled, "positive": self.positive}
        return {**counts, "rate": rate, **self.interval.to_dict()}


@dataclass(frozen=True)
class PositiveRates:
    """The rates of the union of the models' lists and of their parts."""

    pool: Rate
    by_model: Mapping[str, Rate]
    by_rank: Sequence[Rate]  # of all models' proposals at rank 0, 1, ...: a pair counts once for each model
    by_model_and_rank: Mapping[str, Sequence[Rate]]


def positive_rates(lists: pd.DataFrame, labels: pd.DataFrame, level: float = 0.95) -> PositiveRates:
    """The positive rates of the models' lists: p_k of the pool, of each model, at each rank, of each model and rank.

    Formula: rate = positive / labelled; its interval is `eds.intervals.rate_interval`, over queries.
    Source: specification 1.6, 3, 18.4; with pool_growth the rule for when to stop going deeper.
    Conventions: unlabelled pairs enter neither part; nothing labelled is NaN; ranks count from 0, as far as the lists
    go; labels are a frame query_id, candidate_id, value (1 or 0); equal duplicates collapse, contradictory ones are
    refused.
    Example, run by doctest:
    >>> from eds.suspects import labels_frame, lists_frame
    >>> rates = positive_rates(lists_frame({"a": {"q": ["x", "y"]}}), labels_frame([("q", "x", 1)]))
    >>> [(rate.labelled, rate.positive) for rate in (rates.pool, *rates.by_rank)]
    [(1, 1), (1, 1), (0, 0)]
    >>> rates.pool.to_dict()["no_interval"]
    'fewer than 8 queries'
    """
    result = read_lists(lists, rankings=False)
    value = LabelledPairs.from_frame(labels).labels_of(result)

    def rate(chosen: np.ndarray) -> Rate:
        return Rate.from_values(result.query[chosen], value[chosen], level)

    def ranks(mine: np.ndarray) -> list[Rate]:
        return [rate(mine & (result.rank == rank)) for rank in range(int(result.rank[mine].max(initial=-1)) + 1)]

    every = np.ones(len(value), np.bool_)
    models = {name: result.model == number for number, name in enumerate(result.models)}
    return PositiveRates(
        rate(np.unique(result.keys, return_index=True)[1]),
        {name: rate(mine) for name, mine in models.items()},
        ranks(every),
        {name: ranks(mine) for name, mine in models.items()},
    )


def pair_rate(pairs: pd.DataFrame, labels: pd.DataFrame, level: float = 0.95) -> Rate:
    """The positive rate of pairs (query_id, candidate_id), each counted once; conventions as `positive_rates`."""
    once = pairs[["query_id", "candidate_id"]].drop_duplicates()
    labelled = LabelledPairs.from_frame(labels)
    index = labelled.find_ids(once["query_id"], once["candidate_id"])
    value = np.where(index >= 0, labelled.value[index] if len(labelled.value) else 0, -1)
    return Rate.from_values(factorize(once["query_id"])[1], value, level)
