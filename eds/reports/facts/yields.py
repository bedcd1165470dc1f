"""What the pool found: p_k of pool, models and ranks; p and recall with limits; what judging cost."""

from dataclasses import asdict, replace
from typing import Any

from eds.analysis import budget
from eds.analysis.all_pairs import population
from eds.analysis.pool_report import pool_report
from eds.reports.document import Block, Column, Figure, Gap, Missing, Number, Table, count, say, share
from eds.reports.material import PAIR, Material
from eds.suspects import positive_rate_by_rank

RATE = ("rate", "low", "high")
RANDOM = Gap("No random pairs are judged, so that p and the pool's recall are not known.",
             "eds suspects random -n 2000, have them judged, then eds truth decide")  # fmt: skip


def pool_facts(material: Material) -> dict[str, Any]:
    """`eds.analysis.pool_report` of this material, computed once."""

    def compute() -> dict[str, Any]:
        parts = material.need("images"), material.need("suspects"), material.need("truth")
        return pool_report(*parts, material.level)

    told: dict[str, Any] = material.once("pool", compute)
    return told


def found(material: Material) -> tuple[Block, ...]:
    """p_k of the pool, of each model and of each rank."""
    told = pool_facts(material)
    pool = told["pool"]
    blocks: list[Block] = [
        say(
            "Of {labelled} judged pairs of the pool {positive} are similar: p_k = {rate}. All"
            " {pairs} pairs that could be"
            " asked hold at least that many, so p is at least {lower}.",
            labelled=count(pool["labelled"]), positive=count(pool["positive"]), rate=share(pool["rate"]),
            pairs=count(told["pairs"]), lower=share(told["p_lower_bound"]),
        )
    ]  # fmt: skip
    if pool["labelled"] < pool["pairs"]:
        blocks.append(say("{left} pairs of the pool have no label yet.", "warn",
                          left=count(pool["pairs"] - pool["labelled"])))  # fmt: skip
    if told["product_pairs"] == "left out":
        blocks.append(say("Pairs of one product count nowhere here: the random pairs leave them out.", "note"))
    if told["pool_pairs_left_out"]:
        shows = " or show one product," if told["product_pairs"] == "left out" else ""
        blocks.append(say("{left} pairs of the pool are not of a query and a candidate (by images.role)," + shows +
                          " and are left out here.", "warn", left=count(told["pool_pairs_left_out"])))  # fmt: skip
    whole = {"model": "the pool", **pool}
    rates = (
        Column("model", "proposed by"),
        Column("pairs", "pairs", "count"),
        Column("labelled", "labelled", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "p_k", "share", "low", "high", "similar of labelled; Wilson limits"),
    )
    blocks.append(Table("rates", "Positive rate by model", rates, [*told["models"], whole]))
    if not told["models"]:
        blocks.append(Gap("Which model proposed which pair is not told, so there are no rates by model and rank.",
                          "eds suspects pool"))  # fmt: skip
        return tuple(blocks)
    blocks.append(
        Figure(
            "rates",
            "p_k by model",
            "intervals",
            {
                "labels": [one["model"] for one in told["models"]],
                "kind": "share",
                "lowest": 0.0,
                "highest": None,
                "values": [one["rate"] for one in told["models"]],
                "low": [one["low"] for one in told["models"]],
                "high": [one["high"] for one in told["models"]],
            },
            "The share of each model's proposals that is similar.",
        )
    )
    ranks = [{**one, "place": one["rank"] + 1} for one in told["ranks"]]
    places = (Column("place", "place in the list", "count"), *rates[2:])
    blocks.append(Table("ranks", "Positive rate by place, all models together", places, ranks))
    blocks.append(
        Figure(
            "ranks",
            "p_k by place in the list",
            "steps",
            {
                "x": [one["place"] for one in ranks],
                "values": [one["rate"] for one in ranks],
                "kind": "share",
                "low": [one["low"] for one in ranks],
                "high": [one["high"] for one in ranks],
                "x_label": "place in the list",
            },
            "Where the curve flattens out above 0, going deeper would still find similar pairs.",
        )
    )
    return tuple(blocks)  # fmt: skip


