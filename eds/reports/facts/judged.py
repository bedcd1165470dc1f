"""What was judged: pictures, queries, models with their preprocessing, the pool, experts, votes, hours, guideline."""

from dataclasses import asdict

from eds.reports.document import Block, Column, Number, Table, count, filled_with, say, share
from eds.reports.material import Material


def catalogue(material: Material) -> tuple[Block, ...]:
    """Sizes of the catalogue and of the pool."""
    images = material.need("images")
    queries, candidates = images["role"] != "candidate", images["role"] != "query"
    rows = [
        {"what": "candidates, |D|", "n": int(candidates.sum())},
        {"what": "queries, |Q|", "n": int(queries.sum())},
        {"what": "products", "n": int(images["product_id"].nunique())},
        {"what": "categories", "n": int(images["category"].nunique())},
        {"what": "k, candidates taken from each list", "n": material.k},
    ]
    if material.suspects is not None:
        pool = material.suspects[material.suspects["origin"] == "pool"]
        rows.append({"what": "pairs in the pool, |S_k|", "n": len(pool)})
        others = material.suspects.loc[material.suspects["origin"] != "pool", "origin"].value_counts()
        rows += [{"what": f"pairs of origin {name}", "n": int(size)} for name, size in others.sort_index().items()]
    if material.truth is not None:
        rows.append({"what": "pairs with a decided label", "n": len(material.truth)})
    if material.judging is not None:
        rows += _work(material)
    columns = (Column("what", "what"), Column("n", "number", "count"))
    return (Table("sizes", "Sizes", columns, rows),)


def _work(material: Material) -> list[dict[str, object]]:
    acts = material.need("judging").acts
    return [
        {"what": "experts who judged", "n": int(acts["expert_id"].nunique())},
        {"what": "judgements given, corrections counted", "n": len(acts)},
    ]


def people(material: Material) -> tuple[Block, ...]:
    """Who judged, under which guideline, and how long it took."""
    judging = material.need("judging")
    acts = judging.acts
    seconds = acts["seconds"].dropna()
    found: list[Block] = []
    if len(seconds):
        found.append(
            say(
                "{experts} experts gave {acts} judgements; the median one took {median}, all together {hours}.",
                experts=count(acts["expert_id"].nunique()), acts=count(len(acts)),
                median=Number(float(seconds.median()), "seconds"), hours=Number(float(seconds.sum()) / 3600, "hours"),
            )
        )  # fmt: skip
    named = acts.loc[acts["guideline"].notna() & (acts["guideline"] != ""), "guideline"]
    versions = named.value_counts()
    if len(named) < len(acts):
        found.append(say("{n} judgements name no guideline.", "note", n=count(len(acts) - len(named))))
    for version, times in versions.sort_index().items():
        text = judging.guidelines.get(str(version), "")
        first = " ".join(text.split())[:600]
        words = "Guideline “{version}”: {times} judgements. " + ("{text}" if first else "")
        filled: dict[str, Number | str] = {"version": str(version), "times": count(int(times))}
        found.append(filled_with(words, filled | ({"text": first} if first else {})))
    return tuple(found)


def models(material: Material) -> tuple[Block, ...]:
    """The models, generators marked, with what they see of a picture."""
    cards, makers = material.need("models"), material.makers
    rows = [
        {
            "model": card.name, "part": "generator" if card.name in makers else "outsider" if makers else "not known",
            "spec": card.spec or card.source, "dimension": card.dimension, "similarity": card.similarity or None,
            "preprocessing": card.preprocessing or None, "digest": card.digest[:12] or None,
        }
        for card in cards
    ]  # fmt: skip
    columns = (
        Column("model", "model"),
        Column("part", "part", formula="a generator's lists made the pool; an outsider came later"),
        Column("spec", "spec"),
        Column("dimension", "dimension", "count"),
        Column("similarity", "similarity"),
        Column("preprocessing", "preprocessing"),
        Column("digest", "digest", formula="SHA-256 of weights, else of preprocessing: first 12 digits"),
    )
    gone = sorted(set(makers) - {card.name for card in cards})
    note = f"Generators without vectors or lists by now: {', '.join(gone)}." if gone else ""
    return (Table("models", "Models", columns, rows, note),)


def searches(material: Material) -> tuple[Block, ...]:
    """How the lists were searched: exactly, or how much of the exact lists was found."""
    if not material.searches:
        return ()
    if all(one.recall is None for one in material.searches):
        return (say("All lists were searched exactly.", "note"),)
    columns = (
        Column("model", "lists of"),
        Column("engine", "searched by"),
        Column("k", "k", "count"),
        Column("recall", "recall", "share", formula="share of the exact lists that was found; none: an exact search"),
        Column("compared", "queries compared", "count"),
        Column("allowed", "low recall allowed", "flag", formula="by --allow-low-recall: below 99 % is refused else"),
    )
    rows = [{"model": one.name, **asdict(one)} for one in material.searches]
    told = [
        say("The lists of {model} come from an approximate search whose recall was not held to 99 % on purpose"
            " (--allow-low-recall); it is {recall}, of {compared} queries. What the search missed, the model did not"
            " propose.", "warn", model=one.name, recall=share(one.recall), compared=count(one.compared))
        for one in material.searches if one.allowed
    ]  # fmt: skip
    return (Table("searches", "How the lists were searched", columns, rows), *told)


PARTS = (catalogue, people, models, searches)
