"""How `eds metrics` answers: rows for --json, tables for reading, each number with what it rests on."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eds.cli.render import format_table

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Result


def score_rows(results: "Sequence[Result]", table: "pd.DataFrame") -> list[dict[str, Any]]:
    """The table's rows; those over all queries with every count, defined or not."""
    counts = {(result.model, str(result.measure)): counted_of(result) for result in results}
    rows: list[dict[str, Any]] = []
    for row in table.to_dict(orient="records"):
        whole = row["query_id"] is None or row["query_id"] != row["query_id"]
        row["query_id"] = None if whole else row["query_id"]
        row["note"] = row["note"] if isinstance(row["note"], str) and row["note"] else None
        rows.append({**{str(key): value for key, value in row.items()},
                     **(counts[row["model"], row["measure"]] if whole else {})})  # fmt: skip
    return rows


def counted_of(result: "Result") -> dict[str, Any]:
    """What a number rests on: used, skipped and why, unlabelled, without a score; None: that was not counted."""
    told = dict(result.values.counts) if result.values else {}
    skipped = {
        name.removeprefix("queries ").removesuffix(" skipped"): count
        for name, count in told.items()
        if name.endswith(" skipped") and count
    }
    return {
        "queries_used": told.get("queries used"),
        "queries_skipped": sum(skipped.values()) if told else None,
        "skipped_because": skipped,
        "pairs_used": told.get("pairs used"),
        "pairs_unlabelled": told.get("places unlabelled", told.get("pairs unlabelled")),
        "pairs_without_score": told.get("pairs without a score"),
        "counts": told,
    }


def described(definition: Any) -> dict[str, Any]:
    """A kind of measure as a document."""
    parameters = {
        name: {"default": one.default, "options": list(one.options) or None}
        for name, one in definition.parameters.items()
    }
    cut = {"required": "@k", "optional": "[@k]", "never": ""}[definition.cut]
    inside = ",".join(
        f"{name}={'|'.join(one.options) or one.default}" for name, one in sorted(definition.parameters.items())
    )
    return {
        "measure": f"{definition.name}{cut}" + (f"({inside})" if inside else ""),
        "name": definition.name,
        "meaning": definition.meaning,
        "formula": definition.formula,
        "conventions": definition.conventions,
        "needs": definition.needs,
        "cut_off": definition.cut,
        "parameters": parameters,
    }


def told_list(rows: Sequence[dict[str, Any]], bundles: Sequence[dict[str, Any]]) -> str:
    """All kinds of measures and the presets, for reading."""
    import textwrap

    def block(label: str, text: str) -> str:
        return textwrap.fill(text, 110, initial_indent=f"  {label:<13}", subsequent_indent=" " * 15)

    parts = []
    for row in rows:
        lines = [row["measure"], f"  {row['meaning']}", block("formula", row["formula"])]
        lines += [block("conventions", row["conventions"]), block("computed on", row["needs"])]
        parts.append("\n".join(lines))
    for one in bundles:
        lines = [f"preset {one['preset']}", f"  {one['meaning']}", block("lists", one["rules"])]
        parts.append("\n".join([*lines, block("measures", ", ".join(one["measures"]))]))
    return "\n\n".join(parts)


def told_scores(results: "Sequence[Result]", table: "pd.DataFrame", level: float) -> str:
    """A line for each measure, a column for each model; then what each measure rests on, and what was left out."""
    whole = table[table["query_id"].isna()]
    models = list(dict.fromkeys(result.model for result in results))
    measures = list(dict.fromkeys(str(result.measure) for result in results))
    cells = {(row["model"], row["measure"]): row for row in whole.to_dict(orient="records")}
    rows = [[name, *(value_with_limits(cells[model, name]) for model in models)] for name in measures]
    lines = [format_table(["measure", *models], rows), ""]
    drawn = f"Values with limits at {level:.0%} over queries drawn again" if whole["low"].notna().any() else "Values"
    lines.append(f"{drawn}; n/a where a measure is undefined.")
    lines += ["", _used(results, measures)]
    notes: dict[str, list[str]] = {}
    for result in results:
        if result.note:
            notes.setdefault(f"{result.model}: {result.note}", []).append(str(result.measure))
    lines += [f"{note} ({len(names):,} measures)." for note, names in notes.items()]
    return "\n".join(lines)


def value_with_limits(row: Mapping[Any, Any]) -> str:
    """One number with its limits, for reading."""
    value, low, high = row["value"], row["low"], row["high"]
    if value != value or value is None:
        return "n/a"
    limits = "" if low != low or low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.4f}{limits}"


def _used(results: "Sequence[Result]", measures: Sequence[str]) -> str:
    """For each measure what it rests on; where models differ, from the least to the most."""
    heads = ["measure", "n", "queries skipped", "unlabelled", "similar not found", "behind their product",
             "pairs without a score"]  # fmt: skip
    rows = []
    for name in measures:
        mine = [result for result in results if str(result.measure) == name]
        counted = [counted_of(result) for result in mine]
        why = sorted({reason for one in counted for reason in one["skipped_because"]})
        skipped = _range([one["queries_skipped"] for one in counted]) + (f" {', '.join(why)}" if why else "")
        found = [
            [result.values.n if result.values else 0 for result in mine],
            [one["pairs_unlabelled"] for one in counted],
            [one["counts"].get("positives not found") for one in counted],
            [one["counts"].get("positives behind another image of their product") for one in counted],
            [one["pairs_without_score"] for one in counted],
        ]
        rows.append([name, *map(_range, found)])
        rows[-1].insert(2, skipped)
    legend = (
        "Unlabelled: places of the lists, of AUC pairs of the pool. Similar not found: not among the places that the"
        " measure looks at; behind their product: never to be found, since another image of their product stands there."
    )
    return f"{format_table(heads, rows)}\n{legend}"


def _range(values: Sequence[int | None]) -> str:
    told = sorted({value for value in values if value is not None})
    if not told:
        return "-"
    return f"{told[0]:,}" if len(told) == 1 else f"{told[0]:,} to {told[-1]:,}"