def prevalence(material: Material) -> tuple[Block, ...]:
    """The share p of similar pairs among all, by random draws."""
    random = pool_facts(material)["random"]
    if not random:
        raise Missing(RANDOM)
    if not random["enough"]:
        raise Missing(Gap("Random pairs are drawn, but fewer than 95 % of those outside the pool have a label.",
                          "have them judged (eds labels serve), then eds truth decide"))  # fmt: skip
    posterior, level = random["posterior"], f"{material.level:.0%}"
    rows = [
        {"estimate": "share in the draws", "value": random["a"] / random["n"] if random["n"] else None,
         "low": random["exact_low"], "high": random["exact_high"], "formula": f"a / b; Clopper and Pearson at {level}"},
        {"estimate": "most likely", "value": random["p_map"], "low": None, "high": None,
         "formula": "max(p_lb, a / b)"},
        {"estimate": "posterior mean", "value": posterior["mean"], "low": posterior["lower"],
         "high": posterior["upper"], "formula": f"Beta(a+1, b-a+1) above p_lb; equal tails at {level}"},
    ]  # fmt: skip
    columns = (
        Column("estimate", "p, the share of similar pairs among all"),
        Column("value", "value", "share", "low", "high"),
        Column("formula", "formula"),
    )
    blocks: list[Block] = [
        say("{n} of {drawn} uniformly drawn pairs have a label; {a} are similar.", n=count(random["n"]),
            drawn=count(random["drawn"]), a=count(random["a"])),
        Table("prevalence", "How rare similar pairs are", columns, rows),
    ]  # fmt: skip
    if random["discovery"]:
        gain = random["discovery"]
        blocks.append(say("A judgement of the pool finds {gain} as many similar pairs as one of a random pair; at the"
                          " limit {least}.", gain=Number(gain["gain"], "times"),
                          least=Number(gain["at_least"], "times")))  # fmt: skip
    return tuple(blocks)


def recall(material: Material) -> tuple[Block, ...]:
    """How many of all similar pairs the pool holds."""
    told = pool_facts(material)
    found, unseen = told["recall"], told["unseen"]
    blocks: list[Block] = []
    if found is None:
        blocks.append(RANDOM)
    else:
        blocks += [
            say("The pool holds {recall} of all similar pairs (limits {low} to {high})" + _counted(told),
                recall=share(found["recall"]), low=share(found["lower"]), high=share(found["upper"])),
            *_without_products(material),
            Table("strata", "Draws outside the pool", (
                Column("stratum", "stratum"), Column("N", "pairs", "count"), Column("n", "labelled", "count"),
                Column("a", "similar", "count")), told["strata"]),
        ]  # fmt: skip
    if unseen:
        by = {f"by_{number}": times for number, times in enumerate(unseen["found_by_exactly"], 1)}
        rows = [{"models": int(name[3:]), "pairs": times} for name, times in by.items()]
        blocks += [
            say("By Chao's bound (Chao2) there are at least {total} similar pairs, of which the pool holds at most"
                " {recall}; as models err alike, there are more.", "note", total=count(unseen["chao2_total"]),
                recall=share(unseen["chao2_recall"])),
            Table("found_by", "Similar pairs by how many models proposed them", (
                Column("models", "models", "count"), Column("pairs", "similar pairs", "count")), rows),
        ]  # fmt: skip
    return tuple(blocks)


def _counted(told: dict[str, Any]) -> str:
    """Which pairs all pairs are, where not all of them."""
    return "; pairs of one product count nowhere." if told["product_pairs"] == "left out" else "."


def apart(material: Material) -> dict[str, Any] | None:
    """The same facts without pairs of one product, where all pairs hold some and the pool leaves them out by rule.

    `one_product`: how many pairs that are; `similar`: of how many similar random pairs; `recall` None where the draws
    are of strata whose pairs of one product nobody counted.
    """

    def compute() -> dict[str, Any] | None:
        images, suspects, truth = material.need("images"), material.need("suspects"), material.need("truth")
        whole = population(images, suspects)
        without = replace(whole, apart=True)
        left = without.holds(suspects)
        pool, random = suspects["origin"] == "pool", suspects["origin"] == "random"
        if whole.apart or whole.size == without.size or (pool & ~left).any():
            return None
        drawn = suspects[random]
        value = drawn[PAIR].merge(truth[[*PAIR, "value"]], on=PAIR, how="left")["value"].to_numpy() == 1
        told = {"one_product": whole.size - without.size, "similar": int(value.sum()),
                "similar_of_one_product": int((value & ~left[random]).sum()), "recall": None}  # fmt: skip
        if set(drawn["stratum"]) == {"all"} and (random & left).any():
            chance = int((random & left).sum()) / without.size
            kept = suspects[~random | left]
            kept = kept.assign(probability=kept["probability"].where(kept["origin"] != "random", chance))
            told["recall"] = pool_report(images, kept, truth, material.level)["recall"]
        return told

    found: dict[str, Any] | None = material.once("apart", compute)
    return found


