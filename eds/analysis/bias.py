"""Whom the pool favours: models that made it (generators) against models that did not (outsiders).

Official HR favours generators, whose own finds are all labelled; AUC on labelled negatives handicaps them, for the
labelled negatives are their own mistakes. Self-removal puts both on a pool that neither made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.leave_one_out import leave_one_out
from eds.analysis.rank_correlation import DECIMALS, competition_ranks, kendall_tau, tau_ap_b
from eds.metrics.judged_lists import JudgedLists, judge, read_rankings
from eds.metrics.measure import Measure
from eds.metrics.single_list import cut_offs, mean
from eds.pairs import KnownRanks, LabelledPairs

ON_LISTS = ("hr_official", "hr_most", "judged", "rbp", "rbp_upper")
ON_GROUPS = ("hr_official", "judged", "rbp", "auc", "self_removed")


@dataclass(frozen=True, eq=False)
class Bias:
    """`models`: a row for each model; `groups`: generators against outsiders; `orders`: whether measures agree."""

    models: pd.DataFrame
    groups: pd.DataFrame
    orders: Mapping[str, float]


def bias(
    suspects: pd.DataFrame,
    labels: pd.DataFrame,
    rankings: pd.DataFrame | None,
    scores: pd.DataFrame,
    k: int,
    metric: str = "macro_roc_auc",
    persistence: float = 0.8,
    placed: KnownRanks | None = None,
) -> Bias:
    """Every model's HR and AUC beside what pooling does to them.

    Formula, by model: hr_official = labelled positives among the first k, over k, mean over queries with a positive;
    judged = labelled among the first k, over k, over the same queries: hr_official cannot exceed it (the structural
    ceiling); hr_most = hr_official + the share of its unlabelled places, its value if all these were positive; rbp and
    rbp_upper = RBP and RBP + residual; auc = `metric` on all labels, prevalence the share of positives that it rests
    on; self_removed = the same without the pairs that only the model itself proposed; shift = self_removed - auc. By
    group (`groups`): means over its models; in the row self_removed the outsiders' mean over all reduced pools, so that
    both sides are judged on pools they had no part in.
    Source: specification 5.4, 6.1, 13.5, 13.10; for the order of models Kendall's tau_b and tau_AP,b of HR and AUC.
    Conventions: `suspects` are the generators' lists (model, query_id, candidate_id), `rankings` final lists of all
    models, or `placed` the ranks of the labelled pairs (some models by lists, some by ranks), `scores` those of the
    labelled pairs; a model without lists or scores has NaN there; ranks 0 = undefined; no
    outsider: NaN. An outsider's `self_removed` is its mean over the reduced pools.
    Example: see tests/analysis/test_bias.py.
    """
    (cut,) = cut_offs([k])
    left_out = leave_one_out(suspects, labels, scores, metric)
    removed: dict[str, dict[str, float]] = left_out["loo"]
    lists = judge(None if rankings is None else read_rankings(rankings), placed, LabelledPairs.from_frame(labels))
    names = sorted({*lists, *left_out["full"], *removed})
    rows: list[dict[str, Any]] = []
    for name in names:
        own = [row for maker, row in removed.items() if maker == name or name not in removed]
        auc = left_out["full"].get(name, float("nan"))
        alone = float(np.mean([row.get(name, np.nan) for row in own]))
        rows.append(
            {"model": name, "generator": name in removed, **_on_lists(lists.get(name), cut, persistence), "auc": auc,
             "prevalence": left_out["prevalence"].get(name, float("nan")), "self_removed": alone, "shift": alone - auc}
        )  # fmt: skip
    table = pd.DataFrame(rows)
    for column in ("hr_official", "auc", "self_removed"):
        table[f"rank_{column}"] = competition_ranks(table[column].tolist())
    return Bias(table, group_means(table, ON_GROUPS), _orders(table))


def undecided_by_labels(low: Mapping[str, float], high: Mapping[str, float]) -> list[tuple[str, str]]:
    """Pairs of models whose intervals overlap: the labels there are do not decide between them.

    Formula: low_a <= high_b and low_b <= high_a, as RBP and RBP + residual.
    Source: specification 13.5.
    Conventions: ascending by name; limits are rounded to 12 decimals before they are compared, so that noise of the
    last bit parts nothing; intervals that touch overlap; an undefined one overlaps with all.
    Example, run by doctest:
    >>> undecided_by_labels({"a": 0.1, "b": 0.3, "c": 0.6}, {"a": 0.4, "b": 0.5, "c": 0.7})
    [('a', 'b')]
    """
    names = sorted(low)
    least, most = ({name: round(side[name], DECIMALS) for name in names} for side in (low, high))
    return [
        (a, b)
        for place, a in enumerate(names)
        for b in names[place + 1 :]
        if not (least[a] > most[b] or least[b] > most[a])
    ]


def _on_lists(lists: JudgedLists | None, k: int, persistence: float) -> dict[str, float]:
    if lists is None:
        return dict.fromkeys(ON_LISTS, float("nan"))
    hr, rbp = Measure("VSD-HR", k), Measure("RBP", p=persistence)
    judged = np.where(lists.positives > 0, Measure("Judged", k).by_query(lists), np.nan)
    values = (hr.by_query(lists), hr.most_by_query(lists), judged, rbp.by_query(lists), rbp.most_by_query(lists))
    return dict(zip(ON_LISTS, map(mean, values), strict=True))


def group_means(table: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row for each measure: the means of generators and of outsiders, and their difference.

    Formula: mean over the models of each side; difference = generators - outsiders.
    Source: specification 13.10.
    Conventions: `table` has a row for each model, a column `generator` and one for each measure; undefined values
    are left out; a side without any is NaN.
    Example, run by doctest:
    >>> models = pd.DataFrame({"generator": [True, True, False], "hr": [0.9, 0.7, 0.3]})
    >>> group_means(models, ["hr"])["difference"].tolist()
    [0.5]
    """
    made = table["generator"].to_numpy(dtype=bool)
    generators, outsiders = (table.loc[side, list(measures)].mean().to_numpy() for side in (made, ~made))
    told = {"measure": list(measures), "generators": generators, "outsiders": outsiders}
    return pd.DataFrame({**told, "difference": generators - outsiders})


