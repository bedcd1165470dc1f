"""Recognition: measures on how lists hold other images of the query's own product. No expert's label is used."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eds.metrics import rank_formulas as formulas
from eds.metrics.definition import Definition, Evidence, Parameter, Values
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.product_retrieval import capped_hits
from eds.pairs import Reals

CONVENTIONS = (
    "lists are per image, the own product kept; n_q other images of it in the gallery; queries with n_q = 0 skipped"
)


def _measured(which: Mapping[str, Callable[[JudgedLists, int], Reals]]) -> Callable[..., Values]:
    def compute(evidence: Evidence, k: int | None, parameters: Mapping[str, Any]) -> Values:
        lists, queries = evidence.products, evidence.product_queries
        if lists is None or queries is None or k is None:
            raise TypeError("score() gives product lists and a cut-off to measures that need them")
        average = parameters["average"]
        value = which[average](lists, k)
        used = int((~np.isnan(value)).sum())
        weight = np.minimum(lists.positives, k).astype(np.float64) if average == "capped" else None
        counts = {
            "queries used": used,
            "queries alone in their product skipped": int((lists.positives == 0).sum()),
            "own-product images found": int(formulas.hits(lists, k).sum()),
        }
        return Values(queries, value, weight, n=used, counts=counts)

    return compute


PRODUCT_HR = Definition(
    "Product-HR",
    "other images of the query's own product among the first k",
    "capped: sum of hits / sum of min(k, n_q); macro: mean of hits / min(k, n_q); slots: sum of hits / (k |Q|); "
    "standard: share of queries with a hit",
    CONVENTIONS,
    "product lists",
    "required",
    _measured({"capped": capped_hits, "macro": capped_hits, "slots": formulas.precision, "standard": formulas.success}),
    {"average": Parameter("capped", ("capped", "macro", "slots", "standard"))},
)
PRODUCT_MRR = Definition(
    "Product-MRR",
    "how early the own product's images stand",
    "slots: sum of 1/place over hits / (H_k |Q|); standard: mean of 1/place of the first hit",
    CONVENTIONS,
    "product lists",
    "required",
    _measured({"slots": formulas.official_mrr, "standard": formulas.reciprocal_rank}),
    {"average": Parameter("slots", ("slots", "standard"))},
)
