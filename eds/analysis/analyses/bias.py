"""How the pool favours the models that made it.

Models that made the pool (generators) against models that did not (outsiders), by HR and by AUC.

Official HR favours generators, whose own finds are all labelled; AUC on labelled negatives handicaps them, for the
labelled negatives are their own mistakes. Self-removal compares both on a pool that neither made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.analyses.leave_one_out import leave_one_out
from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.paired import column_interval
from eds.analysis.rank_correlation import FEWEST, competition_ranks, kendall_tau, tau_ap_b
from eds.analysis.reduced_pools import ReducedPools
from eds.intervals import RESAMPLES, UNDEFINED, Interval
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measure import Measure
from eds.metrics.measures.incomplete import persistence_for
from eds.metrics.single_list import mean

ON_LISTS = ("hr", "hr_at_most", "judged", "rbp", "rbp_at_most")
ON_GROUPS = ("hr", "judged", "rbp", "auc", "self_removed")
AUC = Measure("ROC-AUC")
INPUTS = ("pool_lists", "labels", "rankings", "ranks", "scores")


@dataclass(frozen=True)
class Options:
    """What to compare."""

    k: int = option(5, "Cut-off of HR and of what is judged.")
    auc: Measure = option(AUC, "The area under the curve that is compared with HR.")


def analyse(inputs: AnalysisInputs, options: Options) -> "Bias":
    """`bias` with these options."""
    return bias(inputs, options.k, options.auc)


@dataclass(frozen=True, eq=False)
class Bias:
    """`models`: a row for each model; `groups`: generators against outsiders; `orders`: whether measures agree.

    Columns are named by the role of a measure; `measures` says which one it is.
    """

    models: pd.DataFrame
    groups: pd.DataFrame
    orders: Mapping[str, float]
    measures: Mapping[str, Measure]


def bias(
    inputs: AnalysisInputs, k: int, auc: Measure = AUC, *, level: float = 0.95, resamples: int = RESAMPLES
) -> Bias:
    """Every model's HR and AUC, and what pooling does to them.

    Formula, by model: hr = labelled positives among the first k, over k, mean over queries with a positive;
    hr_at_most = hr + the share of its unlabelled places, its value if all these were positive; judged = Judged@k, over
    all labelled queries, as models are scored by it; rbp and rbp_at_most =
    RBP and RBP + residual, its persistence from k (`persistence_for`); auc on all labels, prevalence the share of
    positives that it rests on; self_removed = the same without the pairs that only the model itself proposed; shift =
    self_removed - auc; both with intervals over queries. By group (`groups`): means over its models; in the row
    self_removed the outsiders' mean over all reduced pools, so that both sides are judged on pools they had no part in.
    Source: specification 5.4, 6.1, 13.5, 13.10; for the order of models Kendall's tau_b and tau_AP,b of HR and AUC.
    Conventions: needs `pool_lists`, `labels`, `scores`, and `rankings` or `ranks` (or both, for different models);
    a model without lists or scores has NaN there; ranks 0 = undefined; no outsider: NaN. An outsider's `self_removed`
    is its mean over the reduced pools, and its shift has no interval.
    Example: see tests/analysis/test_bias.py.
    """
    measures = {
        "hr": Measure("VSD-HR", k),
        "judged": Measure("Judged", k),
        "rbp": Measure("RBP", p=persistence_for(k)),
        "auc": auc,
    }
    left_out = leave_one_out(inputs, auc, level=level, resamples=resamples)
    pools = ReducedPools.of(*inputs.require("pool_lists", "labels", "scores"))
    removed: dict[str, dict[str, float]] = left_out.loo
    lists = inputs.judged_lists()
    rows: list[dict[str, Any]] = []
    for name in sorted({*lists, *left_out.full, *removed}):
        own = [row for maker, row in removed.items() if maker == name or name not in removed]
        full = left_out.full.get(name, float("nan"))
        alone = float(np.mean([row.get(name, np.nan) for row in own]))
        moved = left_out.self_removal_interval.get(name, Interval.none(UNDEFINED))
        columns = pools.self_removed(auc, name, list(removed)) if name in pools.scores else None
        interval = column_interval(columns, level, resamples, inputs.seed)
        rows.append(
            {
                "model": name,
                "generator": name in removed,
                **_on_lists(lists.get(name), measures),
                "auc": full,
                "prevalence": left_out.prevalence.get(name, float("nan")),
                "self_removed": alone,
                "self_removed_low": interval.low,
                "self_removed_high": interval.high,
                "shift": alone - full,
                "shift_low": moved.low,
                "shift_high": moved.high,
            }
        )
    table = pd.DataFrame(rows)
    for column in ("hr", "auc", "self_removed"):
        table[f"rank_{column}"] = competition_ranks(table[column].tolist())
    groups = group_means(table, ON_GROUPS)
    return Bias(table, groups, _orders(table), measures)


def _on_lists(lists: JudgedLists | None, measures: Mapping[str, Measure]) -> dict[str, float]:
    if lists is None:
        return dict.fromkeys(ON_LISTS, float("nan"))
    hr, judged, rbp = (measures[role] for role in ("hr", "judged", "rbp"))
    values = (
        hr.by_query(lists),
        hr.most_by_query(lists),
        judged.by_query(lists),
        rbp.by_query(lists),
        rbp.most_by_query(lists),
    )
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
    result = {"measure": list(measures), "generators": generators, "outsiders": outsiders}
    return pd.DataFrame({**result, "difference": generators - outsiders})


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
    """The order by HR against that by AUC, on all labels and without own pairs; NaN for fewer than 8 models."""
    result: dict[str, float] = {"n": len(table)}
    for column in ("auc", "self_removed"):
        values = order_agreement(table, "hr", column)
        few = values["n"] < FEWEST
        result |= {f"{name}_hr_{column}": float("nan") if few else values[name] for name in ("tau_b", "tau_ap_b")}
    return result
