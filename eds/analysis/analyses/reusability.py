"""How each pool model would score if it were new.

Each pool model as if it were new: its own pairs lose their labels, and all models are scored again.

A benchmark is reusable for new models on the measures that hardly change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.rank_correlation import competition_ranks, kendall_tau, tau_ap, tau_ap_b
from eds.analysis.reduced_pools import proposals
from eds.errors import InputError
from eds.metrics.definition import ModelInputs
from eds.metrics.inputs import with_negatives
from eds.metrics.judged_lists import JudgedLists, judge, read_rankings
from eds.metrics.measure import Measure
from eds.metrics.pair_scores import align_scores
from eds.metrics.unjudged import pooled_of
from eds.pairs import KnownRanks, LabelledPairs, RankedLists, Reals

INPUTS = ("pool_lists", "labels", "rankings", "ranks", "scores", "pooled")
ON_LISTS = ("lists", "official lists")
MEASURES = (Measure("VSD-HR", 5), Measure("ROC-AUC"), Measure("bpref"), Measure("RBP"))


@dataclass(frozen=True)
class Options:
    """What to compute."""

    measures: tuple[Measure, ...] = option(MEASURES, "Measures to compute.")


def analyse(inputs: AnalysisInputs, options: Options) -> dict[str, Any]:
    """A summary for each measure, and the table of all pool models."""
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
    ones): without r its own pairs would not have been asked, so they leave the pool with their labels.
    Example: see tests/analysis/test_resampling.py and the specification's vectors.
    """
    pool_lists, labels = inputs.require("pool_lists", "labels")
    data = _Data.of(inputs, measure, LabelledPairs.from_frame(labels))
    names, proposed = proposals(pool_lists, data.labelled)
    alone = proposed & (proposed.sum(axis=0) == 1)
    full = data.values(measure)
    own = _own_pairs(pool_lists)
    result = {}
    for row, name in enumerate(names):
        unpooled = data.without(own[name], ~alone[row]).values(measure)
        before, after = full.get(name, float("nan")), unpooled.get(name, float("nan"))
        result[name] = {
            "unique_pairs": len(own[name]),
            "unique_positives": int(data.labelled.value[alone[row]].sum()),
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
    return {
        "measure": part["measure"].iloc[0],
        "largest_drop": float(part["drop"].clip(lower=0).max()),
        "largest_rise": float((0.0 - part["drop"]).clip(lower=0).max()),
        "mean_drop": float(part["drop"].mean()),
        "largest_move": int(moved.max()),
        "least_tau_b": float(part["kendall_tau_b"].min()),
        "least_tau_ap_b": float(part["tau_ap_b"].min()),
    }


@dataclass(frozen=True, eq=False)
class _Data:
    """What one measure is computed on: the labelled pairs, and lists or scores of every model."""

    labelled: LabelledPairs
    lists: RankedLists | None = None
    ranks: KnownRanks | None = None
    pooled: LabelledPairs | None = None  # the pool's pairs, where the measure counts them
    scores: dict[str, Reals] | None = None

    @classmethod
    def of(cls, inputs: AnalysisInputs, measure: Measure, labelled: LabelledPairs) -> "_Data":
        """The data that the measure needs."""
        definition = measure.definition
        if definition.needs == "scores":
            if measure.parameters.get("negatives") == "sampled":
                labelled, _ = with_negatives(labelled, inputs.require("negatives"))
            return cls(labelled, scores=align_scores(labelled, inputs.require("scores")))
        if definition.needs not in ON_LISTS:
            raise InputError(
                f"{measure} does not depend on labels", where="reusability", hint="Choose another measure."
            )
        lists = None if inputs.rankings is None else read_rankings(inputs.rankings)
        requested = inputs.pooled if definition.counts_pooled else None
        return cls(labelled, lists, inputs.ranks, None if requested is None else pooled_of(labelled, requested))

    def without(self, own: pd.DataFrame, kept: Any) -> "_Data":
        """Only the kept labels, and the pairs `own` were never asked."""
        pooled, scores = self.pooled, self.scores
        if pooled is not None:
            requested = np.ones(len(pooled.value), np.bool_)
            index = pooled.find_ids(own["query_id"], own["candidate_id"])
            requested[index[index >= 0]] = False
            pooled = pooled.select(requested)
        if scores is not None:
            scores = {name: score[kept] for name, score in scores.items()}
        return replace(self, labelled=self.labelled.select(kept), pooled=pooled, scores=scores)

    def values(self, measure: Measure) -> dict[str, float]:
        """Every model's value, by model, ascending."""
        if self.scores is not None:
            given = {
                name: ModelInputs(self.labelled, score=score, sampled=self.labelled, sampled_score=score)
                for name, score in self.scores.items()
            }
        else:
            judged: dict[str, JudgedLists] = judge(self.lists, self.ranks, self.labelled, self.pooled)
            given = {name: ModelInputs(self.labelled, judged[name]) for name in sorted(judged)}
        compute = measure.definition.compute
        return {name: compute(own, measure.k, measure.parameters).value for name, own in given.items()}


def _own_pairs(suspects: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By generator: the pairs that nobody else proposed, labelled or not."""
    pairs = suspects[["model", "query_id", "candidate_id"]].drop_duplicates()
    alone = ~pairs.duplicated(["query_id", "candidate_id"], keep=False)
    return {str(name): pairs[alone & (pairs["model"] == name)] for name in pairs["model"].unique()}


def _rank(values: dict[str, float], name: str) -> int:
    return dict(zip(values, competition_ranks(list(values.values())), strict=True)).get(name, 0)


def _taus(full: list[float], unpooled: list[float]) -> dict[str, float]:
    if not full or np.isnan(full).any() or np.isnan(unpooled).any():
        return dict.fromkeys(("kendall_tau_b", "tau_ap", "tau_ap_b"), float("nan"))
    return {
        "kendall_tau_b": kendall_tau(full, unpooled)["tau_b"],
        "tau_ap": tau_ap(full, unpooled),
        "tau_ap_b": tau_ap_b(full, unpooled),
    }
