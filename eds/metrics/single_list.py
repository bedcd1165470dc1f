"""The official and the standard numbers on ranks, side by side under their own names; and single lists."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.judged_lists import JudgedLists, judge, read_rankings
from eds.metrics.measures import incomplete, official, standard
from eds.pairs import UNLABELLED, LabelledPairs, Reals


def absolute_rank_metrics(rankings: pd.DataFrame, labels: pd.DataFrame, k: Sequence[int]) -> dict[str, Any]:
    """HR and MRR as the public evaluator prints them, as the text defines them, and the standard ones.

    Formula: those of the measures; `pair_` values are means weighted by the queries' positives, the
    others plain means over queries with a positive; `judged` over queries with any label.
    Source: specification 4.2.
    Conventions: `rankings` are the final lists of one model (model, query_id, candidate_id, rank from 0); a positive
    that is in no list, or whose query has none, counts as not found and is counted; nothing to average: NaN.
    Example, run by doctest:
    >>> rankings = pd.DataFrame({"model": "m", "query_id": "q", "candidate_id": ["a", "b", "c"], "rank": [0, 1, 2]})
    >>> labels = pd.DataFrame({"query_id": "q", "candidate_id": ["a", "b"], "value": 1})
    >>> absolute_rank_metrics(rankings, labels, [3])["mrr_official@3"]
    0.8181818181818182
    """
    labelled = LabelledPairs.from_frame(labels)
    by_model = judge(read_rankings(rankings), None, labelled)
    if len(by_model) > 1:
        raise InputError(f"{len(by_model)} models have lists", where="table neighbors", hint="Give those of one model.")
    nothing = np.zeros(0, np.int64)
    empty = JudgedLists(nothing, nothing, nothing, nothing > 0, labelled.positives, labelled.negatives)
    lists = next(iter(by_model.values()), empty)
    positives = labelled.positives.astype(np.float64)
    longest = int(lists.lengths.max(initial=0))
    result: dict[str, Any] = {
        "n_queries_with_positive": int((positives > 0).sum()),
        "n_queries_without_positive": int((positives == 0).sum()),
        "n_queries_without_list": int((lists.lengths == 0).sum()),
        "n_positives_in_no_list": int(positives.sum() - (lists.label == 1).sum()),
        "mrr_official": mean(official.pair_mrr(lists, max(longest, 1)), positives),
    }
    for cut in cut_offs(k):
        result |= {
            f"hr_official@{cut}": mean(standard.precision(lists, cut)),
            f"mrr_official@{cut}": mean(official.official_mrr(lists, cut)),
            f"pair_recall@{cut}": mean(standard.recall(lists, cut), positives),
            f"pair_mrr@{cut}": mean(official.pair_mrr(lists, cut), positives),
            f"hit_rate@{cut}": mean(standard.success(lists, cut)),
            f"mrr@{cut}": mean(standard.reciprocal_rank(lists, cut)),
            f"recall@{cut}": mean(standard.recall(lists, cut)),
            f"judged@{cut}": mean(incomplete.judged(lists, cut)),
        }
    return result


def incomplete_metrics(
    ranking: Sequence[str],
    judged: Mapping[str, int],
    k: int,
    persistence: float = 0.8,
    pool: Iterable[str] | None = None,
) -> dict[str, float]:
    """What one list is worth when labels are missing.

    Formula: those of the measures, and `judged` at k; rbp_upper = rbp + residual.
    Source: specification 13.5.
    Conventions: `pool` are ids that were pooled, judged or not (default: the judged ones); no positive: NaN, but RBP.
    Example, run by doctest:
    >>> incomplete_metrics(["x", "b", "y", "a", "c"], {"a": 1, "b": 0, "c": 1}, 2)["judged_at_k"]
    0.5
    """
    if any(isinstance(value, bool) or value not in (0, 1) for value in judged.values()):
        raise InputError("a label is neither 1 nor 0", where="judged", hint="Leave out what is not judged.")
    if len(set(ranking)) < len(ranking):
        raise InputError("duplicate id", where="ranking", hint="Give every id once.")
    if not 0 < persistence < 1:
        raise InputError(f"persistence is {persistence}", hint="Give a number between 0 and 1, as 0.8.")
    (cut,) = cut_offs([k])
    requested = set(judged) if pool is None else {*judged, *pool}
    label = np.array([judged.get(name, UNLABELLED) for name in ranking], np.int64)
    positives = sum(judged.values())
    lists = JudgedLists(
        np.zeros(len(label), np.int64),
        np.arange(1, len(label) + 1),
        label,
        np.array([name in requested for name in ranking], np.bool_),
        np.array([positives]),
        np.array([len(judged) - positives]),
    )
    value = {
        "judged_at_k": lists.per_query((label >= 0) & (lists.place <= cut)) / cut,
        "condensed_ap": incomplete.condensed_ap(lists),
        "condensed_ndcg": incomplete.condensed_ndcg(lists),
        "bpref": incomplete.bpref(lists),
        "inf_ap": incomplete.inf_ap(lists),
        "rbp": incomplete.rbp(lists, persistence),
        "rbp_residual": incomplete.rbp_residual(lists, persistence),
    }
    result = {name: float(part[0]) for name, part in value.items()}
    return {**result, "rbp_upper": result["rbp"] + result["rbp_residual"]}


def mean(value: Reals, weight: Reals | None = None) -> float:
    """The mean over queries where it is defined, NaN where that is nowhere.

    >>> mean(np.array([1.0, np.nan, 0.0]), np.array([3.0, 9.0, 1.0]))
    0.75
    """
    defined = ~np.isnan(value)
    if weight is None:
        return float(value[defined].mean()) if defined.any() else float("nan")
    total = weight[defined].sum()
    return float((value[defined] * weight[defined]).sum() / total) if total else float("nan")


def cut_offs(k: Sequence[int]) -> list[int]:
    """The cut-offs checked: whole numbers from 1."""
    wrong = [value for value in k if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1]
    if wrong:
        raise InputError(f"cut-off {wrong[0]!r}", where="k", hint="Give whole numbers from 1 up.")
    return [int(value) for value in k]
