"""Where models are strong and weak: numbers by a column of the queries' images."""

from typing import Any

import numpy as np
import pandas as pd

from eds.metrics import Result
from eds.pairs import decode
from eds.reports.charts import heat_map
from eds.reports.document import Block, Column, Figure, Gap, Kind, Table, note
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import INPUTS, new_models, order_models
from eds.suspects import pair_rate

MOST = 20  # values of the column that are shown; rarer ones are merged
REST, NONE = "(all others)", "(none)"
NEW = " New models meet the labels of others: compare them with pool models on the first screen only."
MEASURES: dict[str, tuple[str, str, Kind]] = {
    "VSD-HR@5": ("hr", "VSD-HR@5", "share"),
    "ROC-AUC(average=macro,negatives=annotated)": ("auc", "macro ROC-AUC", "value"),
}


def by_column(inputs: ReportInputs) -> Blocks:
    """Tables and heat maps for every requested column."""
    images, labels = inputs.require("images"), inputs.labels
    blocks: list[Block] = []
    for index, column in enumerate(inputs.slices):
        if column not in images.columns:
            known = ", ".join(map(str, images.columns))
            blocks.append(Gap(f"Table images has no column {column}.", f"--slice COLUMN, one of: {known}"))
            continue
        kinds = _kinds(images, labels, column)
        if kinds.nunique() < 2:
            blocks.append(Gap(f"All queries have the same {column}.", "--slice COLUMN, another column of images"))
            continue
        blocks += _sliced(inputs, labels, kinds, column, index)
    if any(isinstance(block, Table) for block in blocks):
        words = "In brackets: queries with a label. Means over fewer than 20 say little; differences are not tested."
        blocks.insert(0, note(words + (NEW if new_models(inputs) else "")))
    return tuple(blocks)


def _kinds(images: pd.DataFrame, labels: pd.DataFrame, column: str) -> "pd.Series[str]":
    """By query id its value in the column; the rarest values are merged."""
    queries = images[images["image_id"].isin(labels["query_id"])]
    kinds = queries[column].astype(object).where(queries[column].notna(), NONE).astype(str)
    sizes = kinds.value_counts().sort_index(kind="stable").sort_values(ascending=False, kind="stable")
    kept = sizes.index[:MOST] if len(sizes) > MOST + 1 else sizes.index
    by_query: pd.Series[str] = kinds.where(kinds.isin(kept), REST).set_axis(queries["image_id"])
    return by_query


def _sliced(
    inputs: ReportInputs, labels: pd.DataFrame, kinds: "pd.Series[str]", column: str, index: int
) -> list[Block]:
    labelled = labels.assign(kind=labels["query_id"].map(kinds)).dropna(subset="kind")
    rows: list[dict[str, Any]] = []
    for kind, part in labelled.groupby("kind", sort=True):
        rate = pair_rate(part, part, inputs.confidence)
        rows.append({"kind": kind, "queries": int(part["query_id"].nunique()), **rate.to_dict()})
    rows.sort(key=lambda row: (row["kind"] in (REST, NONE), -row["queries"], row["kind"]))
    columns = (
        Column("kind", column),
        Column("queries", "queries", "count"),
        Column("labelled", "labelled pairs", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "share similar", "share", "low", "high", "interval over queries"),
    )
    blocks: list[Block] = []
    for name in MEASURES:
        measured = {r.model: r for r in inputs.results or () if str(r.measure) == name and r.values}
        if measured:
            results = [measured[model] for model in order_models(inputs, measured, name)]
            blocks += _measured(results, kinds, {row["kind"]: row["queries"] for row in rows}, name, column, index)
    return [Table(f"kinds_{index}", f"Pairs by {column}", columns, rows, detail=bool(blocks)), *blocks]


def _measured(
    results: list[Result], kinds: "pd.Series[str]", names: dict[str, int], measure: str, column: str, index: int
) -> list[Block]:
    """A measure of every model by the values of the column; `names` has the number of queries of each."""
    models = [result.model for result in results]
    prefix, label, kind = MEASURES[measure]
    means = pd.DataFrame({r.model: _by_query(r, kinds).groupby("kind")["value"].mean() for r in results})
    means = means.reindex([*names])
    sizes = _by_query(results[0], kinds).groupby("kind").size()
    rows = [
        {"kind": name, "n": int(sizes.get(name, 0))}
        | {f"m{number}": means.at[name, model] for number, model in enumerate(models)}
        for name in names
    ]
    columns = (
        Column("kind", column),
        Column("n", "queries", "count", formula=f"for which {label} of {models[0]} is defined"),
        *(Column(f"m{number}", model, kind) for number, model in enumerate(models)),
    )
    drawn = [row for row in rows if row["n"]]
    chart = {
        "rows": [f"{name} ({names[name]:,})" for name, row in zip(names, rows, strict=True) if row["n"]],
        "columns": models,
        "kind": kind,
        "values": [[row[f"m{number}"] for number in range(len(models))] for row in drawn],
    }
    key = f"{prefix}_{index}"
    caption = "Mean over queries; the deeper the blue, the better."
    table = Table(key, f"{label} by {column}, as numbers: {measure}", columns, rows, detail=True)
    if not drawn:
        return [table]
    return [
        table,
        Figure(key, f"{label[:1].upper()}{label[1:]} by {column}", heat_map, chart, caption),
    ]


def _by_query(result: Result, kinds: "pd.Series[str]") -> pd.DataFrame:
    values = result.values
    if values is None:
        return pd.DataFrame({"kind": pd.Series(dtype=str), "value": pd.Series(dtype="float64")})
    queries = decode(np.arange(len(values.queries)), values.queries)
    return pd.DataFrame({"kind": queries.map(kinds).to_numpy(), "value": values.by_query}).dropna()


SECTION = SectionSpec(
    title="By category and other columns",
    question="Where are models strong, and where weak?",
    order=80,
    inputs=("images", *INPUTS),
    parts=(by_column,),
)
