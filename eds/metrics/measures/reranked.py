"""Standard measures on the judged candidates alone, in the order of the model's scores: MTEB's reranking.

The formulas are those of `standard.py`. Each query's list holds its labelled candidates and nothing else, so no place
is unlabelled, no rule of the lists hides a candidate, and a model that built no pool is measured on the same pairs as
all others.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from eds.metrics.definition import Definition, ModelInputs, Values
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures._lists import Formula
from eds.metrics.measures.standard import average_precision, ndcg, precision, recall, reciprocal_rank, success
from eds.pairs import LabelledPairs, Reals

CONVENTIONS = (
    "mean over queries with a positive; only labelled candidates are ranked, by descending score, ties by ascending "
    "id; a candidate without a score is left out of the list, and a positive among them counts as not found"
)


def rerank(labelled: LabelledPairs, score: Reals) -> JudgedLists:
    """The labelled candidates of each query by descending score, ties by ascending id; those without a score left out.

    >>> import pandas as pd
    >>> pairs = pd.DataFrame({"query_id": ["q"] * 3, "candidate_id": ["a", "b", "c"], "value": [0, 1, 0]})
    >>> rerank(LabelledPairs.from_frame(pairs), np.array([0.1, 0.1, 0.7])).label.tolist()
    [0, 0, 1]
    """
    scored = np.flatnonzero(np.isfinite(score))
    query = labelled.query[scored]
    order = np.lexsort((labelled.candidate[scored], -score[scored], query))
    rows, query = scored[order], query[order]
    first = np.searchsorted(query, query)
    place = np.arange(len(query)) - first + 1
    asked = np.ones(len(rows), np.bool_)
    return JudgedLists(query, place, labelled.value[rows], asked, labelled.positives, labelled.negatives)


@lru_cache(maxsize=2)  # of the model at hand: every measure of the preset reads the same lists
def _lists(inputs: ModelInputs) -> JudgedLists:
    if inputs.score is None:
        raise TypeError("score() gives scores to measures that need them")
    return rerank(inputs.labelled, inputs.score)


def _values(formula: Formula, inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
    lists = _lists(inputs)
    value = formula(lists, k, **parameters)
    used = ~np.isnan(value)
    counts = {
        "queries used": int(used.sum()),
        "queries without a positive skipped": int((~used & (lists.positives + lists.negatives > 0)).sum()),
        "pairs used": len(lists.query),
        "pairs without a score": len(inputs.labelled.value) - len(lists.query),
    }
    return Values(inputs.labelled.queries, value, n=int(used.sum()), counts=counts)


def _measure(name: str, formula: Formula, meaning: str, text: str) -> Definition:
    return Definition(
        f"Reranked-{name}",
        f"{meaning} of the judged candidates in the model's order, as MTEB's reranking measures it",
        text,
        CONVENTIONS,
        "scores",
        "required",
        partial(_values, formula),
        unlabelled="skipped",
    )


NDCG = _measure(
    "nDCG", ndcg, "nDCG", "sum over positives among the first k of 1/log2(place + 1), over that of the best list"
)
AP = _measure(
    "AP",
    partial(average_precision, divide_by="relevant"),
    "average precision",
    "sum over positives among the first k of precision at their place, divided by all positives of the query",
)
RR = _measure("RR", reciprocal_rank, "reciprocal rank", "1 / place of the first positive, 0 beyond k")
PRECISION = _measure("P", precision, "precision", "positives among the first k / k")
RECALL = _measure("Recall", recall, "recall", "positives among the first k / positives of the query")
SUCCESS = _measure("Success", success, "hit rate", "1 if a positive is among the first k, else 0")
