"""Average precision inferred from strata that were judged at different rates."""

from collections.abc import Mapping, Sequence

from eds.errors import InputError
from eds.metrics.measures.incomplete import SMOOTHING


def xinf_ap(ranking: Sequence[str], stratum: Mapping[str, str], judgement: Mapping[str, int]) -> dict[str, float]:
    """Extended inferred AP of one list, and the estimated number of positives.

    Formula: for a judged positive at place j with t pooled ids above, d_s of them in stratum s, rel_s of those judged
    positive and jud_s judged: prec = 1/j + (t/j) sum over s with d_s > 0 of (d_s/t) (rel_s + e)/(jud_s + 3e), e = 1e-5.
    R_s = N_s (positives / judged in s); xinfAP = sum over s of (R_s/R) (sum of prec in s) / (judged positives of s).
    Source: specification 13.5; Yilmaz, Kanoulas and Aslam 2008; smoothing as in the reference script.
    Conventions: judgement is 1, 0, or -1 (pooled, not judged), for exactly the ids that have a stratum; positives
    that the list does not hold add 0; R = 0: NaN; a stratum in which nothing is judged has R_s = 0.
    Example, run by doctest:
    >>> found = xinf_ap(["a", "b", "c"], {"a": "s", "b": "s", "c": "s"}, {"a": 1, "b": 0, "c": -1})
    >>> found["estimated_relevant"], round(found["xinf_ap"], 6)
    (1.5, 1.0)
    """
    if set(stratum) != set(judgement):
        odd = sorted(set(stratum) ^ set(judgement))
        raise InputError(f"{odd[0]!r} has a stratum or a judgement, not both", hint="Give both for every pooled id.")
    if any(isinstance(value, bool) or value not in (1, 0, -1) for value in judgement.values()):
        raise InputError("a judgement is not 1, 0 or -1", where="judgement", hint="Use -1 for pooled but not judged.")
    if len(set(ranking)) < len(ranking):
        raise InputError("duplicate id", where="ranking", hint="Give every id once.")
    names = sorted(set(stratum.values()))
    size, positive, judged = (dict.fromkeys(names, 0) for _ in range(3))
    for pooled, name in stratum.items():
        size[name] += 1
        positive[name] += judgement[pooled] == 1
        judged[name] += judgement[pooled] >= 0
    estimate = {name: size[name] * positive[name] / judged[name] if judged[name] else 0.0 for name in names}
    total = sum(estimate.values())
    if not total:
        return {"xinf_ap": float("nan"), "estimated_relevant": total}
    precision = _precision_sums(ranking, stratum, judgement, names)
    value = sum(estimate[name] / total * precision[name] / positive[name] for name in names if positive[name])
    return {"xinf_ap": value, "estimated_relevant": total}


def _precision_sums(
    ranking: Sequence[str], stratum: Mapping[str, str], judgement: Mapping[str, int], names: Sequence[str]
) -> dict[str, float]:
    """By stratum: the expected precision at its judged positives, summed."""
    above, positive, judged = (dict.fromkeys(names, 0) for _ in range(3))
    sums = dict.fromkeys(names, 0.0)
    for place, result in enumerate(ranking, start=1):
        if result not in stratum:
            continue
        name = stratum[result]
        if judgement[result] == 1:
            # (t/j) (d_s/t) = d_s/j
            expected = (
                above[s] / place * (positive[s] + SMOOTHING) / (judged[s] + 3 * SMOOTHING) for s in names if above[s]
            )
            sums[name] += 1 / place + sum(expected)
        above[name] += 1
        positive[name] += judgement[result] == 1
        judged[name] += judgement[result] >= 0
    return sums
