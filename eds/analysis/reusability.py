"""How a model that did not help to find the pairs would fare: its own finds are left unjudged, and all are scored anew.

A benchmark is reusable for new models on the metrics whose drops are small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.leave_one_out import proposals
from eds.analysis.rank_correlation import competition_ranks, kendall_tau, tau_ap, tau_ap_b
from eds.errors import InputError
from eds.metrics.auc_report import AUCS, summary
from eds.metrics.judged_lists import JudgedLists, judge, read_rankings
from eds.metrics.measures import incomplete, official, standard
from eds.metrics.pair_scores import align_scores
from eds.metrics.single_list import cut_offs, mean
from eds.metrics.unjudged import pooled_of
from eds.pairs import KnownRanks, LabelledPairs, RankedLists, Reals

PERSISTENCE = 0.8
ON_LISTS: dict[str, Callable[[JudgedLists, int], Reals]] = {
    "hr_official": standard.precision,
    "mrr_official": official.official_mrr,
    "hit_rate": standard.success,
    "mrr": standard.reciprocal_rank,
    "condensed_ap": lambda lists, k: incomplete.condensed_ap(lists),
    "condensed_ndcg": lambda lists, k: incomplete.condensed_ndcg(lists),
    "bpref": lambda lists, k: incomplete.bpref(lists),
    "inf_ap": lambda lists, k: incomplete.inf_ap(lists),
    "rbp": lambda lists, k: incomplete.rbp(lists, PERSISTENCE),
}
METRICS = (*ON_LISTS, *AUCS)


def reusability(
    suspects: pd.DataFrame,
    labels: pd.DataFrame,
    rankings: pd.DataFrame | None,
    k: int,
    metric: str = "hr_official",
    scores: pd.DataFrame | None = None,
    placed: KnownRanks | None = None,
    pooled: pd.DataFrame | None = None,
) -> dict[str, dict[str, Any]]:
    """By generator r: its value with and without the labels of the pairs that only r proposed, and its place.

    Formula: drop = full - unpooled; ranks by competition among all models, on values rounded to 12 decimals; tau_b,
    tau_AP and tau_AP,b between all models' values before and after.
    Source: specification 13.4.
    Conventions: `suspects` are lists (model, query_id, candidate_id), `rankings` final lists of all models, or `placed`
    the ranks of the labelled pairs in whole lists; k cuts
    hr_official, mrr_official, hit_rate and mrr, the others use the whole lists (rbp with persistence 0.8), the AUCs
    `scores`; a query whose positives all fall away no longer counts, but for rbp, which is a mean
    over all labelled queries, as the measure is; a generator without a list or scores: NaN, rank 0. `pooled` are the
    pairs (query_id, candidate_id) that were asked, judged or not, which inf_ap counts (default: the labelled ones):
    without r its own pairs would not have been asked, so they leave the pool with their labels.
    Example: see tests/analysis/test_reusability.py and the specification's vectors.
    """
    cut_offs([k])
    if metric not in METRICS:
        raise InputError(f"metric {metric!r} is unknown", do=f"Known: {', '.join(METRICS)}.")
    if metric in AUCS and scores is None:
        raise InputError(f"metric {metric} needs scores", do="Give model, query_id, candidate_id, score.")
    labelled = LabelledPairs.from_frame(labels)
    generators, proposed = proposals(suspects, labelled)
    alone = proposed & (proposed.sum(axis=0) == 1)
    asked = None if pooled is None or metric != "inf_ap" else pooled_of(labelled, pooled)
    lists = _Lists(None if rankings is None else read_rankings(rankings), placed, asked)
    by_model = align_scores(labelled, scores) if scores is not None and metric in AUCS else None
    full = _values(labelled, None, lists, by_model, k, metric)
    own = _own_pairs(suspects)
    found = {}
    for number, name in enumerate(generators):
        unpooled = _values(labelled, ~alone[number], lists.without(own[name]), by_model, k, metric)
        before, after = full.get(name, float("nan")), unpooled.get(name, float("nan"))
        found[name] = {
            "unique_pairs": len(own[name]),
            "unique_positives": int(labelled.value[alone[number]].sum()),
            "full": before,
            "unpooled": after,
            "drop": before - after,
            "rank_full": _rank(full, name),
            "rank_unpooled": _rank(unpooled, name),
            **_taus(list(full.values()), list(unpooled.values())),
        }
    return found


def reusability_table(
    suspects: pd.DataFrame,
    labels: pd.DataFrame,
    rankings: pd.DataFrame | None,
    k: int,
    metrics: Sequence[str] = ("hr_official", "bpref", "rbp"),
    scores: pd.DataFrame | None = None,
    placed: KnownRanks | None = None,
    pooled: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """`reusability` for several metrics side by side: a row for each metric and generator."""
    rows = [
        {"metric": metric, "model": model, **told}
        for metric in metrics
        for model, told in reusability(suspects, labels, rankings, k, metric, scores, placed, pooled).items()
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Lists:
    """Lists of some models, known places of others, and the pool's pairs where they are told and count."""

    rankings: RankedLists | None
    placed: KnownRanks | None
    pooled: LabelledPairs | None = None

    def without(self, own: pd.DataFrame) -> "_Lists":
        """The same where these pairs were never asked."""
        if self.pooled is None:
            return self
        place = self.pooled.find_ids(own["query_id"], own["candidate_id"])
        kept = np.ones(len(self.pooled.value), np.bool_)
        kept[place[place >= 0]] = False
        return replace(self, pooled=self.pooled.select(kept))

    def judged(self, labelled: LabelledPairs) -> dict[str, JudgedLists]:
        """By model, ascending."""
        return dict(sorted(judge(self.rankings, self.placed, labelled, self.pooled).items()))


def _values(
    labelled: LabelledPairs,
    kept: Any,
    lists: "_Lists",
    scores: dict[str, Reals] | None,
    k: int,
    metric: str,
) -> dict[str, float]:
    """Every model's value on the labels kept."""
    part = labelled if kept is None else labelled.select(kept)
    if scores is not None:
        return {name: summary(part, score if kept is None else score[kept])[metric] for name, score in scores.items()}
    return {name: mean(_counted(judged, metric, k)) for name, judged in lists.judged(part).items()}


def _counted(lists: JudgedLists, metric: str, k: int) -> Reals:
    """The values of the queries that count, as in the measure itself."""
    value = ON_LISTS[metric](lists, k)
    return value if metric == "rbp" else np.where(lists.positives > 0, value, np.nan)


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
