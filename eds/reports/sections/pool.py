"""What the pool found: the share of similar pairs by model and rank, prevalence and recall, and what judging cost."""

from dataclasses import asdict
from typing import Any

from eds.analysis.analyses.prevalence import Prevalence
from eds.analysis.analyses.prevalence import pool_report as compute_pool_report
from eds.reports.charts import line_chart, log_chart
from eds.reports.document import (
    Block,
    Column,
    Figure,
    Gap,
    Missing,
    Number,
    Sentence,
    Table,
    count,
    note,
    say,
    share,
    state,
    warn,
)
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.numbers import shown, undefined
from eds.reports.sections import Blocks, SectionSpec
from eds.suspects import positive_rates
from eds.suspects.budget import Judging, Plan, RandomTarget, Scope, budget
from eds.universe import UNIT_NAMES

NO_RANDOM = Gap(
    "No random pairs are judged, so prevalence and the pool's recall are unknown.",
    "eds suspects random -n 2000, have them judged, then eds truth decide",
)
SHARE = "{value} of all similar pairs (interval {low} to {high})"
NO_SOURCES = Gap("It is unknown which model proposed which pair, so there are no rates by model.", "eds suspects pool")


def pool_facts(inputs: ReportInputs) -> Prevalence:
    """`eds.analysis.pool_report` of these inputs, computed once."""

    def compute() -> Prevalence:
        tables = inputs.require("universe"), inputs.require("suspects"), inputs.require("truth")
        return compute_pool_report(*tables, inputs.confidence)

    facts: Prevalence = inputs.cached("prevalence", compute)
    return facts


def pool_report(inputs: ReportInputs) -> dict[str, Any]:
    """The document of `pool_facts`."""
    report: dict[str, Any] = inputs.cached("pool", lambda: pool_facts(inputs).to_dict())
    return report


def answer(inputs: ReportInputs) -> Sentence | None:
    """What was found, and what it cost beside judging all pairs."""
    pool = pool_report(inputs)["pool"]
    if not pool["labelled"]:
        return None
    plans = {plan.name: plan for plan in plan_costs(inputs)}
    filled: dict[str, Number | str] = {"positive": count(pool["positive"]), "labelled": count(pool["labelled"])}
    filled["unit"] = UNIT_NAMES[pool_report(inputs)["universe"]["unit"]]
    words = "{positive} of {labelled} judged {unit} are similar"
    if mine := plans.get("pool, as it is"):
        filled |= {"hours": Number(mine.hours, "hours"), "all": Number(plans["all pairs"].hours, "hours")}
        words += "; judging the pool takes {hours}, all pairs {all}"
    return state("found", words + ".", **filled)


def rates(inputs: ReportInputs) -> Blocks:
    """The positive rate p_k of the pool, of each model and at each rank."""
    report = pool_report(inputs)
    pool, models = report["pool"], report["models"]
    blocks: list[Block] = [
        say(
            "The universe is {pairs} {unit}; {known} are known to be similar, so at least {lower} are (p_LB).",
            known=count(report["known_positives"]),
            pairs=count(report["pairs"]),
            unit=UNIT_NAMES[report["universe"]["unit"]],
            lower=share(report["p_lower_bound"]),
        )
    ]
    if pool["labelled"] < pool["pairs"]:
        blocks.append(warn("{left} pairs of the pool have no label yet.", left=count(pool["pairs"] - pool["labelled"])))
        if pool["whole_rate"]["value"] is not None:
            blocks.append(
                say(
                    "By the order in which the pool was judged, {value} of the whole pool are similar (interval {low}"
                    " to {high}).",
                    **_estimate(pool["whole_rate"]),
                )
            )
    if report["universe"]["unit"] == "product":
        blocks.append(
            note(
                "A query and a product are similar if any judged image of the product is. {several} of these pairs have"
                " several judged images, and {torn} of those have images with both labels.",
                torn=count(pool["disagreeing"]),
                several=count(pool["several_images"]),
            )
        )
    if report["pool_pairs_left_out"]:
        blocks.append(
            warn(
                "{left} pairs of the pool are not in the universe, and are excluded here.",
                left=count(report["pool_pairs_left_out"]),
            )
        )
    judged = (
        Column("labelled", "labelled", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "p_k", "share", "low", "high", "similar / labelled; interval over queries"),
    )
    whole = {"model": "the pool", **pool, "positives_only_here": None}
    columns = [Column("model", "proposed by"), Column("pairs", "pairs", "count"), *judged]
    if models:
        columns.append(
            Column(
                "positives_only_here",
                "similar, only here",
                "count",
                formula="similar pairs that no other model proposed",
            )
        )
    blocks.append(
        Table(
            "rates",
            "What each model contributed",
            tuple(columns),
            [*models, whole],
        )
    )
    if not models:
        return (*blocks, NO_SOURCES)
    ranks = [{**row, "place": row["rank"] + 1} for row in report["ranks"]]
    by_rank = {"x": [row["place"] for row in ranks], "kind": "share", "x_label": "rank", **_intervals(ranks)}
    return (
        *blocks,
        Table("ranks", "p_k by rank, all models", (Column("place", "rank", "count"), *judged), ranks, detail=True),
        Figure(
            "ranks",
            "p_k by rank",
            line_chart,
            by_rank,
            _last_rank(ranks),
        ),
    )


