"""Measures on grades and on binary codes, from groups of ties: no order of ties counts. Formulas: `eds.hashing`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from eds.errors import InputError
from eds.hashing import ties
from eds.hashing.ap_bounds import ap_between
from eds.hashing.histograms import Histograms
from eds.metrics.code_histograms import GRADES, CodeHistograms
from eds.metrics.definition import Definition, ModelInputs, Parameter, Values
from eds.pairs import Reals

CONVENTIONS = (
    "mean over all queries (grades truth, votes, experts: those with a label), without a relevant candidate 0 "
    "(undefined where all are); every "
    "candidate but the query itself, its product left out as neighbors.exclude_product says where grades are truth, "
    "votes, experts, category or attributes; one_per_product plays no part; unlabelled is grade 0"
)
# truth 0/1; votes_for; experts: their mean grade, rounded; same product; same category; types: 2 same product,
# 1 same category; agreeing attributes
GRADED = Parameter("product", GRADES)
DIVISORS = {"hits": "retrieved", "relevant": "total", "capped": "capped"}
USES = {
    "distinct": "distinct",
    "space": "utilisation",
    "reachable": "utilisation_of_reachable",
    "entropy": "entropy_normalised",
    "colliding": "colliding_pair_rate",
    "largest": "max_bucket",
}


def _measured(formula: Callable[[Histograms, int | None, Mapping[str, Any]], Reals]) -> Callable[..., Values]:
    def compute(inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
        coded = _coded(inputs)
        result = coded.of(parameters["grades"])
        value = formula(result, k, parameters)
        without = result.lists(None).relevant == 0
        if without.all():  # by these grades nothing is alike: no value is defined
            value = np.full(len(value), np.nan)
        counts = {
            "queries used": 0 if without.all() else len(value),
            "queries without a relevant candidate, which count 0": int(without.sum()),
            "bits": coded.bits,
            "candidates": coded.n,
            "k": k or 0,
        }
        return Values(result.queries, value, n=len(value), counts=counts)

    return compute


def _usage(inputs: ModelInputs, _: int | None, parameters: Mapping[str, Any]) -> Values:
    coded = _coded(inputs)
    value = coded.usage[USES[parameters["what"]]]
    counts = {"bits": coded.bits, "candidates": coded.n}
    return Values(pa.array([], pa.string()), np.zeros(0), whole=float(value), n=coded.n, counts=counts)


def _lgap(result: Histograms, r: int | None, _: Mapping[str, Any]) -> Reals:
    if result.balls is None or r is None:
        raise InputError("no balls were counted", where="mLGAP", hint="Count them before.")
    return result.balls.lgap(r)


def _radius_precision(result: Histograms, r: int | None, _: Mapping[str, Any]) -> Reals:
    if result.balls is None or r is None:
        raise InputError("no balls were counted", where="P-radius", hint="Count them before.")
    return np.asarray(result.balls.precision[:, r], np.float64)


def _ap(result: Histograms, k: int | None, given: Mapping[str, Any]) -> Reals:
    lists, divisor = result.lists(k), DIVISORS[given["divide_by"]]
    if given["ties"] == "expected":
        return ties.ap(lists, divisor)
    return ap_between(lists, divisor, best=given["ties"] == "best")


def _coded(inputs: ModelInputs) -> CodeHistograms:
    if inputs.coded is None:
        raise TypeError("score() gives codes to measures that need them")
    return inputs.coded


AP_T = Definition(
    "APt",
    "average precision by grades, expected over every order that ties allow; its mean is the mAP of hashing papers",
    "sum over places t <= k of precision at relevant ones, over divide_by; expectation in each group of equal scores",
    f"{CONVENTIONS}; divide_by: hits = relevant among the first k (hashing papers), relevant = all (trec_eval), "
    "capped = min(relevant, k); ties: expected, or the largest and smallest value that an order can give",
    "graded",
    "optional",
    _measured(_ap),
    {
        "divide_by": Parameter("hits", tuple(DIVISORS)),
        "grades": GRADED,
        "ties": Parameter("expected", ("expected", "best", "worst")),
    },
)
NDCG_T = Definition(
    "nDCGt",
    "graded discounted gain, expected over every order that ties allow",
    "DCG = sum over groups of the mean gain 2^grade - 1 times the sum of 1/log2(t + 1), t <= k; over the ideal DCG",
    f"{CONVENTIONS}; the ideal is of the whole gallery's grades",
    "graded",
    "optional",
    _measured(lambda found, k, _: ties.ndcg(found.lists(k))),
    {"grades": GRADED},
)
PRECISION_T = Definition(
    "Pt",
    "share of relevant candidates among the first k, expected over every order that ties allow",
    "(P + w p/n)/k, w places left in the group that k cuts",
    f"{CONVENTIONS}; division by k",
    "graded",
    "required",
    _measured(lambda found, k, _: ties.precision(found.lists(k))),
    {"grades": GRADED},
)
M_LGAP = Definition(
    "mLGAP",
    "collision-aware precision: @r is the radius, in bits",
    "mean over queries of (1/(r+1)) sum over t = 0..r of P_t |S_t| / (largest bucket in S_t times V(K, t))",
    f"{CONVENTIONS}; an empty ball gives 0; compare at equal bits and r only",
    "codes",
    "required",
    _measured(_lgap),
    {"grades": GRADED},
    least=0,
)
P_RADIUS = Definition(
    "P-radius",
    "share of relevant candidates within a Hamming distance: @r is the radius, in bits",
    "relevant candidates with d_H <= r / candidates with d_H <= r",
    f"{CONVENTIONS}; an empty ball gives 0",
    "codes",
    "required",
    _measured(_radius_precision),
    {"grades": GRADED},
    least=0,
)
CODE_USAGE = Definition(
    "CodeUsage",
    "how much of the code space the candidates use",
    "distinct codes; space: over 2^K; reachable: over min(n, 2^K); entropy: over min(K, log2 n); colliding: pairs that "
    "share a code, over all pairs; largest: items on one code",
    "over all candidates, whatever their labels",
    "codes",
    "never",
    _usage,
    {"what": Parameter("reachable", tuple(USES))},
)
