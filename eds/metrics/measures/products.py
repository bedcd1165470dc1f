"""Recognition: measures on how lists hold other images of the query's own product. No expert's label is used."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eds.metrics.definition import Definition, ModelInputs, Parameter, Values
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures._lists import hits
from eds.metrics.measures.official import official_mrr
from eds.metrics.measures.standard import precision, reciprocal_rank, success
from eds.pairs import Reals


def capped_hits(lists: JudgedLists, k: int) -> Reals:
    """(queries,) float64: found images of the own product over min(k, n_q); NaN where n_q = 0."""
    most = np.minimum(lists.positives, k)
    return np.where(most > 0, hits(lists, k) / np.maximum(most, 1), np.nan)


CONVENTIONS = (
    "lists are per image, the own product kept; n_q other images of it in the gallery; queries with n_q = 0 skipped"
)


def _measured(which: Mapping[str, Callable[[JudgedLists, int], Reals]]) -> Callable[..., Values]:
    def compute(inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
        lists, queries = inputs.products, inputs.product_queries
        if lists is None or queries is None or k is None:
            raise TypeError("score() gives product lists and a cut-off to measures that need them")
        average = parameters["average"]
        value = which[average](lists, k)
        used = int((~np.isnan(value)).sum())
        weight = np.minimum(lists.positives, k).astype(np.float64) if average == "capped" else None
        counts = {
            "queries used": used,
            "queries alone in their product skipped": int((lists.positives == 0).sum()),
            "own-product images found": int(hits(lists, k).sum()),
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
    _measured({"capped": capped_hits, "macro": capped_hits, "slots": precision, "standard": success}),
    {"average": Parameter("capped", ("capped", "macro", "slots", "standard"))},
    unlabelled="unused",
)
PRODUCT_MRR = Definition(
    "Product-MRR",
    "how early the own product's images stand",
    "slots: sum of 1/place over hits / (H_k |Q|); standard: mean of 1/place of the first hit",
    CONVENTIONS,
    "product lists",
    "required",
    _measured({"slots": official_mrr, "standard": reciprocal_rank}),
    {"average": Parameter("slots", ("slots", "standard"))},
    unlabelled="unused",
)
