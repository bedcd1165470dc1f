"""`eds analysis prevalence`: what the pool yields, how rare positives are, how many the pool has missed."""

from typing import Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import confidence, one_of
from eds.cli.render import format_share, format_table
from eds.project.analysis_store import keep

COLUMNS = ["image_id", "product_id", "role"]  # of table images: what tells all pairs


@command(None, "prevalence", example="eds analysis prevalence --json")
@confidence
@click.option(
    "--limits", type=one_of(choices.RecallLimits), default="simultaneous",
    help="Of the pool's recall where several strata were drawn: simultaneous are sure and wide, squared about right.",
)  # fmt: skip
def prevalence(console: Console, confidence: float, limits: str) -> None:
    """Tell positive rates of pool, models and ranks; p over all pairs; the pool's recall; what nobody found."""
    from eds.analysis import AnalysisInputs, analyse
    from eds.project.inputs import Inputs

    inputs = Inputs(console.project)
    truth = inputs.decided_pairs()
    known = AnalysisInputs(inputs.images(), inputs.suspects, truth)
    document = analyse("prevalence", known, confidence=confidence, limits=limits)
    kept = keep(console.project, "prevalence", document, ["images", "suspects", "truth"])
    console.answer(document, lambda: f"{_told(document, confidence)}\n{kept}")


def _told(document: dict[str, Any], level: float) -> str:
    pool, lower = document["pool"], document["p_lower_bound"]
    parts = [
        f"The pool: {pool['pairs']:,} of {document['pairs']:,} pairs, {pool['labelled']:,} labelled, "
        f"{pool['positive']:,} of them similar: p_k = {_share(pool)} (limits at {level:.0%})."
    ]
    if document["product_pairs"] == "left out":
        parts.append("Pairs of one product count nowhere, as the random pairs leave them out.")
    if document["pool_pairs_left_out"]:
        shows = ", or show one product" if document["product_pairs"] == "left out" else ""
        parts.append(f"{document['pool_pairs_left_out']:,} pairs of the pool are left out: they are not among all pairs"
                     f" (of a query with a candidate, by images.role){shows}.")  # fmt: skip
    if document["models"]:
        rows = [
            [one["model"], one["pairs"], one["labelled"], one["positive"], _share(one), one["pairs_only_here"],
             one["positives_only_here"]]
            for one in document["models"]
        ]  # fmt: skip
        heads = ["model", "pairs", "labelled", "similar", "p_k", "only here", "similar only here"]
        parts += ["", format_table(heads, rows)]
        ranks = [[one["rank"], one["labelled"], one["positive"], _share(one)] for one in document["ranks"]]
        parts += ["", "By rank, all models together:", format_table(["rank", "labelled", "similar", "rate"], ranks)]
    else:
        parts.append("Which model proposed what is not told, so there are no rates by model and rank.")
    parts += ["", f"p, the share of similar pairs among all: at least {lower:.4%} (those that the pool holds)."]
    parts += [*_random(document, level), *_recall(document, level), *_unseen(document)]
    return "\n".join(parts)


def _random(document: dict[str, Any], level: float) -> list[str]:
    random = document["random"]
    if not random and document["stratified"]:
        return [_by_strata(document["stratified"])]
    if not random:
        return ["No random pairs are drawn: draw some (eds suspects random -n 2000) and have them judged."]
    if not random["enough"]:
        left = random["drawn"] - random["n"]
        return [
            f"Of {random['drawn']:,} random pairs {left:,} have no label: have them judged, then p can be estimated."
        ]
    posterior = random["posterior"]
    lines = [
        f"Random pairs: {random['a']:,} of {random['n']:,} similar. Most likely p = {random['p_map']:.4%}; posterior "
        f"mean {posterior['mean']:.4%}, {level:.0%} from {posterior['lower']:.4%} to {posterior['upper']:.4%}; exact "
        f"limits {random['exact_low']:.4%} to {random['exact_high']:.4%}."
    ]
    if random["chebyshev_at_half"]:
        lines.append(f"Off by half or more with a chance of {format_share(random['chebyshev_at_half']['tight'])} "
                     "at most (Chebyshev).")  # fmt: skip
    if random["discovery"]:
        gain = random["discovery"]
        lines.append(
            f"A judgement of the pool finds {gain['gain']:,.0f} times what one of a random pair finds, "
            f"at least {gain['at_least']:,.0f} times."
        )
    return lines


def _by_strata(found: dict[str, float]) -> str:
    if found["p"] != found["p"]:
        return "Random pairs are drawn from a part of the pairs outside the pool only: what p is they do not tell."
    error = found["standard_error_p"]
    told = f", with a standard error of {error:.4%}" if error == error else ""
    return f"By the pool and the random pairs of each stratum p = {found['p']:.4%}{told}."


def _recall(document: dict[str, Any], level: float) -> list[str]:
    recall = document["recall"]
    if recall is None:
        return []
    rows = [[one["stratum"], one["N"], one["n"], one["a"]] for one in document["strata"]]
    low, high = recall["lower"], recall["upper"]
    return [
        "",
        format_table(["outside the pool", "pairs", "labelled", "similar"], rows),
        f"The pool holds {format_share(recall['recall'])} of all similar pairs, {level:.0%} from {format_share(low)} "
        f"to {format_share(high)}.",
    ]


def _unseen(document: dict[str, Any]) -> list[str]:
    unseen = document["unseen"]
    if not unseen:
        return []
    counts = ", ".join(f"{count:,} by {j}" for j, count in enumerate(unseen["found_by_exactly"], 1))
    return [
        f"Similar pairs by how many models found them: {counts}. By Chao's bound there are at least "
        f"{unseen['chao2_total']:,.0f}; as models err alike, there are more."
    ]


def _share(told: dict[str, Any]) -> str:
    if told["rate"] is None:
        return "n/a"
    return f"{format_share(told['rate'])} [{format_share(told['low'])}, {format_share(told['high'])}]"
