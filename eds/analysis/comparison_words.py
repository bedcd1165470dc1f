"""A comparison in words, for the command line and notebooks; every sentence follows from the comparison's values."""

from collections.abc import Iterable, Mapping, Sequence

from eds.analysis.comparison import Comparison, Undecided
from eds.metrics import Measure

NAMED = 3  # names in a sentence


def legend(comparison: Comparison) -> str:
    """What the mark of the best models means; empty where no models are ranked."""
    if not any(part.best for part in comparison):
        return ""
    return "* best: no ranked model is better beyond sampling error (paired, Holm)"


def trained_words(seen: Sequence[str]) -> str:
    """What a model was trained on, in words.

    >>> trained_words(("labels", "products"))
    'trained on these labels and products'
    """
    return f"trained on these {_names(seen)}"


def trained_notes(trained: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for the models that learned from this project's data; their values are not those of unseen data."""
    by_data: dict[tuple[str, ...], list[str]] = {}
    for name, data in trained.items():
        seen = tuple(data)
        by_data.setdefault(seen, []).append(name)
    return [
        f"{_names(names)}: {trained_words(seen)}, so the values are not those of unseen data"
        + (", and fair by no measure." if "labels" in seen else ".")
        for seen, names in by_data.items()
    ]


def notes(comparison: Comparison) -> list[str]:
    """What must be known of models that came later than the pool; nothing where all models are on one side."""
    if not comparison.newcomers:
        return []
    if not comparison.makers_known:
        return ["It is not known which models built the pool, so all count as new. Name those: --pool-model MODEL."]
    result = []
    if any(part.on_reduced_pools for part in comparison):
        result.append(
            "self-removed: without the pairs that only the model itself proposed, as a model that came later has none."
        )
    by_model: dict[str, list[Undecided]] = {}
    for part in comparison:
        for item in part.undecided:
            by_model.setdefault(item.model, []).append(item)
    if by_model:
        result.append(" ".join(_cannot_say(name, items) for name, items in list(by_model.items())[:NAMED]))
    return result


def _cannot_say(name: str, items: Sequence[Undecided]) -> str:
    """Say by which measures a model cannot be ranked, and the fewest judgements that would change that for some."""
    counts = [item.to_judge for item in items if item.to_judge]
    fewest = min(counts, default=None)
    first = [item for item in items if item.to_judge == fewest]
    others = [item for item in items if item.to_judge != fewest]
    text = f"The labels cannot rank {name} by {_measures(first)}"
    if fewest:
        k = max(Measure.parse(item.measure).k or 0 for item in first)
        text += f" before {fewest:,} more places are judged: eds suspects add-model {name}{f' -k {k}' if k else ''}"
    return f"{text}{f'; nor by {_measures(others)}' if others else ''}."


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
