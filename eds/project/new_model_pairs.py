"""`eds suspects add MODEL`: the delta pool of a new model, what it decides and what it costs."""

from typing import TYPE_CHECKING, Any

from eds.project.pool import append, chosen, decided

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

PAIR = ["query_id", "candidate_id"]


def add_delta(project: "Project", model: str, k: int | None, n: int | None) -> dict[str, Any]:
    """Put the pairs whose judgement would decide where the model stands behind the suspects; what was done."""
    from eds.analysis.campaign_cost import campaign_cost
    from eds.project.labelled_pairs import measured_pairs
    from eds.project.pool_models import final_lists
    from eds.project.report_inputs import pool_depth
    from eds.suspects import benchmark_labels, draw_delta

    deep = k or pool_depth(project)
    truth, before = measured_pairs(project), chosen(project)
    lists = final_lists(project, [model], deep)
    seed = project.config.project.seed
    judged, queries = benchmark_labels(_judged(project), before), truth["query_id"].drop_duplicates()
    found = draw_delta(lists, before, judged, queries, deep, n, seed, known=decided(project))
    if found.chosen or found.known:
        append(project, found.suspects, "suspects.add", {"arguments": [model], "k": k, "n": n})
    pay = project.config.budget
    cost = campaign_cost(found.chosen, pay.experts, pay.seconds, hourly=pay.hourly)
    return {
        "model": model, "k": deep, "places": found.places, "judged": found.judged, "waiting": found.waiting,
        "added": found.chosen, "known": found.known, "left": found.left, "judged_after": found.judged_after,
        "undecided_with": _undecided(project, model, deep, truth, lists),
        "cost": {"experts": pay.experts, "judgements": cost.judgements, "hours": cost.hours, "money": cost.money,
                 "currency": pay.currency},
    }  # fmt: skip


def _judged(project: "Project") -> "pd.DataFrame":
    """Pairs that have a label, and those that somebody answered: asked again, they would tell nothing new."""
    import pandas as pd

    from eds.project.decide import has_votes, read_votes
    from eds.project.labelled_pairs import decided_pairs

    truth = decided_pairs(project)
    if not has_votes(project):
        return truth[PAIR]
    return pd.concat([truth[PAIR], read_votes(project).labels[PAIR]], ignore_index=True).drop_duplicates()


def _undecided(
    project: "Project", model: str, k: int, truth: "pd.DataFrame", lists: "pd.DataFrame"
) -> list[dict[str, Any]]:
    """The models with lists between which and this one the labels do not decide, and the fewest labels that could."""
    import pandas as pd

    from eds.analysis.bias import undecided_by_labels
    from eds.analysis.fairness import intervals, least_to_decide
    from eds.metrics import Measure
    from eds.metrics.judged_lists import judge, read_rankings
    from eds.pairs import LabelledPairs
    from eds.project.pool_models import final_lists, mined_to

    others = [name for name in project.models("neighbors") if name != model and mined_to(project, name) >= k]
    if not others:
        return []
    labelled = LabelledPairs.from_frame(truth)
    every = pd.concat([lists, final_lists(project, others, k)], ignore_index=True)
    low, high = intervals(judge(read_rankings(every), None, labelled), Measure("VSD-HR", k))
    step = 1 / (k * max(int((labelled.positives > 0).sum()), 1))
    return [
        {"model": other, "least": least_to_decide((low[model], high[model]), (low[other], high[other]), step)}
        for pair in undecided_by_labels(low, high)
        if model in pair
        for other in pair
        if other != model
    ]