def order_agreement(table: pd.DataFrame, first: str, second: str) -> dict[str, float]:
    """How far the order of the models by one measure is that by another, over the models that have both.

    Formula: Kendall's tau_b and tau_AP,b of the two columns.
    Source: specification 13.4, 13.10.
    Conventions: models without one of the two are left out; fewer than two models: NaN.
    Example, run by doctest:
    >>> models = pd.DataFrame({"hr": [0.9, 0.7, 0.3, 0.1], "auc": [0.6, 0.7, 0.5, float("nan")]})
    >>> {name: round(value, 3) for name, value in order_agreement(models, "hr", "auc").items()}
    {'tau_b': 0.333, 'tau_ap_b': 0.0, 'n': 3}
    """
    both = table[[first, second]].dropna()
    if len(both) < 2:
        return {"tau_b": float("nan"), "tau_ap_b": float("nan"), "n": len(both)}
    sides = both[first].tolist(), both[second].tolist()
    return {"tau_b": kendall_tau(*sides)["tau_b"], "tau_ap_b": tau_ap_b(*sides), "n": len(both)}


def _orders(table: pd.DataFrame) -> dict[str, float]:
    """The order by HR against that by AUC, on all labels and without own pairs."""
    found: dict[str, float] = {}
    for column in ("auc", "self_removed"):
        told = order_agreement(table, "hr_official", column)
        found |= {f"{name}_hr_{column}": told[name] for name in ("tau_b", "tau_ap_b")}
    return found
