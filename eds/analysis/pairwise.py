"""Which models differ, by paired tests over queries, and which the present labels cannot distinguish."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.paired import benjamini_hochberg, holm, sign_flip_tests
from eds.errors import InputError
from eds.intervals import RESAMPLES, draw_queries, percentile_interval, resampled_means
from eds.metrics import Result
from eds.metrics.definition import Values
from eds.pairs import Reals, encode

ADJUSTMENTS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
}


def compare_models(
    results: Sequence[Result],
    measure: str,
    *,
    baseline: str | None = None,
    adjust: str = "holm",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Every two models, or all against `baseline`: first, second, difference, low, high, p, p_adjusted, n.

    Formula: difference = mean of first - second over queries; limits by bootstrap over queries; p by sign flips.
    Source: specification 13.3.
    Conventions: over the queries for which both have a value (n); for measures that are means over pairs each query
    weighs as its positives; micro measures are no means of queries' values and are refused; p adjusted over the rows.
    Example: see tests/analysis/test_compare.py.
    """
    known = {result.model: result.values for result in results if str(result.measure) == measure and result.values}
    if len(known) < 2 or adjust not in ADJUSTMENTS or baseline not in (None, *known):
        raise InputError(
            f"measure {measure}, baseline {baseline}, adjust {adjust}: nothing to compare",
            where="compare_models",
            hint=f"Models with a value: {', '.join(known) or 'none'}; adjustments: {', '.join(ADJUSTMENTS)}.",
        )
    if any(values.whole is not None for values in known.values()):
        raise InputError(f"{measure} is not a mean over queries", hint="Compare its macro form, as average=macro.")
    others = [name for name in known if name != baseline]
    pairs = list(itertools.combinations(known, 2)) if baseline is None else [(baseline, name) for name in others]
    rows, differences = [], []
    for first, second in pairs:
        row, difference = _compared(known[first], known[second], level, resamples, seed)
        rows.append({"first": first, "second": second, **row})
        differences.append(difference)
    p = sign_flip_tests(differences, seed=seed)
    adjusted = iter(ADJUSTMENTS[adjust]([item for item, row in zip(p, rows, strict=True) if row["n"]]))
    return pd.DataFrame(
        [
            {**row, "p": item, "p_adjusted": next(adjusted) if row["n"] else float("nan")}
            for item, row in zip(p, rows, strict=True)
        ]
    )


def indistinguishable(compared: pd.DataFrame, level: float = 0.95) -> list[list[str]]:
    """The largest groups of models of which no two differ: p_adjusted above 1 - level, or undefined.

    A model can be in several groups; one that differs from all others is a group of its own.

    >>> compared = pd.DataFrame({"first": list("aab"), "second": list("bcc"), "p_adjusted": [0.5, 0.01, 0.2]})
    >>> indistinguishable(compared)
    [['a', 'b'], ['b', 'c']]
    """
    apart = compared["p_adjusted"] <= 1 - level
    models = sorted({*compared["first"], *compared["second"]})
    values = {frozenset(pair) for pair in compared[["first", "second"]].itertuples(index=False)}
    if len(values) < len(models) * (len(models) - 1) // 2:
        raise InputError("not every two models were compared", hint="Compare without a baseline.")
    differ = {frozenset(pair) for pair in compared.loc[apart, ["first", "second"]].itertuples(index=False)}
    result: list[list[str]] = []
    _grow([], models, [], differ, result)
    return sorted(result)


def _compared(a: Values, b: Values, level: float, resamples: int, seed: int) -> tuple[dict[str, Any], Reals]:
    """n, the mean difference and its limits; and the differences themselves, (n,), weighted."""
    place = encode(a.queries, b.queries)
    other = np.where(place >= 0, b.by_query[place], np.nan)
    difference = a.by_query - other
    weight = np.ones(len(difference)) if a.weight is None else a.weight
    defined = ~np.isnan(difference)
    n = int(defined.sum())
    if not n:
        return {"n": n, **dict.fromkeys(("difference", "low", "high"), float("nan"))}, np.zeros(0)
    times = draw_queries(len(difference), resamples, seed)
    low, high = percentile_interval(resampled_means(difference, times, weight), level)
    weighted = difference[defined] * weight[defined]
    return {"n": n, "difference": float(weighted.sum() / weight[defined].sum()), "low": low, "high": high}, weighted


def _grow(
    group: list[str], rest: Sequence[str], done: Sequence[str], differ: set[frozenset[str]], result: list[list[str]]
) -> None:
    """Maximal cliques of models that do not differ (Bron and Kerbosch)."""
    if not rest and not done:
        result.append(sorted(group))
    rest, done = list(rest), list(done)
    while rest:
        name = rest.pop(0)

        def alike(others: Sequence[str], name: str = name) -> list[str]:
            return [other for other in others if frozenset((name, other)) not in differ]

        _grow([*group, name], alike(rest), alike(done), differ, result)
        done.append(name)
