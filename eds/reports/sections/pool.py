"""What the pool found: the share of similar pairs by model and rank, prevalence and recall, and what judging cost."""

from dataclasses import asdict, replace
from typing import Any

from eds.analysis import Judging, Plan, RandomTarget, budget
from eds.analysis.all_pairs import population
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
from eds.reports.inputs import PAIR, ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.suspects import positive_rates

NO_RANDOM = Gap(
    "No random pairs are judged, so prevalence and the pool's recall are unknown.",
    "eds suspects random -n 2000, have them judged, then eds truth decide",
)
FEW_RANDOM = Gap(
    "Random pairs are drawn, but fewer than 95 % of those outside the pool have a label.",
    "have them judged (eds labels serve), then eds truth decide",
)
RECALL = "{recall} of all similar pairs (interval {low} to {high})"
NO_SOURCES = Gap("It is unknown which model proposed which pair, so there are no rates by model.", "eds suspects pool")


def pool_report(inputs: ReportInputs) -> dict[str, Any]:
    """`eds.analysis.pool_report` of these inputs, computed once."""

    def compute() -> dict[str, Any]:
        tables = inputs.require("images"), inputs.require("suspects"), inputs.require("truth")
        return compute_pool_report(*tables, inputs.confidence)

    report: dict[str, Any] = inputs.cached("pool", compute)
    return report


def answer(inputs: ReportInputs) -> Sentence | None:
    """What was found, and what it cost beside judging all pairs."""
    pool = pool_report(inputs)["pool"]
    if not pool["labelled"]:
        return None
    plans = {plan.name: plan for plan in plan_costs(inputs)}
    filled = {"positive": count(pool["positive"]), "labelled": count(pool["labelled"])}
    words = "{positive} of {labelled} judged pairs are similar"
    if mine := plans.get("pool, as it is"):
        filled |= {"hours": Number(mine.hours, "hours"), "all": Number(plans["all pairs"].hours, "hours")}
        words += "; judging the pool takes {hours}, all pairs {all}"
    return state("found", words + ".", **filled)


