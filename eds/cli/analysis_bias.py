"""`eds analysis bias`: whom the pool favours, and whether the order by HR is that by AUC."""

from typing import Any

import click

from eds.cli.console import Console, command
from eds.cli.options import comparing
from eds.cli.render import format_table
from eds.project.analysis_inputs import TABLES, compared
from eds.project.analysis_store import keep


@command(None, "bias", example="eds analysis bias --generator beit --generator clip --cut 5")
@click.option("--cut", type=click.IntRange(1), default=5, help="Cut-off of HR and of what is judged.")
@click.option("-M", "--measure", metavar="MEASURE", default="ROC-AUC", help="The AUC that is compared with HR.")
@comparing
def bias(console: Console, cut: int, measure: str, **chosen: Any) -> None:
    """Compare the models that made the pool with those that did not, by HR, AUC and what pooling does to them."""
    from eds.analysis import analyse
    from eds.metrics import Measure

    auc = Measure.parse(measure)
    inputs = compared(console.project, **chosen).inputs
    document = {"cut": cut, **analyse("bias", inputs, k=cut, auc=auc)}
    kept = keep(console.project, "bias", document, TABLES)
    console.answer(document, lambda: f"{_told(document)}\n\n{kept}")


def _told(document: dict[str, Any]) -> str:
    cut, table = document["cut"], document["models"]
    names = [
        "model",
        "generator",
        "hr",
        "judged",
        "hr_at_most",
        "rbp",
        "rbp_at_most",
        "auc",
        "self_removed",
        "shift",
    ]
    heads = ["model", "generator", f"VSD-HR@{cut}", f"judged@{cut}", "HR at most", "RBP", "RBP at most", "AUC",
             "without its own", "shift"]  # fmt: skip
    if document["measures"]["auc"].startswith("PR-AUC"):  # which is read against its chance level
        names.append("prevalence")
        heads.append("chance level of AUC")
    rows = table[names].astype(object).to_numpy().tolist()
    orders = document["orders"]
    lines = [
        f"Every model, its HR bounded by what is judged; AUC is {document['measures']['auc']}, on all labels and"
        " without the pairs that only the model itself proposed:",
        format_table(heads, rows),
        "",
    ]
    if table["generator"].all():
        lines.append("There is no outsider: every model made the pool, so that the groups cannot be compared.")
    else:
        groups = document["groups"].astype(object).to_numpy().tolist()
        lines += ["Means of both groups; what favours those who made the pool is a difference above 0:",
                  format_table(["measure", "generators", "outsiders", "difference"], groups)]  # fmt: skip
    lines += [
        "",
        f"Order by HR against order by AUC: Kendall's tau_b {_figure(orders['tau_b_hr_auc'])}, tau_AP,b "
        f"{_figure(orders['tau_ap_b_hr_auc'])}; against the AUC without own pairs "
        f"{_figure(orders['tau_b_hr_self_removed'])} and {_figure(orders['tau_ap_b_hr_self_removed'])}.",
    ]
    pairs = document["undecided_by_rbp"]
    every = len(table) * (len(table) - 1) // 2
    some = pairs[:6] if len(pairs) < every else []
    named = ", ".join(" and ".join(pair) for pair in some) + (", ..." if some and len(pairs) > len(some) else "")
    lines.append(
        f"The labels there are do not decide between {len(pairs):,} of {every:,} pairs of models by RBP"
        + (f": {named}." if named else ".")
    )
    return "\n".join(lines)


def _figure(value: float) -> str:
    return "n/a" if value != value else f"{value:.2f}"
