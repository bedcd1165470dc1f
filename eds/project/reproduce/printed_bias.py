"""What the printed tables alone show of the pool's bias towards the models that made it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks.reproduce.compare_cells import format_number, markdown_table
from eds.benchmarks.reproduce.paper import paper, printed_table
from eds.io.files import write_text
from eds.project.results import Result

GROUPS = {"Table 5": (5,), "Table 6": (6,), "Tables 5 and 7": (5, 7), "Tables 6 and 8": (6, 8)}
HR, AUC = "HR@5", "ROC_micro_anno"
READING = (
    "HR counts unjudged pairs as not similar: it favours the models that made the pool. Labelled negatives are these"
    " models' own mistakes, so that AUC leans a little to the other side; neither alone ranks a new model."
    " Numbers that are likely copying errors are left out (--json: doubts); `models` counts those that are used."
)


@dataclass(frozen=True)
class TableBias(Result):
    """Means of pool models and new models by measure, and how the order by HR@5 agrees with that by each AUC."""

    tables: str
    caption: str
    pool_models: int
    new_models: int
    groups: pd.DataFrame  # measure, generators, outsiders, difference, models
    orders: tuple[Mapping[str, Any], ...]  # measure, n, tau_b, tau_ap_b

    def table(self) -> pd.DataFrame:
        """Return the values for reading, as texts."""
        taus = {order["measure"]: order for order in self.orders}
        rows = [
            {
                "measure": row["measure"],
                "pool models": format_number(row["generators"]),
                "new models": format_number(row["outsiders"]),
                "difference": format_number(row["difference"]),
                f"tau_b with {HR}": format_number(taus[name]["tau_b"], 2) if (name := row["measure"]) in taus else "",
                "tau_AP,b": format_number(taus[name]["tau_ap_b"], 2) if name in taus else "",
                "models": str(row["models"]),
            }
            for row in self.groups.to_dict(orient="records")
        ]
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """Return the finding in two sentences."""
        groups = {row["measure"]: row for row in self.groups.to_dict(orient="records")}
        (order,) = (order for order in self.orders if order["measure"] == AUC)
        hr, auc = ([format_number(groups[name][side]) for side in ("generators", "outsiders")] for name in (HR, AUC))
        return (
            f"By {HR}, pool models have {hr[0]} and new models {hr[1]}; by micro ROC-AUC {auc[0]} and {auc[1]}."
            f" The two orders of the {order['n']} models agree with Kendall's tau {format_number(order['tau_b'], 2)}."
        )

    def title(self) -> str:
        """Return the tables and the sizes of both groups."""
        return f"{self.tables} ({self.caption}): {self.pool_models} models of the pool, {self.new_models} new ones"


@dataclass(frozen=True)
class PrintedBias(Result):
    """The bias in the printed tables, with what is doubted of them."""

    paper: Mapping[str, str]
    found: tuple[TableBias, ...]
    doubts: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    errata: tuple[Mapping[str, Any], ...]
    files: tuple[str, ...] = ()


def compare_printed(out: str | Path | None = None) -> PrintedBias:
    """Compare pool models with new models in the printed Tables 5 to 8; `out` gets bias.json and bias.md."""
    source = paper()
    found = tuple(_bias(name, numbers) for name, numbers in GROUPS.items())
    files = () if out is None else (str(Path(out) / "bias.json"), str(Path(out) / "bias.md"))
    result = PrintedBias(source.source, found, source.doubts, source.notes, source.errata, files)
    if files:
        write_text(Path(files[0]), json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
        parts = [f"## {bias.title()}\n\n{markdown_table(bias.table())}\n\n{bias.summary()}\n" for bias in found]
        write_text(Path(files[1]), "\n".join([*parts, READING, ""]))
    return result


def _bias(name: str, numbers: tuple[int, ...]) -> TableBias:
    from eds.analysis import group_means, order_agreement

    table = printed_table(numbers)
    measures = [column for column in table.columns if column not in ("label", "generator")]
    groups = group_means(table, measures).assign(models=table[measures].notna().sum().to_numpy())
    areas = [measure for measure in measures if measure.startswith(("ROC", "PR"))]
    return TableBias(
        tables=name,
        caption=paper().tables[numbers[0]]["caption"],
        pool_models=int(table["generator"].sum()),
        new_models=int((~table["generator"]).sum()),
        groups=groups,
        orders=tuple({"measure": measure, **order_agreement(table, HR, measure)} for measure in areas),
    )
