"""How each pool model would score if it were new.

Each pool model as if it were new: its own pairs lose their labels, and all models are scored again.

A benchmark is reusable for new models on the measures that hardly change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.measure_data import MeasureData
from eds.analysis.rank_correlation import FEWEST, competition_ranks, kendall_tau, tau_ap, tau_ap_b
from eds.metrics.measure import Measure
from eds.metrics.measures.incomplete import persistence_for

INPUTS = ("pool_lists", "labels", "rankings", "ranks", "scores", "pooled")
MEASURES = (Measure("VSD-HR", 5), Measure("ROC-AUC"), Measure("bpref"), Measure("RBP", p=persistence_for(6)))


@dataclass(frozen=True)
class Options:
    """What to compute."""

    measures: tuple[Measure, ...] = option(MEASURES, "Measures to compute.")


def analyse(inputs: AnalysisInputs, options: Options) -> dict[str, Any]:
    """A summary for each measure, and the table of all pool models.

    The order's correlation is summarised from 8 models on (`FEWEST`); the number of models is `models`.
    """
    table = reusability_table(inputs, options.measures)
    return {"measures": [_summary(part) for _, part in table.groupby("measure", sort=False)], "models": table}


def reusability(inputs: AnalysisInputs, measure: Measure) -> dict[str, dict[str, Any]]:
    """By pool model r: its value with and without the labels of the pairs that only r proposed, and its rank.

    Formula: drop = full - unpooled; ranks by competition among all models, on values rounded to 12 decimals; tau_b,
    tau_AP and tau_AP,b between all models' values before and after.
    Source: specification 13.4.
    Conventions: needs `pool_lists`, `labels`, and for the measure lists or ranks, or scores; a query whose positives
    all fall away no longer counts, except for RBP, which is a mean over all labelled queries; a pool model without
    lists or scores: NaN, rank 0. `pooled` are the pairs that were asked, which infAP counts (default: the labelled
    ones): without r its own pairs would not have been asked, so they leave the pool with their labels. Sampled
    negatives are those drawn without r's lists (`negatives_without`); where there are none, unpooled values are NaN.
    Example: see tests/analysis/test_resampling.py and the specification's vectors.
    """
    data = MeasureData.of(inputs, measure)
    full = _values(data)
    result = {}
    for name in data.generators:
        unpooled = _values(data.without(name))
        before, after = full.get(name, float("nan")), unpooled.get(name, float("nan"))
        result[name] = {
            "models": len(full),
            "unique_pairs": data.own_pairs(name),
            "unique_positives": data.own_positives(name),
            "full": before,
            "unpooled": after,
            "drop": before - after,
            "rank_full": _rank(full, name),
            "rank_unpooled": _rank(unpooled, name),
            **_taus(list(full.values()), list(unpooled.values())),
        }
    return result


def reusability_table(inputs: AnalysisInputs, measures: Sequence[Measure]) -> pd.DataFrame:
    """`reusability` for several measures: a row for each measure and pool model."""
    rows = [
        {"measure": str(measure), "model": model, **values}
        for measure in measures
        for model, values in reusability(inputs, measure).items()
    ]
    return pd.DataFrame(rows)


def _summary(part: pd.DataFrame) -> dict[str, Any]:
    moved = (part["rank_full"] - part["rank_unpooled"]).abs()
    models = int(part["models"].iloc[0])
    known = part if models >= FEWEST else part.iloc[:0]
    return {
        "measure": part["measure"].iloc[0],
        "models": models,
        "largest_drop": float(part["drop"].clip(lower=0).max()),
        "largest_rise": float((0.0 - part["drop"]).clip(lower=0).max()),
        "mean_drop": float(part["drop"].mean()),
        "largest_move": int(moved.max()),
        "least_tau_b": float(known["kendall_tau_b"].min()),
        "least_tau_ap_b": float(known["tau_ap_b"].min()),
    }


def _values(data: MeasureData | None) -> dict[str, float]:
    return {} if data is None else {name: values.value for name, values in data.values().items()}


def _rank(values: dict[str, float], name: str) -> int:
    return dict(zip(values, competition_ranks(list(values.values())), strict=True)).get(name, 0)


def _taus(full: list[float], unpooled: list[float]) -> dict[str, float]:
    if not full or len(unpooled) < len(full) or np.isnan(full).any() or np.isnan(unpooled).any():
        return dict.fromkeys(("kendall_tau_b", "tau_ap", "tau_ap_b"), float("nan"))
    return {
        "kendall_tau_b": kendall_tau(full, unpooled)["tau_b"],
        "tau_ap": tau_ap(full, unpooled),
        "tau_ap_b": tau_ap_b(full, unpooled),
    }
