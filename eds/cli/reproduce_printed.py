"""`eds benchmarks reproduce vsd --tables-only`: what the printed tables alone tell of the pool's bias."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.cli.console import Console
from eds.cli.render import format_table
from eds.project.results import to_jsonable

if TYPE_CHECKING:
    import pandas as pd

GROUPS = {"Table 5": (5,), "Table 6": (6,), "Tables 5 and 7": (5, 7), "Tables 6 and 8": (6, 8)}
HR, AUC = "HR@5", "ROC_micro_anno"


def printed(console: Console, out: Path | None) -> None:
    """Generators against new models by every column, and the order by HR@5 against that by each AUC."""
    from eds.benchmarks.reproduce.paper import paper
    from eds.io.files import write_text

    found = [{"tables": name, **_of(numbers)} for name, numbers in GROUPS.items()]
    document = {"paper": paper().source, "found": found, "doubts": list(paper().doubts), "notes": list(paper().notes),
                "errata": list(paper().errata)}  # fmt: skip
    files = []
    if out is not None:
        files = [str(out / "bias.json"), str(out / "bias.md")]
        write_text(out / "bias.json", json.dumps(to_jsonable(document), ensure_ascii=False, allow_nan=False, indent=1))
        write_text(out / "bias.md", f"```text\n{told(found)}\n```\n")
    lines = [told(found), *(f"Wrote {file}" for file in files)]
    console.answer({**document, "files": files}, lambda: "\n".join(lines))


def told(found: "list[dict[str, Any]]") -> str:
    """The analysis for reading."""
    from eds.benchmarks.reproduce.compare_cells import format_number as text

    lines = []
    for one in found:
        groups, orders = one["groups"], {order["measure"]: order for order in one["orders"]}
        by = {row["measure"]: row for row in groups.to_dict(orient="records")}
        hr, auc, order = by[HR], by[AUC], orders[AUC]
        sizes = f"{one['generators']} models that made the pool, {one['new_models']} new ones"
        lines += [f"{one['tables']} ({one['caption']}): {sizes}"]
        rows = [
            [name, *(text(row[side]) for side in ("generators", "outsiders", "difference")),
             *(text(orders[name][tau], 2) if name in orders else "" for tau in ("tau_b", "tau_ap_b")),
             f"{row['models']}"]
            for name, row in by.items()
        ]  # fmt: skip
        lines += [
            format_table(
                ["measure", "generators", "new models", "difference", f"tau_b with {HR}", "tau_AP,b", "models"], rows
            )
        ]
        lines += [
            f"By {HR} generators have {text(hr['generators'])} against {text(hr['outsiders'])} of new models; by"
            f" micro ROC-AUC {text(auc['generators'])} against {text(auc['outsiders'])}. The two orders of the"
            f" {order['n']} models agree with Kendall's tau {text(order['tau_b'], 2)}.",
            "",
        ]
    return "\n".join([
        *lines,
        "HR counts what nobody judged as not similar: it tells who made the pool. Labelled negatives are the",
        "generators' own mistakes, so that AUC leans a little to the other side; neither alone ranks a new model.",
        "Left out are numbers that are likely copying errors (--json: doubts); `models` counts those that are used.",
    ])  # fmt: skip


def _of(numbers: "tuple[int, ...]") -> dict[str, Any]:
    from eds.analysis import group_means, order_agreement
    from eds.benchmarks.reproduce.paper import paper, printed_table

    table: pd.DataFrame = printed_table(numbers)
    measures = [name for name in table.columns if name not in ("label", "generator")]
    groups = group_means(table, measures)
    against = [name for name in measures if name.startswith(("ROC", "PR"))]
    orders = [{"measure": name, **order_agreement(table, HR, name)} for name in against]
    return {
        "caption": paper().tables[numbers[0]]["caption"],
        "generators": int(table["generator"].sum()),
        "new_models": int((~table["generator"]).sum()),
        "groups": groups.assign(models=table[measures].notna().sum().to_numpy()),
        "orders": orders,
    }
