"""`eds analysis leave-one-out` and `reusability`: whether the models' order hangs on who made the pool."""

from typing import Any, get_args

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import comparing, one_of
from eds.cli.render import format_table
from eds.project.analysis_inputs import TABLES, compared
from eds.project.analysis_store import keep

AUCS = tuple(f"{area}(average={average})" for average in ("macro", "micro") for area in ("ROC-AUC", "PR-AUC"))
REUSED = ("VSD-HR@5", "ROC-AUC", "bpref", "RBP")


@command(None, "leave-one-out", example="eds analysis leave-one-out --mode unique --mode all")
@click.option(
    "-M", "--measure", "measures", metavar="MEASURE", multiple=True, default=AUCS, help="As ROC-AUC(average=micro)."
)
@click.option(
    "--mode",
    "modes",
    type=one_of(choices.LeaveOneOutMode),
    multiple=True,
    default=get_args(choices.LeaveOneOutMode),
    help="unique: labels of pairs that it alone proposed fall away; all: of every pair that it proposed.",
)
@comparing
def leave_one_out(console: Console, measures: tuple[str, ...], modes: tuple[str, ...], **chosen: Any) -> None:
    """Take each generator's labels away: every model's AUC, and whether the order of the models stays."""
    from eds.analysis import analyse
    from eds.metrics import Measure

    asked = tuple(map(Measure.parse, measures))
    inputs = compared(console.project, whole=False, **chosen).inputs
    found = analyse("leave-one-out", inputs, measures=asked, modes=modes)
    kept = keep(console.project, "leave-one-out", found, TABLES)
    console.answer(found, lambda: "\n\n".join([*(_told_left_out(mode, found) for mode in modes), kept]))


@command(None, "reusability", example="eds analysis reusability -k 6 -M VSD-HR@5 -M bpref")
@click.option(
    "-M", "--measure", "measures", metavar="MEASURE", multiple=True, default=REUSED, help="As RR@10; several may be."
)
@comparing
def reusability(console: Console, measures: tuple[str, ...], **chosen: Any) -> None:
    """Tell how each generator would fare had it been new: its own finds unjudged, all models scored anew."""
    from eds.analysis import analyse
    from eds.metrics import Measure

    asked = tuple(map(Measure.parse, measures))
    with_pool = any(measure.definition.counts_pooled for measure in asked)
    inputs = compared(console.project, with_pool=with_pool, **chosen).inputs
    document = analyse("reusability", inputs, measures=asked)
    kept = keep(console.project, "reusability", document, TABLES)
    console.answer(document, lambda: f"{_told_reusability(document)}\n\n{kept}")


def _told_left_out(mode: str, found: list[dict[str, Any]]) -> str:
    """One mode: a table of the evaluated models and one of the removed, a column for each measure."""
    mine = [one for one in found if one["mode"] == mode]
    metrics = [one["measure"] for one in mine]
    evaluated = [
        [name, "yes" if name in mine[0]["loo"] else "no", *(_spread(one, name) for one in mine)]
        for name in mine[0]["full"]
    ]
    removed = [
        [name, kept, *(_kept_order(one["spearman"][name]) for one in mine)]
        for name, kept in mine[0]["n_labels_kept"].items()
    ]
    nobody = mine[0]["n_labels_nobody_proposed"]
    return "\n".join(
        [
            f"Mode {mode}: {mine[0]['n_labels']:,} labels"
            + (f", {nobody:,} of them of pairs that nobody proposed." if nobody else "."),
            "Evaluated models: on all labels; mean and spread when each generator in turn is removed; shift when the"
            " model itself is; beside a PR-AUC the share of similar pairs it rests on, its chance level.",
            format_table(["evaluated", "generator", *metrics], evaluated),
            "",
            "Removed models: whether the order of all models stays (Spearman; exact p, t approximation; tau_AP,b).",
            format_table(["removed", "labels kept", *metrics], removed),
        ]
    )


def _spread(told: dict[str, Any], name: str) -> str:
    shift = told["self_removal_shift"].get(name)
    own = "" if shift is None else f"; {shift:+.3f}" if shift == shift else "; n/a"
    chance = f"; chance {_figure(told['prevalence'][name])}" if told["measure"].startswith("PR-AUC") else ""
    full, mean, std = (_figure(told[kind][name], 4) for kind in ("full", "mean", "std"))
    return f"{full}; {mean} ± {std}{own}{chance}"


def _figure(value: float, decimals: int = 3) -> str:
    return "n/a" if value != value else f"{value:.{decimals}f}"


def _kept_order(told: dict[str, float]) -> str:
    if told["rho"] != told["rho"]:
        return "n/a"
    exact = told["p_exact"]
    shown = "n/a" if exact is None or exact != exact else f"{exact:.3f}"
    return f"{told['rho']:.2f} (p {shown}, t {told['p_t']:.3f}; {_figure(told['tau_ap_b'], 2)})"


def _told_reusability(document: dict[str, Any]) -> str:
    names = ["measure", "model", "unique_pairs", "unique_positives", "full", "unpooled", "drop", "rank_full",
             "rank_unpooled", "kendall_tau_b"]  # fmt: skip
    table = document["models"]
    rows = table[names].astype(object).to_numpy().tolist()
    summary = [list(one.values()) for one in document["measures"]]
    heads = ["measure", "largest drop", "largest rise", "mean drop", "largest move", "least tau_b", "least tau_AP,b"]
    return "\n".join(
        [
            "Each generator as if it were new (its own finds unjudged):",
            format_table(
                ["metric", "model", "own pairs", "own similar", "pooled", "as new", "drop", "rank",
                 "rank as new", "tau_b"],
                rows,
            ),
            "",
            "A benchmark serves new models on the measures that change little:",
            format_table(heads, summary),
        ]
    )  # fmt: skip
