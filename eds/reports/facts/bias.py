"""Whom the pool favours: generators against outsiders, order by HR against order by AUC, which measures are fair."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis import Bias, bias, reusability_table, undecided_by_labels
from eds.analysis.fairness import KEPT, SMALL, fair_to_new
from eds.reports.document import Block, Column, Figure, Gap, Missing, Number, Table, count, say
from eds.reports.facts.evidence import WITHOUT, behind_all, scored, span, unscored, warning
from eds.reports.facts.robustness import left_out
from eds.reports.material import Material

METRIC = "macro_roc_auc"
NOT_TWO = Gap("A single model made the pool.", "eds suspects pool, with the lists of several models")
ON_LISTS = {"hr_official": "VSD-HR@{k}", "mrr_official": "VSD-MRR@{k}", "hit_rate": "hit rate@{k}", "mrr": "MRR@{k}",
            "rbp": "RBP (p = 0.8)", "bpref": "bpref"}  # fmt: skip
AREAS = {"macro_roc_auc": "macro ROC-AUC", "macro_pr_auc": "macro PR-AUC", "micro_roc_auc": "micro ROC-AUC",
         "micro_pr_auc": "micro PR-AUC"}  # fmt: skip
SAMPLED = ", sampled"  # how measures on drawn negatives are called
SHARES = ("hr_official", "hit_rate", "judged")  # shown in percent, here as everywhere


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
        Column("judged", f"ceiling of VSD-HR@{k}", "share",
               formula="labelled among the first k, of queries with a similar pair: VSD-HR cannot exceed it"
               f" (judged@{k} is the same of all queries)"),
        Column("hr_most", f"VSD-HR@{k} at most", "share",
               formula="VSD-HR + 1 - ceiling: were all unlabelled places similar"),
        Column("rbp", "RBP", "value", formula="p = 0.8; lower end"),
        Column("rbp_upper", "RBP at most", "value", formula="RBP + residual"),
        Column("auc", "macro ROC-AUC", "value", formula="annotated negatives"),
        Column("self_removed", "own finds removed", "value", formula="without pairs that only the model proposed"),
        Column("shift", "shift", "signed", formula="own finds removed - macro ROC-AUC"),
    )  # fmt: skip
    places = (
        Column("model", "model"),
        Column("rank_hr_official", f"place by VSD-HR@{k}", "count"),
        Column("rank_auc", "place by macro ROC-AUC", "count"),
        Column("rank_self_removed", "place, own finds removed", "count"),
    )
    told = table.sort_values(["generator", "hr_official"], ascending=[False, False])
    rows: list[Any] = told.to_dict(orient="records")
    kept = left_out(material, METRIC, "unique")["n_labels_kept"].values()
    n = behind_all(material.results, {f"VSD-HR@{k}": f"VSD-HR@{k} and its ceiling", "RBP(p=0.8)": "RBP",
                                      "ROC-AUC(average=macro,negatives=annotated)": "macro ROC-AUC"})  # fmt: skip
    caption = f"Behind each number: {n}; own finds removed: {span(kept)} of {len(material.labels):,} labels are left."
    found: list[Block] = [*warning(material), Table("bias", "Generators and outsiders", columns, rows, caption)]
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
            "The bar is VSD-HR; the mark is its ceiling, the share of places that have a label; the faint part is what"
            " missing labels could add.",
        )
    )
    both = [row for row in rows if not any(np.isnan(row[name]) for name in ("hr_official", "auc"))]
    if len(both) > 1:
        found.append(
            Figure(
                "order",
                f"Order by VSD-HR@{k} against order by AUC",
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
        say("Order by VSD-HR against order by macro ROC-AUC: Kendall's tau_b {tau}; against the AUC without own finds"
            " {own} (n = {n} models).", tau=Number(orders["tau_b_hr_auc"]), own=Number(orders["tau_b_hr_self_removed"]),
            n=count(len(told.models))),
    ]  # fmt: skip
    if not outsiders:
        found.append(say("There is no outsider: every model here made the pool, so the sides cannot be compared. Bring"
                         " vectors of another model (eds embeddings compute, or import) to see"
                         " it.", "warn"))  # fmt: skip
    else:
        cut = material.cut
        names = {"hr_official": f"VSD-HR@{cut}", "judged": f"ceiling of VSD-HR@{cut}", "rbp": "RBP",
                 "auc": "macro ROC-AUC", "self_removed": "macro ROC-AUC, own finds removed"}  # fmt: skip
        rows: list[Any] = [{**row, "measure": names.get(row["measure"], row["measure"]), **_looks(row["measure"])}
                           for row in told.groups.to_dict(orient="records")]  # fmt: skip
        columns = (
            Column("measure", "mean of"),
            Column("generators", "generators", "value", kind_of="look"),
            Column("outsiders", "outsiders", "value", kind_of="look"),
            Column("difference", "difference", "signed", formula="generators - outsiders", kind_of="change"),
        )
        caption = (
            "In the last row both sides are judged on pools that they had no part in: it is the fair comparison. Means"
            f" over n = {len(told.models) - outsiders} generators and n = {outsiders} outsiders."
        )
        found.append(Table("sides", "Generators against outsiders", columns, rows, caption))
    low, high = (dict(zip(told.models["model"], told.models[name], strict=True)) for name in ("rbp", "rbp_upper"))
    every = len(low) * (len(low) - 1) // 2
    found.append(say("By RBP the labels there are leave {open} of {every} pairs of models undecided: their intervals"
                     " overlap.", open=count(len(undecided_by_labels(low, high))), every=count(every)))  # fmt: skip
    return tuple(found)


def reuse(material: Material) -> tuple[Block, ...]:
    """Each generator as if it were new, and the verdict for each measure."""
    lists, rankings = material.need("generators"), _rankings(material)
    if lists["model"].nunique() < 2:
        raise Missing(material.gaps.get("generators", NOT_TWO))
    scores, placed = material.need("scores"), material.placed
    reused = _reused(material)

    def of(name: str) -> pd.DataFrame:
        metric, labels = reused[name]
        told = reusability_table(lists, labels, rankings, material.cut, [metric], scores, placed)
        return told.assign(name=name, **_looks(metric))

    with ThreadPoolExecutor(2) as pool:
        table = pd.concat(list(pool.map(of, reused)), ignore_index=True)
    lacking, rows = {side: unscored(material, side) for side in ("annotated", "sampled")}, []
    for name, part in table.groupby("name", sort=False):
        tau = float(part["kendall_tau_b"].min())
        moved = int((part["rank_full"] - part["rank_unpooled"]).abs().max())
        fair, metric = fair_to_new(part), str(part["metric"].iloc[0])
        verdict = "fair to new models" if fair else "not fair to new models"
        if metric in AREAS and lacking["sampled" if str(name).endswith(SAMPLED) else "annotated"]:
            verdict = WITHOUT
        rows.append({"metric": str(name), "n": int(part["drop"].notna().sum()),
                     "drop": float(part["drop"].clip(lower=0).max()),
                     "rise": float((0.0 - part["drop"]).clip(lower=0).max()),
                     "moved": moved, "tau": tau, "tau_ap_b": float(part["tau_ap_b"].min()),
                     "verdict": verdict, **_looks(metric)})  # fmt: skip
    columns = (
        Column("metric", "measure"),
        Column("verdict", "verdict",
               formula=f"fair: no change above {SMALL}, and tau_b of the orders at least {KEPT}"),
        Column("n", "generators", "count", formula="that were treated as new, each in turn"),
        Column("drop", "largest drop", "signed", kind_of="change", formula="pooled - as if new; 0 where none dropped"),
        Column("rise", "largest rise", "signed", kind_of="change", formula="as if new - pooled; 0 where none rose"),
        Column("moved", "places moved, at most", "count"),
        Column("tau", "least tau_b", "value", formula="Kendall's, of all models' order before and after"),
        Column("tau_ap_b", "least tau_AP,b", "value", formula="the same, weighing the top; for ties, both ways"),
    )  # fmt: skip
    shown: list[Any] = [{**row, "metric": row["name"]} for row in table.to_dict(orient="records")]
    detail = (
        Column("metric", "measure"),
        Column("model", "model"),
        Column("unique_pairs", "own pairs", "count", formula="that no other model proposed"),
        Column("unique_positives", "own similar", "count"),
        Column("full", "pooled", "value", kind_of="look", formula="on all labels"),
        Column("unpooled", "as if new", "value", kind_of="look", formula="own pairs without a label"),
        Column("drop", "drop", "signed", kind_of="change", formula="pooled - as if new"),
        Column("rank_full", "place", "count"),
        Column("rank_unpooled", "place as if new", "count"),
    )
    return (
        say("Each generator in turn is treated as a model that comes later: its own finds lose their labels. A measure"
            " that hardly changes can be trusted for models that had no part in the pool.", "note"),
        *warning(material),
        Table("verdicts", "Which measures are fair to new models", columns, rows,
              "Measures on codes, and judged and prevalence, which tell of the labels only, get no verdict."),
        Table("reuse", "Each generator as if it were new", detail, shown, "details"),
    )  # fmt: skip


def _reused(material: Material) -> dict[str, tuple[str, pd.DataFrame]]:
    """Every measure of the section on scores that can be told so: its name in words, in the library, its labels."""
    labels = material.labels
    found = {called.format(k=material.cut): (name, labels) for name, called in ON_LISTS.items()}
    found |= {called: (name, labels) for name, called in AREAS.items()}
    if material.negatives is not None:
        drawn = scored(material, "sampled")[0].to_frame()
        found |= {f"{called}{SAMPLED}": (name, drawn) for name, called in AREAS.items()}
    return found


def _looks(metric: str) -> dict[str, str]:
    """How values of the measure, and their changes, are shown."""
    return {"look": "share", "change": "points"} if metric in SHARES else {"look": "value", "change": "signed"}


def _rankings(material: Material) -> pd.DataFrame | None:
    """Lists, needed only where no ranks are known."""
    return material.rankings if material.placed is not None else material.need("rankings")


PARTS = (models, groups, reuse)