def _without_products(material: Material) -> tuple[Block, ...]:
    """That similar pairs of one product count as missed where the pool leaves them out by rule; what is so else."""
    told = apart(material)
    if told is None:
        return ()
    blocks: list[Block] = [
        say("All pairs include {pairs} of one product, which the pool leaves out by rule: those of them that are"
            " similar count as missed, as {own} of the {similar} similar random pairs.", "note",
            pairs=count(told["one_product"]), own=count(told["similar_of_one_product"]), similar=count(told["similar"]))
    ]  # fmt: skip
    if told["recall"]:
        one = told["recall"]
        blocks.append(say("Without pairs of one product the pool holds {recall} of all similar pairs (limits {low} to"
                          " {high}).", recall=share(one["recall"]), low=share(one["lower"]),
                          high=share(one["upper"])))  # fmt: skip
    return tuple(blocks)


def cost(material: Material) -> tuple[Block, ...]:
    """What judging costs: all pairs, the pool, random pairs."""
    images, told = material.need("images"), pool_facts(material)
    roles = images["role"].value_counts()
    both, asked, offered = (int(roles.get(name, 0)) for name in ("both", "query", "candidate"))
    random, positives = told["random"], told["pool"]["positive"]
    wanted: dict[str, Any] = {}
    if random and random["enough"] and random["p_map"] and positives:
        wanted = {"wanted": positives, "prevalence": max(random["p_map"], told["p_lower_bound"])}
    plans = budget(
        asked + both, offered + both, max(len(material.makers), len(told["models"]), 1), material.k,
        n_queries_in_gallery=both, pool_size=told["pool"]["pairs"] or None, experts=material.experts,
        seconds=_pace(material), hourly=material.hourly, **wanted,
    )  # fmt: skip
    columns = [
        Column("name", "plan"),
        Column("pairs", "pairs", "count"),
        Column("judgements", "judgements", "count", formula="pairs x experts"),
        Column("hours", "hours", "hours", formula="judgements x seconds / 3600, without pauses"),
        Column("times_fewer", "fewer", "times", formula="all pairs / pairs"),
    ]
    if material.hourly:
        columns.append(Column("money", f"money, {material.currency}", "count"))
    bars = [plan for plan in plans if plan.name != "pool, at most"]
    return (
        say("{experts} experts judge every pair, {seconds} a judgement ({source}).", experts=count(material.experts),
            seconds=Number(_pace(material), "seconds"),
            source="as measured" if material.judging is not None else "as eds.toml says"),
        Table("cost", "What judging costs", tuple(columns), [asdict(plan) for plan in plans]),
        Figure("cost", "Hours of judging", "bars", {"labels": [plan.name for plan in bars], "kind": "hours",
               "values": [plan.hours for plan in bars], "logarithmic": True},
               "On a logarithmic scale: each line stands for ten times the one before."),
    )  # fmt: skip


def _pace(material: Material) -> float:
    if material.judging is not None:
        seconds = material.judging.acts["seconds"].dropna()
        if len(seconds) and float(seconds.mean()) > 0:
            return float(seconds.mean())
    return material.seconds


def by_place(material: Material) -> tuple[Block, ...]:
    """p_k of each model at each place of its list."""
    if not pool_facts(material)["models"]:
        return ()
    rates = positive_rate_by_rank(material.need("generators"), material.labels)
    rows = [
        {"model": name, "place": rank + 1, "positive": a, "labelled": n, "rate": a / n if n else None}
        for name, places in rates.items() for rank, (a, n) in enumerate(places)
    ]  # fmt: skip
    columns = (
        Column("model", "model"),
        Column("place", "place", "count"),
        Column("labelled", "labelled", "count"),
        Column("positive", "similar", "count"),
        Column("rate", "p_k", "share", formula="similar of labelled, at this place of this model's lists"),
    )
    deepest = max(map(len, rates.values()))
    values = [[a / n if n else None for a, n in places] + [None] * (deepest - len(places)) for places in rates.values()]
    return (
        Figure("places", "p_k by model and place", "grid", {
            "rows": list(rates), "columns": [str(place + 1) for place in range(deepest)], "kind": "share",
            "values": values}, "In percent: how many of a model's proposals at a place of its list are similar."),
        Table("places", "p_k by model and place", columns, rows, "details"),
    )  # fmt: skip


PARTS = (found, by_place, prevalence, recall, cost)
