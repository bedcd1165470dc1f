"""Every model against the labels: HR and MRR, AUC on annotated and sampled negatives, and who cannot be told apart."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis import compare_models, indistinguishable
from eds.metrics import Measure, Result
from eds.metrics.measure import definition_of
from eds.reports.document import Block, Column, Figure, Gap, Kind, Missing, Table, say
from eds.reports.facts.evidence import behind_all, unscored, warning
from eds.reports.facts.intervals import with_limits
from eds.reports.material import Material

CUTS = (5, 9)
ON_LISTS = ("VSD-HR", "VSD-MRR", "Success", "RR", "Judged")
AVERAGES = ("macro", "micro")
COMPARED = ("VSD-HR@5", "ROC-AUC(average=macro,negatives=annotated)")
SHORT = {
    "VSD-HR": "VSD-HR", "VSD-MRR": "VSD-MRR", "Success": "hit rate", "RR": "MRR", "Judged": "judged",
    "ROC-AUC": "ROC", "PR-AUC": "PR", "Prevalence": "prevalence",
}  # fmt: skip
NEGATIVES = Gap("No sampled negatives are drawn.", "eds suspects negatives")


def measures(sampled: bool) -> list[Measure]:
    """What the report needs of `eds.metrics.evaluate`."""
    sides = ("annotated", "sampled") if sampled else ("annotated",)
    told = [f"{name}@{cut}" for cut in CUTS for name in ON_LISTS]
    told += ["RBP(p=0.8)", "RBP-residual(p=0.8)", "bpref", "PairMRR@9"]
    told += [f"{area}(average={average},negatives={side})" for side in sides for area in ("ROC-AUC", "PR-AUC",
             "Prevalence") for average in AVERAGES]  # fmt: skip
    return list(dict.fromkeys(map(Measure.parse, told)))


def on_lists(material: Material) -> tuple[Block, ...]:
    """Official and standard numbers at each cut-off, with what is judged."""
    table = with_limits(material)
    found: list[Block] = []
    for cut in CUTS:
        names = [f"{name}@{cut}" for name in ON_LISTS]
        found.append(_table(material, table, f"lists_{cut}", f"Lists cut at {cut}", names))
    chosen = _rows(material, table, ["VSD-HR@5"])
    found.append(_figure(material, "hr", "VSD-HR@5", chosen, "VSD-HR@5", "share"))
    other = ["RBP(p=0.8)", "RBP-residual(p=0.8)", "bpref"]
    found.append(_table(material, table, "incomplete", "Measures that allow for missing labels", other))
    return (
        say("VSD-HR and VSD-MRR are the published benchmark's numbers; hit rate and MRR are the"
        " usual ones. Judged is the"
            " share of a list's places that have a label: below 100 % the numbers beside it are lower bounds.", "note"),
        *found,
    )  # fmt: skip


def on_scores(material: Material) -> tuple[Block, ...]:
    """AUC on the labelled negatives."""
    return (*warning(material), *_aucs(material, "annotated", "AUC on annotated negatives"))


def on_drawn(material: Material) -> tuple[Block, ...]:
    """AUC on sampled negatives."""
    if material.negatives is None:
        raise Missing(NEGATIVES)
    return (
        *warning(material, "sampled"),
        *_aucs(material, "sampled", "AUC on sampled negatives"),
        say("Numbers on annotated and on sampled negatives answer different questions and are never compared.", "note"),
    )


def groups(material: Material) -> tuple[Block, ...]:
    """Models that the queries there are cannot tell apart."""
    results = material.need("results")
    found: list[Block] = []
    for name in COMPARED:
        key = "hr" if name.startswith("VSD") else "auc"
        change: Kind = "points" if key == "hr" else "signed"
        if key == "auc" and unscored(material):
            continue  # over different pairs there is nothing to tell apart
        compared = material.once(f"compared {name}", partial(_compared, results, name, material))
        if compared is None:
            continue
        alike = indistinguishable(compared, material.level)
        values = {result.model: result.values.value for result in results
                  if str(result.measure) == name and result.values}  # fmt: skip
        alike = sorted(alike, key=lambda group: -max(values[model] for model in group))
        rows = [{"group": number, "models": sorted(group, key=lambda model: -values[model])}
                for number, group in enumerate(alike, 1)]  # fmt: skip
        found.append(Table(f"groups_{key}", f"Groups by {short(name)}",
                           (Column("group", "group", "count"), Column("models", "not told apart", "names")), rows,
                           "A model can stand in several groups: not being told apart is not being"
                           " equal."))  # fmt: skip
        columns = (
            Column("first", "model"),
            Column("second", "against"),
            Column("difference", "difference", change, "low", "high", "mean over queries; limits by bootstrap"),
            Column("p", "p", "p", formula="sign flips"),
            Column("p_adjusted", "adjusted p", "p", formula="Holm"),
            Column("n", "queries", "count"),
        )
        found.append(Table(f"compared_{key}", f"Every two models by {short(name)}", columns,
                           compared.to_dict(orient="records"), "details"))  # fmt: skip
    return tuple(found)


def _compared(results: Sequence[Result], name: str, material: Material) -> pd.DataFrame | None:
    """Every two models that have a value."""
    mine = [result for result in results if str(result.measure) == name and result.values]
    mine = [result for result in mine if result.values is not None and not np.isnan(result.values.value)]
    if len(mine) < 2:
        return None
    told = compare_models(mine, name, level=material.level, resamples=material.resamples or 1, seed=material.seed)
    return told if material.resamples else told.assign(low=np.nan, high=np.nan)  # of one resample there are no limits


def _aucs(material: Material, side: str, title: str) -> tuple[Block, ...]:
    table = with_limits(material)
    names = [f"{area}(average={average},negatives={side})" for average in AVERAGES for area in ("ROC-AUC", "PR-AUC",
             "Prevalence")]  # fmt: skip
    shown = _rows(material, table, names)
    first = names[0]
    figure = _figure(material, f"auc_{side}", f"Macro ROC-AUC, {side} negatives", shown, first, "value")
    return (_table(material, table, f"auc_{side}", title, names), figure)


def _rows(material: Material, table: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    part = table[table["measure"].isin(names)]
    rows: dict[str, dict[str, Any]] = {}
    for told in part.to_dict(orient="records"):
        row = rows.setdefault(told["model"], {"model": told["model"], "part": _part(material, told["model"])})
        name = told["measure"]
        row |= {name: told["value"], f"{name} low": told["low"], f"{name} high": told["high"], f"{name} n": told["n"]}
    return sorted(rows.values(), key=lambda row: (-_order(row.get(names[0])), row["model"]))


def _order(value: Any) -> float:
    return float("-inf") if value is None or np.isnan(value) else float(value)


def _table(material: Material, table: pd.DataFrame, key: str, title: str, names: Sequence[str]) -> Table:
    rows = _rows(material, table, names)
    columns = [Column("model", "model"), Column("part", "part")]
    for name in names:
        measure = Measure.parse(name)
        formula = f"{name}: {definition_of(measure.name).formula}"
        kind: Any = "share" if measure.name in ("VSD-HR", "Success", "Judged", "Prevalence") else "value"
        columns.append(Column(name, short(name), kind, f"{name} low", f"{name} high", formula))
    told = behind_all(material.results, {name: short(name) for name in names})
    return Table(key, title, tuple(columns), rows, f"Behind each number: {told}." if told else "")


def short(name: str) -> str:
    """A measure as tables call it."""
    measure = Measure.parse(name)
    cut = f"@{measure.k}" if measure.k else ""
    average = str(measure.parameters.get("average", ""))
    return f"{average} {SHORT.get(measure.name, measure.name)}{cut}".strip()


def _part(material: Material, model: str) -> str:
    makers = material.makers
    return "generator" if model in makers else "outsider" if makers else "not known"


def _figure(material: Material, key: str, title: str, rows: Sequence[dict[str, Any]], name: str, kind: str) -> Figure:
    data = {
        "labels": [row["model"] for row in rows], "marks": [row["part"] == "outsider" for row in rows],
        "values": [row.get(name) for row in rows], "low": [row.get(f"{name} low") for row in rows],
        "high": [row.get(f"{name} high") for row in rows], "kind": kind, "lowest": None, "highest": None,
    }  # fmt: skip
    limits = "Limits over queries drawn again" if material.resamples else "Without limits, as asked for"
    return Figure(key, title, "intervals", data, f"{limits}; outsiders are drawn hollow.")


PARTS = (on_lists, on_scores, on_drawn, groups)
