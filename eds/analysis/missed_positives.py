"""A rare rate corrected for missed positives, by known pairs that were mixed in."""

from dataclasses import dataclass

from eds.errors import InputError
from eds.intervals import clopper_pearson_interval


@dataclass(frozen=True)
class CorrectedRate:
    """A rate as it was counted, and corrected; each with its limits. NaN: undefined."""

    raw: float
    raw_low: float
    raw_high: float
    sensitivity: float
    sensitivity_low: float
    sensitivity_high: float
    false_positive: float
    corrected: float
    low: float
    high: float


def corrected_rate(
    a: int, b: int, found: int, known: int, alarms: int = 0, negatives: int = 0, level: float = 0.95
) -> CorrectedRate:
    """The share of positives among b pairs of which a were called positive, given how known pairs were called.

    Formula: (a/b - f) / (s - f) with s = found/known and f = alarms/negatives; clipped to [0, 1].
    Source: Rogan and Gladen, American Journal of Epidemiology 107 (1978).
    Conventions: `found` of `known` positives were called positive, `alarms` of `negatives` negatives; none known of a
    kind: s undefined, f = 0. Undefined (NaN) where s <= f. Limits: each share in the formula at the end that is worst,
    by Clopper and Pearson with the error split evenly among the shares that were counted: at least `level` holds.
    Example, run by doctest:
    >>> found = corrected_rate(2, 2000, 65, 100)
    >>> round(found.raw, 6), round(found.corrected, 6), round(found.low, 6), round(found.high, 6)
    (0.001, 0.001538, 0.000111, 0.007593)
    """
    for part, whole, name in ((a, b, "draws"), (found, known, "known positives"), (alarms, negatives, "negatives")):
        if not 0 <= part <= whole:
            raise InputError(
                f"{part} of {whole} {name}", where="corrected rate", hint="Give counts with 0 <= part <= all."
            )
    nan = float("nan")
    raw, sensitivity = (part / whole if whole else nan for part, whole in ((a, b), (found, known)))
    false_positive = alarms / negatives if negatives else 0.0
    counted = 2 + bool(negatives)
    each = 1 - (1 - level) / counted
    raw_low, raw_high = clopper_pearson_interval(a, b, each)
    s_low, s_high = clopper_pearson_interval(found, known, each)
    f_low, f_high = clopper_pearson_interval(alarms, negatives, each) if negatives else (0.0, 0.0)
    defined = bool(b and known and sensitivity > false_positive)
    corrected = min(max((raw - false_positive) / (sensitivity - false_positive), 0.0), 1.0) if defined else nan
    low = max(0.0, (raw_low - f_high) / (s_high - f_high)) if s_high > f_high else 0.0
    high = min(1.0, max(0.0, raw_high - f_low) / (s_low - f_low)) if s_low > f_low else 1.0
    own_low, own_high = clopper_pearson_interval(a, b, level)
    own_s = clopper_pearson_interval(found, known, level)
    return CorrectedRate(
        raw,
        own_low,
        own_high,
        sensitivity,
        *own_s,
        false_positive,
        corrected,
        min(low, corrected) if defined else nan,
        max(high, corrected) if defined else nan,
    )
