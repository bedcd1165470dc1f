"""What `eds metrics score` says of new models: which measures are fair to them, and against whom nothing is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds.cli.console import Console, lined

if TYPE_CHECKING:
    from eds.analysis import Fairness
    from eds.cli.evidence import Evidence
    from eds.metrics import Measure, Result
    from eds.workspace import Project


@dataclass(frozen=True, eq=False)
class Fair:
    """The new models, those whose lists the pool was made of (none where that is not known), and the verdicts."""

    new: list[str]
    makers: list[str]
    found: "Fairness"


def new_models(project: "Project", models: Sequence[str], makers: Sequence[str]) -> list[str]:
    """Of these models the new ones; `makers` where they are named, else those that the suspects tell."""
    from eds.analysis import newcomers
    from eds.cli.generators import told_makers

    known = set(makers) or set(told_makers(project)[0]["model"])
    return newcomers.new_models(models, known, _strata(project))


def _strata(project: "Project") -> list[object]:
    from eds.cli.pooling import chosen

    return list(chosen(project)["stratum"].unique())


def beside(
    project: "Project", measures: "Sequence[Measure]", models: Sequence[str], source: str, makers: Sequence[str]
) -> "list[Measure]":
    """Rank-biased precision, whose interval tells what labels could still change; nothing where no model is new."""
    from eds.cli.evidence import chosen_models
    from eds.metrics import Measure

    rbp = Measure("RBP")
    if rbp in measures or not any(map(_by_labels, measures)):
        return []
    return [rbp] if new_models(project, [*chosen_models(project, models, source)], makers) else []


def _by_labels(measure: "Measure") -> bool:
    return measure.definition.needs in ("lists", "official lists", "scores")


def judged_fair(
    console: Console, results: "Sequence[Result]", found: "Evidence", makers: Sequence[str], *,
    with_random: bool = False, allow_missing: bool = False,
) -> Fair | None:  # fmt: skip
    """The verdicts on the new models among those scored; None where there is none, or nothing hangs on labels."""
    from eds.analysis import Pooled, fairness
    from eds.analysis.newcomers import UNMADE, chosen_for
    from eds.cli.generators import generator_lists, told_makers
    from eds.cli.project_pairs import drawn_negatives, measured_pairs, pooled_pairs

    project = console.project
    new = new_models(project, list(found.sources), makers)
    if not new or not any(_by_labels(result.measure) for result in results):
        return None
    known = bool(makers) or len(told_makers(project)[0]) > 0
    named = [*makers, *(name for name in chosen_for(_strata(project)) if name in found.sources)] if makers else []
    lists = generator_lists(console, named, None, allow_missing=allow_missing) if known else UNMADE
    drawn = drawn_negatives(project, [result.measure for result in results])
    pooled = Pooled(
        lists, measured_pairs(project, with_random=with_random), found.rankings, found.placed, found.scores,
        drawn, pooled_pairs(project),
    )  # fmt: skip
    return Fair(new, sorted(set(lists["model"])), fairness(results, new, pooled))


def with_fairness(rows: list[dict[str, Any]], fair: Fair | None) -> list[dict[str, Any]]:
    """The rows of --json; those over all queries of a new model say besides how fair they are to it."""
    if fair is None:
        return rows
    told = {(row["model"], row["measure"]): row for row in _rows(fair)}
    open_by_rbp = {
        model: {"low": row["value"], "high": row["at_most"], "undecided_with": row["undecided_with"]}
        for (model, measure), row in told.items()
        if measure.startswith("RBP")
    }
    found = []
    for row in rows:
        verdict = told.get((row["model"], row["measure"])) if row["query_id"] is None else None
        kept = {name: verdict[name] for name in ("verdict", "judged", "at_most", "change", "undecided_with")
                } if verdict else {}  # fmt: skip
        extra = {"fair": {**kept, "why": why(verdict, fair), "rbp": open_by_rbp.get(row["model"])}} if verdict else {}
        found.append({**row, **extra})
    return found


def told_fair(fair: Fair | None) -> list[str]:
    """The verdicts for reading, and what to do where nothing is decided; nothing where no model is new."""
    if fair is None or not len(fair.found.verdicts):
        return []
    from eds.analysis.fairness import FAIR

    rows = _rows(fair)
    heads = ["model", "measure", "value", "at most", "judged", "verdict", "undecided with"]
    cells = [
        [row["model"], row["measure"], _number(row["value"]), _number(row["at_most"]), _number(row["judged"]),
         row["verdict"], "-" if row["undecided_with"] is None else ", ".join(row["undecided_with"]) or "nobody"]
        for row in rows
    ]  # fmt: skip
    head = (
        f"New here: {', '.join(fair.new)}. What experts judged was chosen without {_them(fair.new)}, so not every "
        "number can stand beside those of the models that made the pool."
    )
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["kind"] == "ceiling" and row["verdict"] != FAIR:
            text = (
                "places without a label count as not similar, so that the value may be too small; VSD-HR and P cannot "
                "exceed the share that is judged by now, nor 'at most' were all the others similar"
            )
        else:
            text = why(row, fair)
        measures = reasons.setdefault(text, [])
        measures += [] if row["measure"] in measures else [row["measure"]]
    lines = [f"{', '.join(names)}: {text}." for text, names in reasons.items()]
    parts = [head, lined(heads, cells), "\n".join(lines)]
    parts += [text for name in fair.new if (text := _decided(name, rows))]
    return parts


def _decided(name: str, rows: list[dict[str, Any]]) -> str:
    """By which measures the labels there are decide between the model and all others, and what to do for the rest."""
    from eds.analysis.fairness_words import decided_by

    sure, unsure = decided_by(name, rows)
    parts = [f"decided against all others by {', '.join(sure)}"] if sure else []
    parts += [f"undecided by {', '.join(unsure)}"] if unsure else []
    more = f" The pairs whose judgement would decide: eds suspects add {name}." if unsure else ""
    return f"{name}, by the labels there are: {'; '.join(parts)}.{more}" if parts else ""


def why(row: dict[str, Any], fair: Fair) -> str:
    """The reason for a verdict, in words."""
    from eds.analysis.fairness_words import reason

    return reason(row, fair.makers, fair.found.reuse)


def _rows(fair: Fair) -> list[dict[str, Any]]:
    rows: list[Any] = fair.found.verdicts.to_dict(orient="records")
    return rows


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
