"""How rare positives are, and how many the pool missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from eds.analysis.all_pairs import drawn_from, population
from eds.analysis.chao import unseen_positives
from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.prevalence_estimates import chebyshev_bound, discovery_gain, p_lower_bound, p_map, p_posterior
from eds.analysis.recall import pool_recall, stratified_estimate
from eds.intervals import clopper_pearson_interval
from eds.suspects import pair_rate, positive_rates, sources_frame

PAIR = ["query_id", "candidate_id"]
ENOUGH = 0.95  # of the draws outside the pool; those inside are labelled with the pool, so that fewer would bias p


INPUTS = ("images", "suspects", "truth")


@dataclass(frozen=True)
class Options:
    """How intervals are computed."""

    confidence: float = option(0.95, "Confidence level of the intervals.")
    limits: Literal["simultaneous", "squared"] = option(
        "simultaneous",
        "Pool recall from several strata: simultaneous intervals are safe and wide, squared about right.",
    )


def analyse(inputs: AnalysisInputs, options: Options) -> dict[str, Any]:
    """`pool_report` of the tables."""
    images, suspects, truth = inputs.require(*INPUTS)
    return pool_report(images, suspects, truth, options.confidence, options.limits)


def pool_report(
    images: pd.DataFrame,
    suspects: pd.DataFrame,
    truth: pd.DataFrame,
    level: float = 0.95,
    limits: str = "simultaneous",
) -> dict[str, Any]:
    """p_k of the pool and of each model, bounds and estimates of p, recall of the pool, positives not found.

    Formula: those of eds.analysis.prevalence_estimates, recall and chao, and of eds.suspects.positive_rates.
    Source: specification 1.6, 3, 13.1, 13.2, 13.9.
    Conventions: all pairs A = |Q| |D| - |Q and D|, without those of one product where the random draws left them out
    (`product_pairs`; see eds.analysis.all_pairs); pairs of the pool that are not among them, as candidates of another
    role, count nowhere (`pool_pairs_left_out`). Random draws are counted where they are labelled, for p only if at
    least 95 % of those outside the pool are (`enough`): draws inside it are labelled with the pool. Draws from all
    pairs that lie outside the pool are uniform draws from outside, and so serve the recall, unless strata of the
    outside were drawn themselves; what no stratum covers is one that was not drawn from. Pairs of the pool without a
    label count as not found; an empty pool has no recall. What cannot be computed is None. Rates with limits over
    queries, p with Clopper and Pearson's; `limits` of the recall as in `pool_recall`.
    Example: see tests/analysis/test_pool_report.py, against loops over the pairs.
    """
    labels = truth[[*PAIR, "value"]]
    among = population(images, suspects)
    everything = among.size
    pooled = suspects[suspects["origin"] == "pool"]
    counted = among.holds(pooled)
    mine = pooled.loc[counted, PAIR].drop_duplicates()
    judged = mine.merge(labels, on=PAIR)
    pool = pair_rate(mine, labels, level).to_dict()
    lists = sources_frame(pooled[counted])
    models, ranks, unseen = _by_model(lists, labels, judged, level)
    lower = p_lower_bound(pool["positive"], everything)
    draws = _draws(suspects, labels, mine)
    beyond = everything - len(mine) - sum(item["N"] for item in draws["strata"])
    if draws["strata"] and beyond > 0:
        draws["strata"].append({"stratum": "not drawn from", "N": beyond, "n": 0, "a": 0})
    return {
        "pairs": everything,
        "product_pairs": "left out" if among.apart else "counted",
        "pool_pairs_left_out": len(pooled[PAIR].drop_duplicates()) - len(mine),
        "pool": pool,
        "models": models,
        "ranks": ranks,
        "p_lower_bound": lower,
        "random": _random(draws["all"], lower, pool["rate"], level),
        "strata": draws["strata"],
        "stratified": _stratified(draws["strata"], pool) if draws["strata"] else None,
        "recall": pool_recall(pool["positive"], draws["strata"], level, limits)
        if draws["strata"] and len(mine)
        else None,
        "unseen": unseen,
    }


def _by_model(
    lists: pd.DataFrame, labels: pd.DataFrame, judged: pd.DataFrame, level: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any] | None]:
    """Rates by model and by rank, and an estimate of what no model found; nothing where sources are not known."""
    if not len(lists):
        return [], [], None
    rates = positive_rates(lists, labels, level)
    once = lists.drop_duplicates(PAIR, keep=False)
    alone = once.merge(judged[judged["value"] == 1][PAIR], on=PAIR)["model"].value_counts()
    models = [
        {
            "model": name,
            **rate.to_dict(),
            "pairs_only_here": int((once["model"] == name).sum()),
            "positives_only_here": int(alone.get(name, 0)),
        }
        for name, rate in rates.by_model.items()
    ]
    ranks = [{"rank": rank, **values.to_dict()} for rank, values in enumerate(rates.by_rank)]
    times = lists.groupby(PAIR).size().rename("times").reset_index().merge(judged[judged["value"] == 1], on=PAIR)
    exactly = np.bincount(times["times"], minlength=len(models) + 1)[1:].tolist()
    unseen = None
    if len(models) > 1:
        unseen = {"found_by_exactly": exactly, **unseen_positives(exactly, len(models))}
    return models, ranks, unseen


def _draws(suspects: pd.DataFrame, labels: pd.DataFrame, pool: pd.DataFrame) -> dict[str, Any]:
    """Labelled random draws: of all pairs, and by stratum of the outside as N, n, a."""
    rows = suspects[suspects["origin"] == "random"]
    values = rows.merge(labels, on=PAIR, how="left")
    result: dict[str, Any] = {"all": None, "strata": []}
    for name, part in values.groupby("stratum", sort=True):
        size = drawn_from(part)
        known = part[part["value"].notna()]
        if name == "all":
            inside = known.merge(pool, on=PAIR)
            beyond = len(part) - len(part.merge(pool, on=PAIR))
            result["all"] = {
                "N": size,
                "drawn": len(part),
                "n": len(known),
                "a": int(known["value"].sum()),
                "enough": len(known) - len(inside) >= ENOUGH * beyond,
            }
            outside = {
                "stratum": "outside (of draws from all)",
                "N": size - len(pool),
                "n": len(known) - len(inside),
                "a": int(known["value"].sum() - inside["value"].sum()),
            }
        else:
            result["strata"].append({"stratum": str(name), "N": size, "n": len(known), "a": int(known["value"].sum())})
    if result["all"] and not result["strata"]:
        result["strata"] = [outside]
    return result


def _random(drawn: dict[str, Any] | None, lower: float, rate: float | None, level: float) -> dict[str, Any] | None:
    """What uniform draws from all pairs say of p."""
    if drawn is None or not drawn["enough"]:
        return drawn
    a, n = drawn["a"], drawn["n"]
    likely = p_map(a, n, lower)
    low, high = clopper_pearson_interval(a, n, level)
    gain = (
        None if rate is None else {"gain": discovery_gain(rate, likely), "at_least": discovery_gain(rate, float(high))}
    )
    return {
        **drawn,
        "p_map": likely,
        "posterior": p_posterior(a, n, lower, level),
        "exact_low": float(low),
        "exact_high": float(high),
        "chebyshev_at_half": chebyshev_bound(likely, n, likely / 2) if likely else None,
        "discovery": gain,
    }


def _stratified(strata: Sequence[dict[str, Any]], pool: dict[str, Any]) -> dict[str, float]:
    """The share p over all pairs: the pool is a census if it is labelled throughout, else a sample of itself."""
    census = {"N": pool["pairs"], "n": pool["labelled"], "a": pool["positive"]}
    return stratified_estimate([census, *({key: item[key] for key in ("N", "n", "a")} for item in strata)])