def rates(inputs: ReportInputs) -> Blocks:
    """The positive rate p_k of the pool, of each model and at each rank."""
    report = pool_report(inputs)
    pool, models = report["pool"], report["models"]
    own_products = report["product_pairs"] == "left out"
    blocks: list[Block] = [
        say(
            "Of {pairs} pairs in all, at least {lower} are similar (p_LB), as {positive} of {labelled} judged pairs of"
            " the pool are.",
            positive=count(pool["positive"]),
            labelled=count(pool["labelled"]),
            pairs=count(report["pairs"]),
            lower=share(report["p_lower_bound"]),
        )
    ]
    if pool["labelled"] < pool["pairs"]:
        blocks.append(warn("{left} pairs of the pool have no label yet.", left=count(pool["pairs"] - pool["labelled"])))
    if own_products:
        blocks.append(note("Pairs of the same product are not counted here, as the random pairs exclude them."))
    if report["pool_pairs_left_out"]:
        blocks.append(
            warn(
                "{left} pairs of the pool are not a query and a candidate (by images.role)"
                + (" or show the same product" if own_products else "")
                + ", and are excluded here.",
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
            Column("positives_only_here", "only here", "count", formula="similar pairs that no other model proposed")
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
            "Above 0 at the last rank: a deeper pool would find more similar pairs.",
        ),
    )


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
    random = pool_report(inputs)["random"]
    if not random:
        raise Missing(NO_RANDOM)
    if not random["enough"]:
        raise Missing(FEW_RANDOM)
    posterior, confidence = random["posterior"], f"{inputs.confidence:.0%}"
    rows = [
        {
            "estimate": "share of the random pairs",
            "value": random["a"] / random["n"] if random["n"] else None,
            "low": random["exact_low"],
            "high": random["exact_high"],
            "formula": f"a / b; Clopper-Pearson interval at {confidence}",
        },
        {
            "estimate": "most likely (MAP)",
            "value": random["p_map"],
            "low": None,
            "high": None,
            "formula": "max(p_lb, a / b)",
        },
        {
            "estimate": "posterior mean",
            "value": posterior["mean"],
            "low": posterior["lower"],
            "high": posterior["upper"],
            "formula": f"Beta(a+1, b-a+1) above p_lb; equal tails at {confidence}",
        },
    ]
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
    if gain := random["discovery"]:
        blocks.append(
            say(
                "Judging a pair of the pool finds {gain} as many similar pairs as judging a random pair, and at least"
                " {least} at the limit of the interval.",
                gain=Number(gain["gain"], "times"),
                least=Number(gain["at_least"], "times"),
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
        counted = "; pairs of the same product are not counted." if report["product_pairs"] == "left out" else "."
        strata = (
            Column("stratum", "stratum"),
            Column("N", "pairs", "count"),
            Column("n", "labelled", "count"),
            Column("a", "similar", "count"),
        )
        blocks += [
            say(
                "The pool contains {recall} of all similar pairs (interval {low} to {high})" + counted,
                **_recall(estimate),
            ),
            *_without_same_product(inputs),
            Table("strata", "Random pairs outside the pool", strata, report["strata"], detail=True),
        ]
    if unseen:
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


def _recall(estimate: dict[str, Any]) -> dict[str, Number | str]:
    return {"recall": share(estimate["recall"]), "low": share(estimate["lower"]), "high": share(estimate["upper"])}


def without_same_product(inputs: ReportInputs) -> dict[str, Any] | None:
    """The same estimate without pairs of one product, where the universe has some and the pool excludes them by rule.

    `one_product`: how many pairs that are; `similar`: the number of similar random pairs; `recall` is None where the
    random pairs come from strata whose pairs of one product were never counted.
    """

    def compute() -> dict[str, Any] | None:
        images, suspects, truth = inputs.require("images"), inputs.require("suspects"), inputs.require("truth")
        whole = population(images, suspects)
        without = replace(whole, apart=True)
        left = without.holds(suspects)
        pool, random = suspects["origin"] == "pool", suspects["origin"] == "random"
        if whole.apart or whole.size == without.size or (pool & ~left).any():
            return None
        drawn = suspects[random]
        value = drawn[PAIR].merge(truth[[*PAIR, "value"]], on=PAIR, how="left")["value"].to_numpy() == 1
        result = {
            "one_product": whole.size - without.size,
            "similar": int(value.sum()),
            "similar_of_one_product": int((value & ~left[random]).sum()),
            "recall": None,
        }
        if set(drawn["stratum"]) == {"all"} and (random & left).any():
            chance = int((random & left).sum()) / without.size
            kept = suspects[~random | left]
            kept = kept.assign(probability=kept["probability"].where(kept["origin"] != "random", chance))
            result["recall"] = compute_pool_report(images, kept, truth, inputs.confidence)["recall"]
        return result

    result: dict[str, Any] | None = inputs.cached("without_same_product", compute)
    return result


def _without_same_product(inputs: ReportInputs) -> Blocks:
    """That similar pairs of one product count as missed where the pool excludes them by rule."""
    result = without_same_product(inputs)
    if result is None:
        return ()
    blocks: list[Block] = [
        note(
            "All pairs include {pairs} pairs of the same product, which the pool excludes by rule. Those among them"
            " that are similar count as missed: {own} of the {similar} similar random pairs.",
            pairs=count(result["one_product"]),
            own=count(result["similar_of_one_product"]),
            similar=count(result["similar"]),
        )
    ]
    if result["recall"]:
        blocks.append(
            say(f"Without pairs of the same product, the pool contains {RECALL}.", **_recall(result["recall"]))
        )
    return tuple(blocks)


def plan_costs(inputs: ReportInputs) -> tuple[Plan, ...]:
    """`eds.analysis.budget` of this project, computed once."""
    plans: tuple[Plan, ...] = inputs.cached("plans", lambda: _plan_costs(inputs))
    return plans


def _plan_costs(inputs: ReportInputs) -> tuple[Plan, ...]:
    images, report = inputs.require("images"), pool_report(inputs)
    roles = images["role"].value_counts()
    both, queries, candidates = (int(roles.get(name, 0)) for name in ("both", "query", "candidate"))
    random, positives = report["random"], report["pool"]["positive"]
    target = RandomTarget()
    if random and random["enough"] and random["p_map"] and positives:
        target = RandomTarget(positives, max(random["p_map"], report["p_lower_bound"]))
    return budget(
        queries + both,
        candidates + both,
        max(len(inputs.pool_models), len(report["models"]), 1),
        inputs.k,
        Judging(inputs.experts, _seconds(inputs), inputs.hourly),
        n_queries_in_gallery=both,
        pool_size=report["pool"]["pairs"] or None,
        random=target,
    )


def cost(inputs: ReportInputs) -> Blocks:
    """What judging costs: all pairs, the pool, random pairs."""
    plans = plan_costs(inputs)
    columns = [
        Column("name", "plan"),
        Column("pairs", "pairs", "count"),
        Column("judgements", "judgements", "count", formula="pairs x experts"),
        Column("hours", "hours", "hours", formula="judgements x seconds / 3600, without breaks"),
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
            "{experts} experts judge every pair, at {seconds} per judgement ({source}).",
            experts=count(inputs.experts),
            seconds=Number(_seconds(inputs), "seconds"),
            source="as set in eds.toml" if inputs.judging is None else "measured",
        ),
        Table("cost", "What judging costs", tuple(columns), [asdict(plan) for plan in plans]),
        Figure("cost", "Hours of judging", log_chart, chart, "Logarithmic axis."),
    )


def _seconds(inputs: ReportInputs) -> float:
    """Seconds for a judgement: measured, or else as planned."""
    if inputs.judging is not None:
        seconds = inputs.judging.acts["seconds"].dropna()
        if len(seconds) and float(seconds.mean()) > 0:
            return float(seconds.mean())
    return inputs.seconds


SECTION = SectionSpec(
    title="What the pool found",
    question="How many pairs are similar, how many were missed, and what did it cost?",
    order=20,
    inputs=("images", "suspects", "truth", "pool_lists", "judging"),
    parts=(rates, rates_by_rank, prevalence, recall, cost),
    answer=answer,
)
