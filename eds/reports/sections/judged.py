"""What was judged: images, queries, models and their preprocessing, the pool, experts, hours and guidelines."""

from dataclasses import asdict

from eds.reports.coverage import role
from eds.reports.document import Block, Column, Number, Sentence, Table, count, note, say, share, state, warn
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.sections import Blocks, SectionSpec

GUIDELINE = 240  # characters of a guideline that are shown


def answer(inputs: ReportInputs) -> Sentence:
    """The size of the catalogue and the pool, and who judged."""
    images, models = inputs.require("images"), inputs.pool_models
    filled = {
        "queries": count(int((images["role"] != "candidate").sum())),
        "candidates": count(int((images["role"] != "query").sum())),
    }
    words = "{queries} queries, {candidates} candidates"
    if inputs.suspects is not None:
        filled |= {"pairs": count(int((inputs.suspects["origin"] == "pool").sum())), "k": count(inputs.k)}
        words += "; {pairs} pairs of images in the pool, the first {k} candidates" + (
            " of {models} models" if models else ""
        )
        filled |= {"models": count(len(models))} if models else {}
    if inputs.judging is not None:
        filled |= {"experts": count(inputs.judging.acts["expert_id"].nunique())}
        words += "; {experts} experts judged"
    return state("sizes", words + ".", **filled)


def catalogue(inputs: ReportInputs) -> Blocks:
    """Sizes of the catalogue and of the pool."""
    images = inputs.require("images")
    queries, candidates = images["role"] != "candidate", images["role"] != "query"
    rows: list[dict[str, object]] = [
        {"what": "candidates, |D|", "n": int(candidates.sum())},
        {"what": "queries, |Q|", "n": int(queries.sum())},
        {"what": "products", "n": int(images["product_id"].nunique())},
        {"what": "categories", "n": int(images["category"].nunique())},
        {"what": "k, candidates taken from each list", "n": inputs.k},
    ]
    if inputs.suspects is not None:
        pool = inputs.suspects[inputs.suspects["origin"] == "pool"]
        rows.append({"what": "pairs in the pool, |S_k|", "n": len(pool)})
        others = inputs.suspects.loc[inputs.suspects["origin"] != "pool", "origin"].value_counts()
        rows += [{"what": f"pairs of origin {name}", "n": int(size)} for name, size in others.sort_index().items()]
    if inputs.truth is not None:
        rows.append({"what": "pairs with a decided label", "n": len(inputs.truth)})
    if inputs.judging is not None:
        acts = inputs.judging.acts
        rows.append({"what": "experts who judged", "n": int(acts["expert_id"].nunique())})
        rows.append({"what": "judgements, including corrections", "n": len(acts)})
    return (Table("sizes", "Sizes", (Column("what", "what"), Column("n", "number", "count")), rows, detail=True),)


def experts(inputs: ReportInputs) -> Blocks:
    """How many experts judged, under which guideline, and how long it took."""
    judging = inputs.require("judging")
    acts = judging.acts
    seconds = acts["seconds"].dropna()
    blocks: list[Block] = []
    if len(seconds):
        blocks.append(
            say(
                "The median judgement took {median}, all {acts} together {hours}.",
                acts=count(len(acts)),
                median=Number(float(seconds.median()), "seconds"),
                hours=Number(float(seconds.sum()) / 3600, "hours"),
            )
        )
    named = acts.loc[acts["guideline"].notna() & (acts["guideline"] != ""), "guideline"]
    if len(named) < len(acts):
        blocks.append(note("{n} judgements name no guideline.", n=count(len(acts) - len(named))))
    for version, times in named.value_counts().sort_index().items():
        text = " ".join(judging.guidelines.get(str(version), "").split())[:GUIDELINE]
        values: dict[str, Number | str] = {"version": str(version), "times": count(int(times))}
        if text:
            values["guideline"] = text
        blocks.append(say("Guideline “{version}”: {times} judgements. " + ("{guideline}" if text else ""), **values))
    return tuple(blocks)


def models(inputs: ReportInputs) -> Blocks:
    """The models, their role, and what they see of an image."""
    cards, pool_models = inputs.require("models"), inputs.pool_models
    rows = [
        {
            "model": card.name,
            "part": role(inputs, card.name),
            "spec": card.spec or card.source,
            "dimension": card.dimension,
            "similarity": card.similarity or None,
            "preprocessing": card.preprocessing or None,
            "digest": card.digest[:12] or None,
        }
        for card in cards
    ]
    columns = (
        Column("model", "model"),
        Column("part", "role", formula="the pool was built from the lists of pool models; new models came later"),
        Column("spec", "spec"),
        Column("dimension", "dimension", "count"),
        Column("preprocessing", "preprocessing"),
    )
    gone = sorted(set(pool_models) - {card.name for card in cards})
    caption = f"Pool models that no longer have vectors or lists: {', '.join(gone)}." if gone else ""
    return (Table("models", "Models", columns, rows, caption),)


def searches(inputs: ReportInputs) -> Blocks:
    """How the lists were searched: exactly, or with which recall of the exact lists."""
    if not inputs.searches:
        return ()
    if all(search.recall is None for search in inputs.searches):
        return (note("All lists were searched exactly."),)
    columns = (
        Column("model", "lists of"),
        Column("search", "search engine"),
        Column("k", "k", "count"),
        Column("recall", "recall", "share", formula="share of the exact lists that was retrieved; n/a: exact search"),
        Column("compared", "queries compared", "count"),
        Column("allowed", "low recall allowed", "flag", formula="--allow-low-recall; otherwise 99 % is required"),
    )
    rows = [{"model": search.name, **asdict(search)} for search in inputs.searches]
    warnings = [
        warn(
            "The lists of {model} come from an approximate search with recall {recall} over {compared} queries"
            " (--allow-low-recall): pairs that it missed count as not proposed.",
            model=search.name,
            recall=share(search.recall),
            compared=count(search.compared),
        )
        for search in inputs.searches
        if search.allowed
    ]
    return (Table("searches", "How the lists were searched", columns, rows), *warnings)


SECTION = SectionSpec(
    title="What was judged",
    question="Which images, models and experts are behind the numbers?",
    order=120,
    inputs=("images", *LABEL_INPUTS, "judging", "models", "newcomers", "pool_lists", "searches"),
    parts=(catalogue, experts, models, searches),
    answer=answer,
)
