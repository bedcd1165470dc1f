"""A comparison in words, for the command line and notebooks; every sentence follows from the comparison's values."""

from collections.abc import Iterable, Sequence

from eds.analysis.comparison import Comparison, Undecided
from eds.metrics import Measure

NAMED = 3  # names in a sentence


def legend(comparison: Comparison, level: float) -> str:
    """What the mark of the best models means; empty where no models are ranked."""
    if not any(part.best for part in comparison):
        return ""
    return f"* best: no ranked model is better beyond sampling error (paired over queries, Holm, {100 * level:g} %)"


def notes(comparison: Comparison) -> list[str]:
    """What must be known of models that came later than the pool; nothing where all models are on one side."""
    if not comparison.newcomers:
        return []
    if not comparison.makers_known:
        return ["It is not known which models built the pool, so all count as new. Name those: --pool-model MODEL."]
    result = []
    if any(part.on_reduced_pools for part in comparison):
        result.append(
            f"self-removed: without the pairs that only the model itself proposed, as {_names(comparison.newcomers)}"
            " had no part in the pool."
        )
    by_model: dict[str, list[Undecided]] = {}
    for part in comparison:
        for item in part.undecided:
            by_model.setdefault(item.model, []).append(item)
    if by_model:
        result.append(" ".join(_cannot_say(name, items) for name, items in list(by_model.items())[:NAMED]))
    return result


def _cannot_say(name: str, items: Sequence[Undecided]) -> str:
    """Say by which measures a model cannot be ranked, and how many judgements would change that."""
    by_count: dict[int, list[Undecided]] = {}
    for item in sorted(items, key=lambda item: item.to_judge or 0):
        by_count.setdefault(item.to_judge or 0, []).append(item)
    never = by_count.pop(0, [])
    parts: list[str] = []
    for places, group in by_count.items():
        k = max(Measure.parse(item.measure).k or 0 for item in group)
        command = f": eds suspects add-model {name}{f' -k {k}' if k else ''}" if not parts else ""
        parts.append(f"by {_measures(group)} before {places:,} more places are judged{command}")
    parts += [f"by {_measures(never)}"] if never else []
    return f"The labels cannot say how {name} ranks {'; nor '.join(parts)}."


def _measures(items: Sequence[Undecided]) -> str:
    return _names(dict.fromkeys(_short(item.measure) for item in items))


def _short(measure: str) -> str:
    sampled = " on sampled negatives" if "negatives=sampled" in measure else ""
    return measure.partition("(")[0] + sampled


def _names(names: Iterable[str]) -> str:
    shown = [*names]
    if len(shown) > NAMED + 1:
        shown = [*shown[:NAMED], f"{len(shown) - NAMED} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