def _last_rank(ranks: list[dict[str, Any]]) -> str:
    """What the last rank says of a deeper pool: similar pairs beyond a rank at which there are many are likely."""
    last = ranks[-1]
    if not last["labelled"]:
        return "Nothing is judged at the last rank."
    if not last["positive"]:
        return "No similar pair was found at the last rank."
    rate = shown(last["rate"], "share")
    return f"Of the proposals at the last rank {rate} are similar: a deeper pool would probably find more."


def _intervals(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    fields = {"values": "rate", "low": "low", "high": "high"}
    return {argument: [row[field] for row in rows] for argument, field in fields.items()}


def rates_by_rank(inputs: ReportInputs) -> Blocks:
    """p_k of each model at each rank of its lists, in the files."""
    if not pool_report(inputs)["models"]:
        return ()
    by_rank = positive_rates(inputs.require("pool_lists"), inputs.labels, inputs.confidence).by_model_and_rank
    rows = [
        {"model": name, "place": rank + 1, **rate.to_dict()}
        for name, ranks in by_rank.items()
        for rank, rate in enumerate(ranks)
    ]
    columns = (
        Column("model", "model"),
        Column("place", "rank", "count"),
        Column("labelled", "labelled", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "p_k", "share", "low", "high", "similar / labelled, at this rank of this model's lists"),
    )
    return (Table("places", "p_k by model and rank", columns, rows, detail=True),)


def prevalence(inputs: ReportInputs) -> Blocks:
    """The share p of similar pairs among all pairs, estimated from random pairs."""
    report = pool_report(inputs)
    random = report["random"]
    if not random:
        raise Missing(NO_RANDOM)
    posterior, confidence = random["posterior"], f"{100 * inputs.confidence:g} %"
    rows = [
        {
            "estimate": "share of the random pairs",
            "value": random["rate"],
            "low": random["exact_low"],
            "high": random["exact_high"],
            "formula": f"a / b; Clopper-Pearson interval at {confidence}, not below p_lb",
        },
        {
            "estimate": "most likely (MAP)",
            "value": random["p_map"],
            "low": None,
            "high": None,
            "formula": "max(p_lb, a / b)",
        },
    ]
    if posterior:
        rows.append(
            {
                "estimate": "posterior mean",
                "value": posterior["mean"],
                "low": posterior["lower"],
                "high": posterior["upper"],
                "formula": f"Beta(a+1, b-a+1) above p_lb; equal tails at {confidence}",
            }
        )
    if pairs := report["p_of_image_pairs"]:
        number = f"{report['universe']['image_pairs']:,}"
        rows.append({"estimate": "of all pairs of images", **pairs, "formula": f"the paper's p, over {number} pairs"})
    columns = (
        Column("estimate", "prevalence p, the share of similar pairs"),
        Column("value", "value", "share", "low", "high"),
    )
    blocks: list[Block] = [
        say(
            "{n} of {drawn} uniformly random pairs have a label; {a} are similar.",
            n=count(random["n"]),
            drawn=count(random["drawn"]),
            a=count(random["a"]),
        ),
        Table("prevalence", "How rare similar pairs are", columns, rows),
    ]
    if not random["enough"]:
        blocks.append(
            warn(
                "{left} random pairs have no label: the intervals are widened by them, all similar or all not.",
                left=count(random["drawn"] - random["n"]),
            )
        )
    if report["draws_left_out"]:
        blocks.append(
            note(
                "{left} random pairs are left out: they were drawn from an earlier, larger universe.",
                left=count(report["draws_left_out"]),
            )
        )
    gain = report["gain"]
    if gain and gain["value"] is not None:
        blocks.append(
            say(
                "Judging a pair of the pool finds {gain} as many similar pairs as judging a random pair (interval {low}"
                " to {high}).",
                gain=Number(gain["value"], "times"),
                low=Number(gain["low"], "times"),
                high=Number(gain["high"], "times"),
            )
        )
    return tuple(blocks)


def recall(inputs: ReportInputs) -> Blocks:
    """How many of all similar pairs the pool contains."""
    report = pool_report(inputs)
    estimate, unseen = report["recall"], report["unseen"]
    blocks: list[Block] = []
    if estimate is None:
        blocks.append(NO_RANDOM)
    else:
        strata = (
            Column("stratum", "stratum"),
            Column("N", "pairs", "count"),
            Column("n", "labelled", "count"),
            Column("a", "similar", "count"),
        )
        if undefined(estimate["recall"]):
            blocks.append(
                say("Which share of all similar pairs the pool contains cannot be estimated from these labels.")
            )
        else:
            blocks += [
                say(f"The pool contains {SHARE}, judged or not.", **_estimate(estimate, "recall", "lower", "upper")),
                say(f"Found so far, random pairs included: {SHARE}.", **_estimate(report["found"])),
            ]
        blocks += [
            Table("strata", "Random pairs outside the pool", strata, report["strata"], detail=True),
        ]
    if unseen and sum(unseen["found_by_exactly"]):
        rows = [{"models": number, "pairs": pairs} for number, pairs in enumerate(unseen["found_by_exactly"], start=1)]
        blocks += [
            note(
                "By Chao's lower bound (Chao2) there are at least {total} similar pairs, and the pool contains at most"
                " {recall} of them.",
                total=count(unseen["chao2_total"]),
                recall=share(unseen["chao2_recall"]),
            ),
            Table(
                "found_by",
                "Similar pairs by the number of models that proposed them",
                (Column("models", "models", "count"), Column("pairs", "similar pairs", "count")),
                rows,
                detail=True,
            ),
        ]
    return tuple(blocks)


def _estimate(
    estimate: dict[str, float | None], value: str = "value", low: str = "low", high: str = "high"
) -> dict[str, Number | str]:
    """An estimated share and its limits, as a sentence takes them."""
    return {"value": share(estimate[value]), "low": share(estimate[low]), "high": share(estimate[high])}


def plan_costs(inputs: ReportInputs) -> tuple[Plan, ...]:
    """`eds.suspects.budget` of this project, computed once."""
    plans: tuple[Plan, ...] = inputs.cached("plans", lambda: _plan_costs(inputs))
    return plans


def _plan_costs(inputs: ReportInputs) -> tuple[Plan, ...]:
    report = pool_report(inputs)
    positives, p, target = report["pool"]["positive"], report["p"], RandomTarget()
    if p and p["value"] and positives:
        target = RandomTarget(positives, max(p["value"], report["p_lower_bound"]))
    models = max(len(inputs.pool_models), len(report["models"]), 1)
    return budget(
        Scope.of_universe(inputs.require("universe"), models, inputs.k),
        Judging(inputs.experts, inputs.seconds, inputs.hourly),
        pool_size=report["pool"]["image_pairs"] or None,
        random=target,
    )


def cost(inputs: ReportInputs) -> Blocks:
    """What judging costs: all pairs, the pool, random pairs."""
    plans = plan_costs(inputs)
    columns = [
        Column("name", "plan"),
        Column("pairs", "pairs", "count"),
        Column("hours", "hours", "hours", formula="pairs x experts x seconds / 3600, without breaks"),
        Column("times_fewer", "reduction", "times", formula="all pairs / pairs"),
    ]
    if inputs.hourly:
        columns.append(Column("money", f"cost, {inputs.currency}", "count"))
    bars = [plan for plan in plans if plan.name != "pool, at most"]
    chart = {
        "labels": [plan.name for plan in bars],
        "kind": "hours",
        "values": [plan.hours for plan in bars],
    }
    return (
        say(
            "Hours are for {experts} experts per pair (eds.toml) and {seconds} per judgement ({source}).",
            experts=count(inputs.experts),
            seconds=Number(inputs.seconds, "seconds"),
            source="measured" if inputs.seconds_measured else "as set in eds.toml",
        ),
        Table("cost", "What judging costs", tuple(columns), [asdict(plan) for plan in plans]),
        Figure("cost", "Hours of judging", log_chart, chart, "Logarithmic axis."),
    )


SECTION = SectionSpec(
    title="What the pool found",
    question="How many pairs are similar, how many were missed, and what did it cost?",
    order=20,
    inputs=("images", "universe", *LABEL_INPUTS, "pool_lists", "judging"),
    parts=(rates, rates_by_rank, prevalence, recall, cost),
    answer=answer,
)
