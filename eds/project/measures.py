"""Measures as text: their list with formulas and conventions, what a text names, and short headings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds.project.results import Result

if TYPE_CHECKING:
    from eds.analysis.comparison import ComparedModel
    from eds.metrics import Measure

SHARES = ("VSD-HR", "Success", "Judged")  # shown in percent


@dataclass(frozen=True)
class MeasuresResult(Result):
    """The kinds of measures with their formulas and conventions, and the presets."""

    measures: list[dict[str, Any]]
    presets: list[dict[str, Any]]


def list_measures(name: str | None = None) -> MeasuresResult:
    """Return every kind of measure and every preset, or one preset and its measures."""
    from eds.metrics import PRESETS, definitions, preset
    from eds.metrics.measure import definition_of

    presets = [preset(name)] if name else list(PRESETS.values())
    kinds = dict.fromkeys(measure.name for measure in presets[0].measures) if name else definitions()
    rows = []
    for kind in kinds:
        definition = definition_of(kind)
        cut = {"required": "@k", "optional": "[@k]", "never": ""}[definition.cut]
        parameters = sorted(definition.parameters.items())
        inside = ",".join(f"{key}={'|'.join(value.options) or value.default}" for key, value in parameters)
        rows.append(
            {
                "measure": f"{definition.name}{cut}" + (f"({inside})" if inside else ""),
                "name": definition.name,
                "meaning": definition.meaning,
                "formula": definition.formula,
                "conventions": definition.conventions,
                "needs": definition.needs,
                "cut_off": definition.cut,
                "parameters": {
                    key: {"default": value.default, "options": list(value.options) or None} for key, value in parameters
                },
            }
        )
    bundles = [
        {"preset": item.name, "meaning": item.meaning, "rules": item.rules, "measures": [*map(str, item.measures)]}
        for item in presets
    ]
    return MeasuresResult(rows, bundles)


def parse_measures(texts: Iterable[str], *, drawn_negatives: bool = True, depth: int | None = None) -> "list[Measure]":
    """Return the measures that the texts name, each once; the name of a preset stands for its measures.

    A PR-AUC comes with the prevalence of its pairs, its chance level. Without drawn negatives a preset stands for those
    of its measures that do without. The `depth` of the pool chooses the persistence of RBP where none is named.
    """
    from eds.metrics import PRESETS, Measure, preset
    from eds.metrics.presets import PERSISTENT, with_chance, with_persistence

    measures: list[Measure] = []
    for text in texts:
        bundle = preset(text).measures if text in PRESETS else ()
        bundle = with_persistence(bundle, depth) if depth else bundle
        measures += [measure for measure in bundle if drawn_negatives or not on_drawn_negatives(measure)]
        own = () if bundle else (Measure.parse(text),)
        measures += with_persistence(own, depth) if depth and text in PERSISTENT else own
    return with_chance(measures)


def is_share(measure: "Measure") -> bool:
    """Return whether the measure is a share of places or queries, shown in percent."""
    return measure.name in SHARES


def on_drawn_negatives(measure: "Measure") -> bool:
    """Return whether the measure is computed on drawn negatives."""
    return measure.parameters.get("negatives") == "sampled"


def format_value(row: Mapping[Any, Any], measure: "Measure") -> str:
    """Return a value with its interval as text.

    >>> from eds.metrics import Measure
    >>> format_value({"value": 0.875, "low": 0.8622, "high": 0.8871}, Measure("ROC-AUC"))
    '0.875 [0.862, 0.887]'
    >>> format_value({"value": 0.377, "low": 0.341, "high": 0.4123}, Measure("VSD-HR", 5))
    '37.7 % [34.1, 41.2]'
    """
    value, low, high = row["value"], row.get("low"), row.get("high")
    if value is None or value != value:
        return "n/a"
    write = _percent if is_share(measure) else _decimal
    limits = "" if low is None or high is None or low != low else f" [{write(low)}, {write(high)}]"
    return f"{write(value)}{' %' if is_share(measure) else ''}{limits}"


def format_bounds(item: "ComparedModel", measure: "Measure") -> str:
    """Return a lower bound with its ceiling as text: what labels of the places without one could make of it."""
    write, unit = (_percent, " %") if is_share(measure) else (_decimal, "")
    if item.value != item.value:
        return "n/a"
    if item.ceiling != item.ceiling:
        return f">= {write(item.value)}{unit}"
    most = f" to {write(item.ceiling)}" if item.ceiling > item.value else ""
    return f"{write(item.value)}{most}{unit}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _decimal(value: float) -> str:
    return f"{value:.3f}"


def short_names(measures: "Sequence[Measure]") -> list[str]:
    """Return headings of the measures: parameters only where they are not the default or tell two measures apart.

    >>> from eds.metrics import Measure
    >>> short_names([Measure("RR", 5), Measure("ROC-AUC", average="micro"), Measure("ROC-AUC", average="macro")])
    ['RR@5', 'ROC-AUC (micro)', 'ROC-AUC (macro)']
    """
    names = []
    for measure in measures:
        alike = [other for other in measures if (other.name, other.k) == (measure.name, measure.k)]
        shown = [
            str(value)
            for key, value in measure.parameters.items()
            if value != measure.definition.parameters[key].default
            or any(other.parameters[key] != value for other in alike)
        ]
        cut = f"@{measure.k}" if measure.k else ""
        names.append(f"{measure.name}{cut}" + (f" ({', '.join(shown)})" if shown else ""))
    return names


def shorten(texts: Sequence[str]) -> list[str]:
    """Return the headings of measures that are given as text; see `short_names`."""
    from eds.metrics import Measure

    return short_names([Measure.parse(text) for text in texts])
