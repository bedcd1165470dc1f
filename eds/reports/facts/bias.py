"""Whom the pool favours: generators against outsiders, order by HR against order by AUC, which measures are fair."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis import Bias, bias, reusability_table, undecided_by_labels
from eds.analysis.fairness import KEPT, SMALL, fair_to_new
from eds.reports.document import Block, Column, Figure, Gap, Missing, Number, Table, count, say
from eds.reports.material import Material

METRIC = "macro_roc_auc"
NOT_TWO = Gap("A single model made the pool.", "eds suspects pool, with the lists of several models")
REUSED = {
    "hr_official": "VSD-HR", "macro_roc_auc": "macro ROC-AUC", "bpref": "bpref", "rbp": "RBP (p = 0.8)",
}  # fmt: skip


def bias_facts(material: Material) -> Bias:
    """`eds.analysis.bias` of this material, computed once."""

    def compute() -> Bias:
        needs = material.need("generators"), material.labels, _rankings(material), material.need("scores")
        return bias(*needs, material.cut, METRIC, placed=material.placed)

    found: Bias = material.once("bias", compute)
    return found


def models(material: Material) -> tuple[Block, ...]:
    """Every model, its HR bounded by what is judged, its AUC with and without its own finds."""
    table, k = bias_facts(material).models, material.cut
    columns = (
        Column("model", "model"),
        Column("generator", "generator", "flag"),
        Column("hr_official", f"VSD-HR@{k}", "share", formula="precision at k over queries with a similar pair"),
        Column("judged", f"judged@{k} = ceiling", "share", formula="labelled among the first k; HR cannot exceed it"),
        Column("hr_most", "HR at most", "share", formula="HR + 1 - judged: were all unlabelled places similar"),
        Column("rbp", "RBP", "value", formula="p = 0.8; lower end"),
        Column("rbp_upper", "RBP at most", "value", formula="RBP + residual"),
        Column("auc", "macro ROC-AUC", "value", formula="annotated negatives"),
        Column("self_removed", "own finds removed", "value", formula="without pairs that only the model proposed"),
        Column("shift", "shift", "signed"),
    )
    places = (
        Column("model", "model"),
        Column("rank_hr_official", "place by HR", "count"),
        Column("rank_auc", "place by AUC", "count"),
        Column("rank_self_removed", "place, own finds removed", "count"),
    )
    told = table.sort_values(["generator", "hr_official"], ascending=[False, False])
    rows: list[Any] = told.to_dict(orient="records")
    found: list[Block] = [Table("bias", "Generators and outsiders", columns, rows)]
    found.append(
        Figure(
            "ceiling",
            f"VSD-HR@{k} and its ceiling",
            "ceiling",
            {
                "labels": [row["model"] for row in rows],
                "marks": [not row["generator"] for row in rows],
                "values": [row["hr_official"] for row in rows],
                "highs": [row["judged"] for row in rows],
                "most": [row["hr_most"] for row in rows],
            },
            "The bar is HR; the mark is its ceiling, the share of places that have a label; the faint part is what"
            " missing labels could add.",
        )
    )
    both = [row for row in rows if not any(np.isnan(row[name]) for name in ("hr_official", "auc"))]
    if len(both) > 1:
        found.append(
            Figure(
                "order",
                "Order by HR against order by AUC",
                "slopes",
                {
                    "labels": [row["model"] for row in both],
                    "marks": [not row["generator"] for row in both],
                    "sides": [f"VSD-HR@{k}", "macro ROC-AUC", "own finds removed"],
                    "ranks": [[row["rank_hr_official"], row["rank_auc"], row["rank_self_removed"]] for row in both],
                },
                "Lines that cross are models whose order depends on the measure; outsiders are dashed.",
            )
        )
    found.append(Table("places", "Places of the models", places, rows, "details"))
    return tuple(found)  # fmt: skip


def groups(material: Material) -> tuple[Block, ...]:
    """Means of both sides, and how far the orders agree."""
    told = bias_facts(material)
    orders, outsiders = told.orders, int((~told.models["generator"]).sum())
    found: list[Block] = [
        say("Order by HR against order by AUC: Kendall's tau_b {tau}; against the AUC without own finds {own}.",
            tau=Number(orders["tau_b_hr_auc"]), own=Number(orders["tau_b_hr_self_removed"])),
    ]  # fmt: skip
    if not outsiders:
        found.append(say("There is no outsider: every model here made the pool, so the sides cannot be compared. Bring"
                         " vectors of another model (eds embeddings compute, or import) to see"
                         " it.", "warn"))  # fmt: skip
    else:
        names = {"hr_official": f"VSD-HR@{material.cut}", "judged": f"judged@{material.cut}", "rbp": "RBP",
                 "auc": "macro ROC-AUC", "self_removed": "macro ROC-AUC, own finds removed"}  # fmt: skip
        rows: list[Any] = [{**row, "measure": names.get(row["measure"], row["measure"])} for row in
                told.groups.to_dict(orient="records")]  # fmt: skip
        columns = (
            Column("measure", "mean of"),
            Column("generators", "generators", "value"),
            Column("outsiders", "outsiders", "value"),
            Column("difference", "difference", "signed", formula="generators - outsiders"),
        )
        caption = "In the last row both sides are judged on pools that they had no part in: it is the fair comparison."
        found.append(Table("sides", "Generators against outsiders", columns, rows, caption))
    low, high = (dict(zip(told.models["model"], told.models[name], strict=True)) for name in ("rbp", "rbp_upper"))
    every = len(low) * (len(low) - 1) // 2
    found.append(say("By RBP the labels there are leave {open} of {every} pairs of models undecided: their intervals"
                     " overlap.", open=count(len(undecided_by_labels(low, high))), every=count(every)))  # fmt: skip
    return tuple(found)


def reuse(material: Material) -> tuple[Block, ...]:
    """Each generator as if it were new, and the verdict for each measure."""
    truth = material.labels
    lists, rankings = material.need("generators"), _rankings(material)
    if lists["model"].nunique() < 2:
        raise Missing(material.gaps.get("generators", NOT_TWO))
    scores, placed = material.need("scores"), material.placed

    def of(metric: str) -> pd.DataFrame:
        return reusability_table(lists, truth, rankings, material.cut, [metric], scores, placed)

    with ThreadPoolExecutor(2) as pool:
        table = pd.concat(list(pool.map(of, REUSED)), ignore_index=True)
    rows: list[dict[str, Any]] = []
    for name, part in table.groupby("metric", sort=False):
        tau = float(part["kendall_tau_b"].min())
        moved = int((part["rank_full"] - part["rank_unpooled"]).abs().max())
        fair = fair_to_new(part)
        rows.append({"metric": REUSED[str(name)], "drop": float(part["drop"].max()), "rise": float(-part["drop"].min()),
                     "moved": moved, "tau": tau, "tau_ap_b": float(part["tau_ap_b"].min()),
                     "verdict": "fair to new models" if fair else "not fair to new models"})  # fmt: skip
    columns = (
        Column("metric", "measure"),
        Column("verdict", "verdict",
               formula=f"fair: no change above {SMALL}, and tau_b of the orders at least {KEPT}"),
        Column("drop", "largest drop", "signed"),
        Column("rise", "largest rise", "signed"),
        Column("moved", "places moved, at most", "count"),
        Column("tau", "least tau_b", "value"),
        Column("tau_ap_b", "least tau_AP,b", "value"),
    )  # fmt: skip
    shown: list[Any] = [{**row, "metric": REUSED[row["metric"]]} for row in table.to_dict(orient="records")]
    detail = (
        Column("metric", "measure"),
        Column("model", "model"),
        Column("unique_pairs", "own pairs", "count"),
        Column("unique_positives", "own similar", "count"),
        Column("full", "pooled", "value"),
        Column("unpooled", "as if new", "value"),
        Column("drop", "drop", "signed"),
        Column("rank_full", "place", "count"),
        Column("rank_unpooled", "place as if new", "count"),
    )
    return (
        say("Each generator in turn is treated as a model that comes later: its own finds lose their labels. A measure"
            " that hardly changes can be trusted for models that had no part in the pool.", "note"),
        Table("verdicts", "Which measures are fair to new models", columns, rows),
        Table("reuse", "Each generator as if it were new", detail, shown, "details"),
    )  # fmt: skip


def _rankings(material: Material) -> pd.DataFrame | None:
    """Lists, needed only where no ranks are known."""
    return material.rankings if material.placed is not None else material.need("rankings")


PARTS = (models, groups, reuse)
