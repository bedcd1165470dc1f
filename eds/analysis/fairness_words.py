"""Why a measure is fair to a new model, or is not, in words: for the command line and for the report."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from eds.analysis.fairness import FAIR, SELF_REMOVED


def reason(row: Mapping[str, Any], makers: Sequence[str], reuse: pd.DataFrame) -> str:
    """Why a row of `Fairness.verdicts` has its verdict; `makers` made the pool, `reuse` comes with the verdicts."""
    kind, good = row["kind"], row["verdict"] == FAIR
    if kind == "ceiling":
        places = row["measure"].partition("@")[2].partition("(")[0]
        of = f"its first {places} places" if places else "its places"
        bound = f": it cannot exceed that by now, and would be {row['at_most']:.3f} were all others similar"
        if good:
            return f"{row['judged']:.1%} of {of} are judged"
        return f"only {row['judged']:.1%} of {of} are judged{bound if row['at_most'] == row['at_most'] else ''}"
    if kind == "interval":
        return f"missing labels leave it between {row['value']:.3f} and {row['at_most']:.3f}"
    if kind in ("own finds", "reuse"):
        changes = f"models that made the pool change by {row['change']:.3f} at most without their own finds' labels"
        if row["verdict"] != SELF_REMOVED:
            return changes
        return f"{changes}, for labelled negatives are their own mistakes; {_own_removed(row['measure'], reuse)}"
    if kind == "makers not known" and len(makers) > 1:
        return f"of the models that made the pool ({', '.join(makers)}) fewer than two are scored here: leave out -m"
    if kind == "makers not known":
        few = f"only {', '.join(makers)} made the pool" if makers else "it is not known which models made the pool"
        return f"{few}; name the models that did, with vectors or lists: --pool-model MODEL"
    return "it has no lists" if kind == "no lists" else "it needs no labels"


def decided_by(name: str, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """By which measures the labels there are decide between a new model and all others; by which not, and with whom."""
    mine = [row for row in rows if row["model"] == name and row["undecided_with"] is not None]
    sure = [row["measure"] for row in mine if not row["undecided_with"]]
    unsure = [f"{row['measure']} (with {', '.join(row['undecided_with'])})" for row in mine if row["undecided_with"]]
    return sure, unsure


def _own_removed(measure: str, reuse: pd.DataFrame) -> str:
    """Each maker's value without the pairs that only it proposed: what a new model's AUC is compared with."""
    mine = reuse[reuse["measure"] == measure]
    result = [f"{model} {value:.3f}" for model, value in zip(mine["model"], mine["unpooled"], strict=True)]
    return f"compare with their values without these: {', '.join(result)}"
