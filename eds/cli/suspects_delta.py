"""`eds suspects add MODEL`: the delta pool of a new model, what it decides and what it costs."""

from typing import TYPE_CHECKING, Any

from eds.cli.console import Console, typed
from eds.cli.pooling import append, chosen, decided, percent

if TYPE_CHECKING:
    import pandas as pd

    from eds.workspace import Project

PAIR = ["query_id", "candidate_id"]
NEXT = (
    "Next: eds labels campaigns add NAME --undecided --expert EXPERT; when they have judged, eds truth decide, eds"
    " metrics score."
)


def add_delta(console: Console, model: str, k: int | None, n: int | None) -> dict[str, Any]:
    """Put the pairs whose judgement would decide where the model stands behind the suspects; what was done."""
    from eds.analysis.campaign_cost import campaign_cost
    from eds.cli.generators import final_lists
    from eds.cli.project_pairs import measured_pairs
    from eds.cli.report_material import pool_depth
    from eds.suspects import benchmark_labels, draw_delta

    project = console.project
    deep = k or pool_depth(project)
    truth, before = measured_pairs(project), chosen(project)
    lists = final_lists(console, [model], deep)
    seed = project.config.project.seed
    judged, queries = benchmark_labels(_judged(project), before), truth["query_id"].drop_duplicates()
    found = draw_delta(lists, before, judged, queries, deep, n, seed, known=decided(project))
    if found.chosen or found.known:
        append(project, found.suspects, typed("eds suspects add", {"k": k, "n": n}, model))
    pay = project.config.budget
    cost = campaign_cost(found.chosen, pay.experts, pay.seconds, hourly=pay.hourly)
    return {
        "model": model, "k": deep, "places": found.places, "judged": found.judged, "waiting": found.waiting,
        "added": found.chosen, "known": found.known, "left": found.left, "judged_after": found.judged_after,
        "undecided_with": _undecided(console, model, deep, truth, lists),
        "cost": {"experts": pay.experts, "judgements": cost.judgements, "hours": cost.hours, "money": cost.money,
                 "currency": pay.currency},
    }  # fmt: skip


def told_delta(document: dict[str, Any]) -> str:
    """What was added, what it decides and costs, and what comes next."""
    model, added, left, k = (document[name] for name in ("model", "added", "left", "k"))
    share = document["judged"] / document["places"] if document["places"] else float("nan")
    waits = f"; {document['waiting']:,} wait among the suspects already" if document["waiting"] else ""
    lines = [
        f"Of the first {k} places of {model}, {document['judged']:,} of {document['places']:,} are judged "
        f"({percent(share)}){waits}."
    ]
    if document["known"]:
        lines.append(
            f"{document['known']:,} have a label already, as random pairs: it counts from now on (eds metrics score)."
        )
    if not added:
        return f"{' '.join(lines)} Nothing is left to add." + (f"\n{NEXT}" if document["waiting"] else "")
    rest = f"; {left:,} more are open" if left else ""
    lines.append(
        f"Added {added:,} pairs that nobody judged, those of the first places first{rest}. When all are judged, "
        f"{percent(document['judged_after'])} of these places are."
    )
    for one in document["undecided_with"]:
        least = "its labels alone cannot decide" if one["least"] is None else f"at least {one['least']:,} labels decide"
        lines.append(f"Undecided with {one['model']} by VSD-HR@{k}: {least}.")
    cost = document["cost"]
    money = f", {cost['currency']} {cost['money']:,.2f}" if cost["money"] is not None else ""
    lines.append(
        f"{cost['experts']} experts: {cost['judgements']:,.0f} judgements, {cost['hours']:,.1f} hours{money} "
        "(eds.toml, [budget])."
    )
    return "\n".join([*lines, NEXT])


def _judged(project: "Project") -> "pd.DataFrame":
    """Pairs that have a label, and those that somebody answered: asked again, they would tell nothing new."""
    import pandas as pd

    from eds.cli.project_pairs import decided_pairs
    from eds.cli.truth import any_acts, labels_of

    truth = decided_pairs(project)
    if not any_acts(project):
        return truth[PAIR]
    return pd.concat([truth[PAIR], labels_of(project, None)[0][PAIR]], ignore_index=True).drop_duplicates()


def _undecided(
    console: Console, model: str, k: int, truth: "pd.DataFrame", lists: "pd.DataFrame"
) -> list[dict[str, Any]]:
    """The models with lists between which and this one the labels do not decide, and the fewest labels that could."""
    import pandas as pd

    from eds.analysis.bias import undecided_by_labels
    from eds.analysis.fairness import intervals, least_to_decide
    from eds.cli.generators import final_lists, mined_to
    from eds.metrics import Measure
    from eds.metrics.labelled import read_labels
    from eds.metrics.lists import read_rankings

    project = console.project
    others = [name for name in project.models("neighbors") if name != model and mined_to(project, name) >= k]
    if not others:
        return []
    labelled = read_labels(truth)
    every = pd.concat([lists, final_lists(console, others, k)], ignore_index=True)
    low, high = intervals(read_rankings(every).judged(labelled), Measure("VSD-HR", k))
    step = 1 / (k * max(int((labelled.positives > 0).sum()), 1))
    return [
        {"model": other, "least": least_to_decide((low[model], high[model]), (low[other], high[other]), step)}
        for pair in undecided_by_labels(low, high)
        if model in pair
        for other in pair
        if other != model
    ]
