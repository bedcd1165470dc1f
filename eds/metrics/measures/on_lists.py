"""Measures on ranked lists with labels. Formulas stand in eds.metrics.rank_formulas and incomplete_formulas."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eds.metrics import incomplete_formulas as incomplete
from eds.metrics import rank_formulas as formulas
from eds.metrics.definition import Definition, Evidence, Parameter, Values
from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Reals

Formula = Callable[[JudgedLists, Any, Mapping[str, Any]], Reals]
POSITIVE = "mean over queries with a positive; unlabelled counts as not similar; a positive that no list holds counts"
PAIRS = "mean over positive pairs; one that no list holds counts 0"
PERSISTENCE = {"p": Parameter(0.8)}


def _measured(formula: Formula, *, by_pair: bool = False, official: bool = False) -> Callable[..., Values]:
    def compute(evidence: Evidence, k: int | None, parameters: Mapping[str, Any]) -> Values:
        lists = evidence.lists
        if lists is None:
            raise TypeError("score() gives lists to measures that need them")
        value = formula(lists, k, parameters)
        used = ~np.isnan(value)
        deepest = k or np.inf
        places = int(np.minimum(lists.lengths, deepest).sum())
        seen = lists.label[lists.place <= deepest]
        labelled = int((seen >= 0).sum())
        counts = {
            "queries used": int(used.sum()),
            "queries without a positive skipped": int((~used & (lists.positives == 0)).sum()),
            "queries without a list": int((lists.lengths == 0).sum()),
            "lists that end before the cut-off": int((used & (lists.lengths > 0) & (lists.lengths < (k or 0))).sum()),
            "positives not found": int(lists.positives.sum() - (seen == 1).sum()),
            **(_out_of_reach(evidence, deepest) if official else {}),
            "places": places,
            "places unlabelled": places - labelled,
            "pairs used": labelled,
        }
        weight = lists.positives.astype(np.float64) if by_pair else None
        n = int(lists.positives.sum()) if by_pair else counts["queries used"]
        return Values(evidence.labelled.queries, value, weight, n=n, counts=counts)

    return compute


def _out_of_reach(evidence: Evidence, deepest: float) -> dict[str, int]:
    """Positives that no such list can show, told where the catalogue is known: what keeps them out."""
    if evidence.hidden is None or evidence.barred is None:
        return {}
    behind = (evidence.hidden > 0) & (evidence.hidden <= deepest) & ~evidence.barred
    return {
        "positives behind another image of their product": int(behind.sum()),
        "positives left out by the rules": int(evidence.barred.sum()),
    }


def _at(formula: Callable[[JudgedLists, int], Reals]) -> Formula:
    return lambda lists, k, _: formula(lists, k)


def _cut(formula: Callable[[JudgedLists], Reals]) -> Formula:
    return lambda lists, k, _: formula(lists.cut(k))


VSD_HR = Definition(
    "VSD-HR",
    "HR@k as the public evaluator prints it: precision at k, so it usually falls with k",
    "#{positive pairs with place <= k} / (k n), n queries with a positive",
    f"{POSITIVE}; division by k even if the list is shorter",
    "official lists",
    "required",
    _measured(_at(formulas.precision), official=True),
)
VSD_MRR = Definition(
    "VSD-MRR",
    "MRR@k as the public evaluator prints it: 1 only if all of the first k are positive",
    "sum over positive pairs with place <= k of 1/place / (n H_k), H_k = 1 + 1/2 + ... + 1/k",
    POSITIVE,
    "official lists",
    "required",
    _measured(_at(formulas.official_mrr), official=True),
)
PAIR_RECALL = Definition(
    "PairRecall",
    "HR@k as the publication's text defines it",
    "#{positive pairs with place <= k} / #{positive pairs}",
    PAIRS,
    "official lists",
    "required",
    _measured(_at(formulas.recall), by_pair=True, official=True),
)
PAIR_MRR = Definition(
    "PairMRR",
    "MRR@k as the publication's text defines it; with k the evaluator's list length its uncut MRR",
    "mean over positive pairs of 1/place, 0 beyond k",
    PAIRS,
    "official lists",
    "required",
    _measured(_at(formulas.pair_mrr), by_pair=True, official=True),
)
SUCCESS = Definition(
    "Success",
    "standard hit rate",
    "1 if a positive is among the first k, else 0",
    POSITIVE,
    "lists",
    "required",
    _measured(_at(formulas.success)),
)
RR = Definition(
    "RR",
    "standard reciprocal rank",
    "1 / place of the first positive, 0 beyond k",
    POSITIVE,
    "lists",
    "required",
    _measured(_at(formulas.reciprocal_rank)),
)
PRECISION = Definition(
    "P",
    "share of positives among the first k",
    "positives among the first k / k",
    f"{POSITIVE}; division by k even if the list is shorter",
    "lists",
    "required",
    _measured(_at(formulas.precision)),
)
RECALL = Definition(
    "Recall",
    "share of the query's positives that are among the first k",
    "positives among the first k / positives of the query",
    POSITIVE,
    "lists",
    "required",
    _measured(_at(formulas.recall)),
)
AP = Definition(
    "AP",
    "average precision",
    "sum over positives among the first k of precision at their place, divided as divide_by says",
    f"{POSITIVE}; divide_by: relevant = all positives, hits = those among the first k, capped = min(positives, k); "
    "no hit: 0",
    "lists",
    "required",
    _measured(lambda lists, k, given: formulas.average_precision(lists, k, given["divide_by"])),
    {"divide_by": Parameter("relevant", ("relevant", "hits", "capped"))},
)
NDCG = Definition(
    "nDCG",
    "discounted gain over its ideal",
    "sum over positives among the first k of 1/log2(place + 1), over that of the best list",
    POSITIVE,
    "lists",
    "required",
    _measured(_at(formulas.ndcg)),
)
JUDGED = Definition(
    "Judged",
    "how far a value at k can be trusted",
    "labelled among the first k / k",
    "mean over queries with any label; division by k even if the list is shorter",
    "lists",
    "required",
    _measured(_at(formulas.judged)),
)
BPREF = Definition(
    "bpref",
    "how seldom labelled negatives stand above positives",
    "(1/R) sum over positives in the list of 1 - min(negatives above, R) / min(R, N)",
    "mean over queries with a positive; unlabelled places are passed over; without k the list as it is",
    "lists",
    "optional",
    _measured(_cut(incomplete.bpref)),
)
RBP = Definition(
    "RBP",
    "rank-biased precision; the true value lies between it and it + RBP-residual",
    "(1 - p) sum over positives of p^(place - 1)",
    "mean over all labelled queries, with or without a positive; unlabelled counts as not similar",
    "lists",
    "optional",
    _measured(lambda lists, k, given: incomplete.rbp(lists.cut(k), given["p"])),
    PERSISTENCE,
)
RBP_RESIDUAL = Definition(
    "RBP-residual",
    "what missing labels could add to RBP",
    "(1 - p) sum over unlabelled places of p^(place - 1), + p^length",
    "mean over all labelled queries; behind the end of a list everything is unlabelled",
    "lists",
    "optional",
    _measured(lambda lists, k, given: incomplete.rbp_residual(lists.cut(k), given["p"])),
    PERSISTENCE,
)
CONDENSED_AP = Definition(
    "CondensedAP",
    "average precision of the list without its unlabelled places",
    "(1/R) sum over positives of positives so far / labelled so far",
    "mean over queries with a positive; without k the list as it is",
    "lists",
    "optional",
    _measured(_cut(incomplete.condensed_ap)),
)
CONDENSED_NDCG = Definition(
    "CondensednDCG",
    "nDCG of the list without its unlabelled places",
    "sum over positives of 1/log2(labelled so far + 1), over that of a list that begins with all positives",
    "mean over queries with a positive; without k the list as it is",
    "lists",
    "optional",
    _measured(_cut(incomplete.condensed_ndcg)),
)
INF_AP = Definition(
    "infAP",
    "average precision inferred from a uniformly judged sample of the pool",
    "(1/R) sum over positives at place j of 1/j + ((j-1)/j) (pooled above/(j-1)) (r+e)/(r+n+2e), e = 1e-5",
    "mean over queries with a positive; pooled = in the pool, labelled or not; without k the list as it is",
    "lists",
    "optional",
    _measured(_cut(incomplete.inf_ap)),
)
