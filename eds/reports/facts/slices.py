"""Where models are strong and weak: numbers by a column of the queries' images."""

from typing import Any

import numpy as np
import pandas as pd

from eds.intervals import wilson_interval
from eds.metrics import Result
from eds.pairs import decode
from eds.reports.document import Block, Column, Figure, Gap, Table, say
from eds.reports.material import Material

MOST = 20  # kinds shown; the rest stands together
FEW = 20  # queries below which a number says little
REST, NONE = "(all others)", "(none)"
MEASURES = {"VSD-HR@5": "share", "ROC-AUC(average=macro,negatives=annotated)": "value"}
LABELS = {"VSD-HR@5": "VSD-HR@5", "ROC-AUC(average=macro,negatives=annotated)": "macro ROC-AUC"}


def by_kind(material: Material) -> tuple[Block, ...]:
    """Every asked column in turn."""
    images, truth = material.need("images"), material.labels
    found: list[Block] = []
    for place, column in enumerate(material.slices):
        if column not in images.columns:
            known = ", ".join(str(name) for name in images.columns)
            found.append(Gap(f"Table images has no column {column}.", f"--slice COLUMN, one of: {known}"))
            continue
        kinds = _kinds(images, truth, column)
        if kinds.nunique() < 2:
            found.append(Gap(f"All queries are of one kind by {column}.", "--slice COLUMN, another column of images"))
            continue
        found += _sliced(material, truth, kinds, column, place)
    if any(isinstance(block, Table) for block in found):
        found.insert(0, say("A number of fewer than 20 queries says little; none of them was tested.", "note"))
    return tuple(found)


def _kinds(images: pd.DataFrame, truth: pd.DataFrame, column: str) -> "pd.Series[str]":
    """By query id its kind; the rarest stand together."""
    asked = images[images["image_id"].isin(truth["query_id"])]
    kinds = asked[column].astype(object).where(asked[column].notna(), NONE).astype(str)
    sizes = kinds.value_counts().sort_index(kind="stable").sort_values(ascending=False, kind="stable")
    kept = sizes.index[:MOST] if len(sizes) > MOST + 1 else sizes.index
    named: pd.Series[str] = kinds.where(kinds.isin(kept), REST).set_axis(asked["image_id"])
    return named


def _sliced(
    material: Material, truth: pd.DataFrame, kinds: "pd.Series[str]", column: str, place: int
) -> tuple[Block, ...]:
    labelled = truth.assign(kind=truth["query_id"].map(kinds)).dropna(subset="kind")
    told = labelled.groupby("kind", sort=True).agg(
        queries=("query_id", "nunique"), labelled=("value", "size"), positive=("value", "sum")
    )
    rows: list[dict[str, Any]] = []
    for name, queries, n, positive in told.reset_index().itertuples(index=False):
        low, high = wilson_interval(int(positive), int(n), material.level)
        rows.append({"kind": name, "queries": int(queries), "labelled": int(n), "positive": int(positive),
                     "rate": int(positive) / int(n), "low": float(low), "high": float(high)})  # fmt: skip
    rows.sort(key=lambda row: (row["kind"] in (REST, NONE), -row["queries"], row["kind"]))
    columns = (
        Column("kind", column),
        Column("queries", "queries", "count"),
        Column("labelled", "labelled pairs", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "share similar", "share", "low", "high", "Wilson limits"),
    )
    blocks: list[Block] = [Table(f"kinds_{place}", f"Pairs by {column}", columns, rows)]
    for name, kind in MEASURES.items():
        mine = [result for result in material.results or () if str(result.measure) == name and result.values]
        if mine:
            blocks += _measured(mine, kinds, rows, name, kind, column, place)
    return tuple(blocks)


def _measured(
    results: list[Result], kinds: "pd.Series[str]", rows: list[dict[str, Any]], name: str, kind: Any, column: str,
    place: int,
) -> tuple[Block, ...]:  # fmt: skip
    names, models = [row["kind"] for row in rows], [result.model for result in results]
    table = pd.DataFrame({result.model: _means(result, kinds) for result in results}).reindex(names)
    sizes = _sizes(results[0], kinds)
    told = [{"kind": one, "n": int(sizes.get(one, 0)), **{f"m{at}": table.at[one, model] for at, model in
             enumerate(models)}} for one in names]  # fmt: skip
    columns = (
        Column("kind", column),
        Column("n", "queries", "count", formula=f"for which {LABELS[name]} of {models[0]} is defined"),
        *(Column(f"m{at}", model, kind) for at, model in enumerate(models)),
    )
    key = f"{'hr' if name.startswith('VSD') else 'auc'}_{place}"
    shown = [one for one in told if one["n"]]
    return (
        Table(key, f"{LABELS[name]} by {column}, in numbers: {name}", columns, told, "details"),
        Figure(key, f"{LABELS[name]} by {column}", "grid", {
            "rows": [one["kind"] for one in shown], "columns": models, "kind": kind,
            "values": [[one[f"m{at}"] for at in range(len(models))] for one in shown]},
            "Darker is better; each field is a mean over the kind's queries."),
    )  # fmt: skip


def _means(result: Result, kinds: "pd.Series[str]") -> "pd.Series[float]":
    told = _by_query(result, kinds)
    means: pd.Series[float] = told.groupby("kind")["value"].mean()
    return means


def _sizes(result: Result, kinds: "pd.Series[str]") -> dict[str, int]:
    return {str(name): int(size) for name, size in _by_query(result, kinds).groupby("kind").size().items()}


def _by_query(result: Result, kinds: "pd.Series[str]") -> pd.DataFrame:
    values = result.values
    if values is None:
        return pd.DataFrame({"kind": pd.Series(dtype=str), "value": pd.Series(dtype="float64")})
    queries = decode(np.arange(len(values.queries)), values.queries)
    frame = pd.DataFrame({"kind": queries.map(kinds).to_numpy(), "value": values.by_query})
    return frame.dropna()


PARTS = (by_kind,)
