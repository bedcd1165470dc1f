"""Which models the pool favours: pool models against new models, order by HR against AUC, which measures are fair."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd

from eds.analysis import AnalysisInputs, Bias, reusability_table
from eds.analysis import bias as compute_bias
from eds.analysis.fairness import KEPT, SMALL, fair_to_new
from eds.metrics import Measure
from eds.reports.coverage import UNKNOWN, sample_sizes, span, unscored, warning
from eds.reports.document import Column, Gap, Missing, Table
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.robustness import left_out

AUC = Measure("ROC-AUC")
ONE_MODEL = Gap("A single model built the pool.", "eds suspects pool, with the lists of several models")
SAMPLED = ", sampled"  # the end of the label of a measure on sampled negatives
SHARES = ("VSD-HR", "Success", "Judged")  # shown as percentages, here as everywhere


def analysis_inputs(inputs: ReportInputs) -> AnalysisInputs:
    """What bias and reusability are computed from."""
    return AnalysisInputs(
        pool_lists=inputs.require("pool_lists"),
        labels=inputs.labels,
        rankings=inputs.rankings if inputs.placed is not None else inputs.require("rankings"),
        ranks=inputs.placed,
        scores=inputs.require("scores"),
        negatives=inputs.negatives,
    )


def bias(inputs: ReportInputs) -> Bias:
    """`eds.analysis.bias` of these inputs, computed once."""
    result: Bias = inputs.cached("bias", lambda: compute_bias(analysis_inputs(inputs), inputs.cut, AUC))
    return result


def models(inputs: ReportInputs) -> Blocks:
    """Every model: its HR and what missing labels could add, its AUC with and without its own pairs."""
    k = inputs.cut
    table = bias(inputs).models.sort_values(["generator", "hr"], ascending=[False, False])
    rows: list[Any] = table.to_dict(orient="records")
    columns = (
        Column("model", "model"),
        Column("generator", "pool model", "flag"),
        Column("hr", f"VSD-HR@{k}", "share", formula="precision at k over queries with a similar pair"),
        Column(
            "judged",
            f"ceiling of VSD-HR@{k}",
            "share",
            formula="labelled among the first k, over queries with a similar pair: VSD-HR cannot exceed it"
            f" (judged@{k} is the same over all queries)",
        ),
        Column("hr_at_most", f"VSD-HR@{k} at most", "share", formula="VSD-HR + 1 - ceiling: all unlabelled similar"),
        Column("rbp", "RBP", "value", formula="p = 0.8; lower bound"),
        Column("rbp_at_most", "RBP at most", "value", formula="RBP + residual"),
        Column("auc", "macro ROC-AUC", "value", formula="annotated negatives"),
        Column("self_removed", "without own pairs", "value", formula="without pairs that only this model proposed"),
        Column("shift", "shift", "signed", formula="without own pairs - macro ROC-AUC"),
    )
    kept = span(left_out(inputs, AUC, "unique")["n_labels_kept"].values())
    measured = {
        f"VSD-HR@{k}": f"VSD-HR@{k} and its ceiling",
        "RBP(p=0.8)": "RBP",
        "ROC-AUC(average=macro,negatives=annotated)": "macro ROC-AUC",
    }
    sizes = sample_sizes(inputs.results, measured)
    caption = f"Sample sizes: {sizes}; without own pairs: {kept} of {len(inputs.labels):,} labels are left."
    return (
        *warning(inputs),
        Table("bias", "Every model on all labels, and without its own pairs", columns, rows, caption, detail=True),
    )


def reuse(inputs: ReportInputs) -> Blocks:
    """Each pool model as if it were new, and the verdict for each measure."""
    if inputs.require("pool_lists")["model"].nunique() < 2:
        raise Missing(inputs.gaps.get("pool_lists", ONE_MODEL))
    measures, analysed = _measures(inputs), analysis_inputs(inputs)

    def compute(label: str) -> pd.DataFrame:
        measure = measures[label]
        return reusability_table(analysed, [measure]).assign(name=label, **_kinds(measure))

    with ThreadPoolExecutor(2) as pool:
        table = pd.concat(list(pool.map(compute, measures)), ignore_index=True)
    missing = {side: unscored(inputs, side) for side in ("annotated", "sampled")}
    rows = []
    for label, part in table.groupby("name", sort=False):
        measure = measures[str(label)]
        verdict = "fair to new models" if fair_to_new(part) else "not fair to new models"
        if measure.definition.needs == "scores" and missing[measure.parameters["negatives"]]:
            verdict = UNKNOWN
        rows.append(
            {
                "metric": str(label),
                "n": int(part["drop"].notna().sum()),
                "drop": float(part["drop"].clip(lower=0).max()),
                "rise": float((0.0 - part["drop"]).clip(lower=0).max()),
                "moved": int((part["rank_full"] - part["rank_unpooled"]).abs().max()),
                "tau": float(part["kendall_tau_b"].min()),
                "tau_ap_b": float(part["tau_ap_b"].min()),
                "verdict": verdict,
                **_kinds(measure),
            }
        )
    verdicts = (
        Column("metric", "measure"),
        Column("verdict", "verdict", formula=f"fair: no change above {SMALL}, and tau_b of the orders at least {KEPT}"),
        Column("drop", "largest drop", "signed", kind_of="change", formula="pooled - as if new; 0 where none dropped"),
        Column("rise", "largest rise", "signed", kind_of="change", formula="as if new - pooled; 0 where none rose"),
        Column("moved", "largest rank change", "count"),
    )
    details: list[Any] = [{**row, "metric": row["name"]} for row in table.to_dict(orient="records")]
    columns = (
        Column("metric", "measure"),
        Column("model", "model"),
        Column("unique_pairs", "own pairs", "count", formula="that no other model proposed"),
        Column("unique_positives", "similar own pairs", "count"),
        Column("full", "pooled", "value", kind_of="look", formula="on all labels"),
        Column("unpooled", "as if new", "value", kind_of="look", formula="own pairs without a label"),
        Column("drop", "drop", "signed", kind_of="change", formula="pooled - as if new"),
        Column("rank_full", "rank", "count"),
        Column("rank_unpooled", "rank as if new", "count"),
    )
    return (
        Table(
            "verdicts",
            "Which measures are fair to new models",
            verdicts,
            rows,
            "Each pool model in turn is treated as new: the pairs that only it proposed lose their labels.",
        ),
        Table("reuse", "Each pool model as if it were new", columns, details, detail=True),
    )


def _measures(inputs: ReportInputs) -> dict[str, Measure]:
    """The measures of `reuse` by label."""
    k = inputs.cut
    measures = {
        f"VSD-HR@{k}": Measure("VSD-HR", k),
        f"VSD-MRR@{k}": Measure("VSD-MRR", k),
        f"hit rate@{k}": Measure("Success", k),
        f"MRR@{k}": Measure("RR", k),
        "RBP (p = 0.8)": Measure("RBP"),
        "bpref": Measure("bpref"),
    }
    for negatives, end in {"annotated": "", "sampled": SAMPLED}.items():
        if negatives == "annotated" or inputs.negatives is not None:
            measures |= {
                f"{average} {area}{end}": Measure(area, average=average, negatives=negatives)
                for average in ("macro", "micro")
                for area in ("ROC-AUC", "PR-AUC")
            }
    return measures


def _kinds(measure: Measure) -> dict[str, str]:
    """How values of the measure, and their changes, are formatted."""
    return {"look": "share", "change": "points"} if measure.name in SHARES else {"look": "value", "change": "signed"}


SECTION = SectionSpec(
    title="Which models the pool favours",
    question="Models that built the pool against those that did not.",
    order=90,
    inputs=("suspects", "truth", "results", "scores", "negatives", "pool_lists", "rankings", "placed"),
    parts=(reuse, models),
)
