"""Leave-one-out: every model's AUC without each generator's labels, and whether the order of the models stays."""

from typing import Any

from eds.analysis import leave_one_out
from eds.reports.document import Block, Column, Figure, Table, count, say
from eds.reports.facts.evidence import span, warning
from eds.reports.material import Material

METRICS = {"macro_roc_auc": "macro ROC-AUC", "micro_roc_auc": "micro ROC-AUC"}
MODES = {
    "unique": "labels of pairs that the model alone proposed fall away",
    "all": "labels of every pair that the model proposed fall away",
}


def left_out(material: Material, metric: str, mode: str) -> dict[str, Any]:
    """`eds.analysis.leave_one_out` of this material, computed once."""

    def compute() -> dict[str, Any]:
        lists, labels = material.need("generators"), material.labels
        return leave_one_out(lists, labels, material.need("scores"), metric, mode)

    found: dict[str, Any] = material.once(f"loo {metric} {mode}", compute)
    return found


def evaluated(material: Material) -> tuple[Block, ...]:
    """The evaluated models' side: mean and spread over the removed generators."""
    found: list[Block] = []
    for mode, meaning in MODES.items():
        told = left_out(material, "macro_roc_auc", mode)
        n = f"n = {told['n_labels']:,} labels, of which {span(told['n_labels_kept'].values())} are left without a model"
        rows: dict[str, dict[str, Any]] = {}
        for metric in METRICS:
            told = left_out(material, metric, mode)
            for name, full in told["full"].items():
                row = rows.setdefault(name, {"model": name, "generator": name in told["loo"]})
                row |= {
                    f"{metric} full": full,
                    f"{metric} mean": told["mean"][name],
                    f"{metric} std": told["std"][name],
                    f"{metric} shift": told["self_removal_shift"].get(name),
                }
        columns: list[Column] = [Column("model", "model"), Column("generator", "generator", "flag")]
        for metric, label in METRICS.items():
            columns += [
                Column(f"{metric} full", f"{label}", "value", formula="on all labels"),
                Column(f"{metric} mean", "mean", "value", formula=f"over n = {len(told['loo'])} removed generators"),
                Column(f"{metric} std", "± spread", "value", formula="population standard deviation"),
                Column(f"{metric} shift", "itself removed", "signed", formula="loo[m][m] - full[m]"),
            ]
        found.append(
            Table(
                f"loo_{mode}",
                f"Evaluated models, mode {mode}",
                tuple(columns),
                list(rows.values()),
                f"Mode {mode}: {meaning}; {n}." if mode == "unique" else "details",
            )
        )
    return tuple(found)  # fmt: skip


def removed(material: Material) -> tuple[Block, ...]:
    """The removed models' side: whether the order of all stays."""
    found: list[Block] = []
    for mode in MODES:
        rows: list[dict[str, Any]] = []
        for metric, label in METRICS.items():
            told = left_out(material, metric, mode)
            for name, one in told["spearman"].items():
                rows.append({
                    "removed": name, "measure": label, "labels_kept": told["n_labels_kept"][name],
                    "labels": told["n_labels"], "models": len(told["full"]), **one,
                })  # fmt: skip
        columns = (
            Column("removed", "removed"),
            Column("measure", "measure"),
            Column("labels_kept", "labels kept", "count"),
            Column("models", "models", "count"),
            Column("rho", "Spearman", "value", formula="between all labels and those kept"),
            Column("p_exact", "exact p", "p", formula="all pairings of up to 8 models"),
            Column("p_t", "p by t", "p", formula="Spearman's t, n - 2 degrees of freedom"),
            Column("tau_ap", "tau_AP", "value", formula="weighs the top; undefined where values tie"),
            Column("tau_ap_b", "tau_AP,b", "value", formula="the same for ties, both ways"),
        )
        found.append(
            Table(
                f"order_{mode}",
                f"Whether the order stays, mode {mode}: {MODES[mode]}",
                columns,
                rows,
                "" if mode == "unique" else "details",
            )
        )
    return tuple(found)


def drawing(material: Material) -> tuple[Block, ...]:
    """Every model's value when each generator in turn is removed."""
    metric = "macro_roc_auc"
    told = left_out(material, metric, "unique")
    names = sorted(told["full"], key=lambda name: -told["full"][name])
    data = {
        "labels": names, "values": [told["full"][name] for name in names], "kind": "value",
        "points": [[row[name] for row in told["loo"].values()] for name in names],
        "point_names": list(told["loo"]),
    }  # fmt: skip
    return (
        *warning(material),
        say("{n} labels; {nobody} of them are of pairs that no generator proposed.", "note", n=count(told["n_labels"]),
            nobody=count(told["n_labels_nobody_proposed"])),
        Figure("loo", "Macro ROC-AUC when a generator is removed", "spread", data,
               "A line marks the value on all labels; each point is the value without one generator's own finds;"
               " the orange one is without the model's own."),
    )  # fmt: skip


PARTS = (drawing, evaluated, removed)
