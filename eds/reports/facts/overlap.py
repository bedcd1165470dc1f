"""How far the models propose the same pairs, and what each found alone."""

from eds.reports.document import Block, Column, Figure, Number, Table, count, say, share
from eds.reports.facts.yields import pool_facts
from eds.reports.material import Material
from eds.suspects import overlap as compare


def matrix(material: Material) -> tuple[Block, ...]:
    """The overlap matrix as a heat map and as a table."""
    lists = material.need("generators")
    asked = int((material.need("images")["role"] != "candidate").sum())
    told = compare(lists, n_queries=asked)
    models = told["models"]
    rows = [{"model": name, **{f"m{place}": value for place, value in enumerate(told["overlap"][at])}}
            for at, name in enumerate(models)]  # fmt: skip
    columns = (Column("model", "model"), *(Column(f"m{at}", name, "share") for at, name in enumerate(models)))
    return (
        say("{raw} proposals are {unique} different pairs ({each} for each query): duplication"
        " {duplication}. Two models"
            " share {mean} of their lists on average.", raw=count(told["raw"]), unique=count(told["unique"]),
            each=Number(told["mean_candidates_per_query"], "few"), duplication=share(told["duplication_rate"]),
            mean=share(told["mean_pairwise_overlap"])),
        Figure("overlap", "Overlap of the models", "heat_map", {"names": models, "values": told["overlap"]},
               "Shared candidates of two models, as a share of a list: |both| / k."),
        Table("overlap", "Overlap of the models in numbers: intersection / k", columns, rows, "details"),
    )  # fmt: skip


def unique(material: Material) -> tuple[Block, ...]:
    """Pairs and similar pairs that only one model proposed."""
    told = pool_facts(material)["models"]
    rows = [
        {"model": one["model"], "pairs_only_here": one["pairs_only_here"],
         "positives_only_here": one["positives_only_here"], "pairs": one["pairs"], "positive": one["positive"],
         "share_only_here": one["positives_only_here"] / one["positive"] if one["positive"] else None}
        for one in told
    ]  # fmt: skip
    columns = (
        Column("model", "model"),
        Column("pairs", "pairs", "count"),
        Column("pairs_only_here", "only here", "count", formula="pairs that no other model proposed"),
        Column("positive", "similar", "count"),
        Column("positives_only_here", "similar, only here", "count"),
        Column("share_only_here", "of its similar pairs", "share", formula="similar only here / similar"),
    )
    figure = Figure("unique", "Similar pairs that only one model found", "bars", {
        "labels": [row["model"] for row in rows], "values": [row["positives_only_here"] for row in rows],
        "kind": "count", "logarithmic": False}, "What would be lost without the model.")  # fmt: skip
    return (Table("unique", "What each model contributed", columns, rows), *((figure,) if rows else ()))


PARTS = (matrix, unique)
