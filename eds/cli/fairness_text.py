"""The verdicts on new models as text and JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eds.cli.render import format_table

if TYPE_CHECKING:
    from eds.project.fairness import Fair


def with_fairness(rows: list[dict[str, Any]], fair: "Fair | None") -> list[dict[str, Any]]:
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


def told_fair(fair: "Fair | None") -> list[str]:
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
    parts = [head, format_table(heads, cells), "\n".join(lines)]
    parts += [text for name in fair.new if (text := _decided(name, rows))]
    return parts


def _decided(name: str, rows: list[dict[str, Any]]) -> str:
    """By which measures the labels there are decide between the model and all others, and what to do for the rest."""
    from eds.analysis.fairness_words import decided_by

    sure, unsure = decided_by(name, rows)
    parts = [f"decided against all others by {', '.join(sure)}"] if sure else []
    parts += [f"undecided by {', '.join(unsure)}"] if unsure else []
    more = f" The pairs whose judgement would decide: eds suspects add-model {name}." if unsure else ""
    return f"{name}, by the labels there are: {'; '.join(parts)}.{more}" if parts else ""


def why(row: dict[str, Any], fair: "Fair") -> str:
    """The reason for a verdict, in words."""
    from eds.analysis.fairness_words import reason

    return reason(row, fair.makers, fair.found.reuse)


def _rows(fair: "Fair") -> list[dict[str, Any]]:
    rows: list[Any] = fair.found.verdicts.to_dict(orient="records")
    return rows


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
