"""How far the models propose the same pairs, and what each model contributed alone."""

from eds.reports.charts import bar_chart, heat_map
from eds.reports.document import Column, Figure, Number, Table, count, say, share
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.pool import pool_report
from eds.suspects import overlap as compute_overlap


def matrix(inputs: ReportInputs) -> Blocks:
    """The overlap matrix as a heat map and as a table."""
    lists = inputs.require("pool_lists")
    queries = int((inputs.require("images")["role"] != "candidate").sum())
    overlap = compute_overlap(lists, n_queries=queries)
    models = overlap["models"]
    rows = [
        {"model": name, **{f"m{column}": value for column, value in enumerate(overlap["overlap"][index])}}
        for index, name in enumerate(models)
    ]
    columns = (Column("model", "model"), *(Column(f"m{index}", name, "share") for index, name in enumerate(models)))
    return (
        say(
            "{raw} proposals are {unique} different pairs, {each} per query: {duplication} of the proposals are"
            " duplicates. On average, two models share {mean} of their lists.",
            raw=count(overlap["raw"]),
            unique=count(overlap["unique"]),
            each=Number(overlap["mean_candidates_per_query"], "few"),
            duplication=share(overlap["duplication_rate"]),
            mean=share(overlap["mean_pairwise_overlap"]),
        ),
        Figure(
            "overlap",
            "Overlap of the models",
            heat_map,
            {
                "rows": models,
                "columns": models,
                "values": overlap["overlap"],
                "kind": "share",
                "diagonal": False,
                "lowest": 0.0,
            },
            "Candidates that two models share, as a percentage of a list: |both| / k.",
        ),
        Table("overlap", "Overlap of the models as numbers: |both| / k", columns, rows, folded=True),
    )


def unique_pairs(inputs: ReportInputs) -> Blocks:
    """Pairs and similar pairs that only one model proposed."""
    models = pool_report(inputs)["models"]
    keys = ("model", "pairs", "pairs_only_here", "positive", "positives_only_here")
    rows = [
        {key: model[key] for key in keys}
        | {"share_only_here": model["positives_only_here"] / model["positive"] if model["positive"] else None}
        for model in models
    ]
    columns = (
        Column("model", "model"),
        Column("pairs", "pairs", "count"),
        Column("pairs_only_here", "only this model", "count", formula="pairs that no other model proposed"),
        Column("positive", "similar", "count"),
        Column("positives_only_here", "similar, only this model", "count"),
        Column("share_only_here", "of its similar pairs", "share", formula="similar, only this model / similar"),
    )
    figure = Figure(
        "unique",
        "Similar pairs that only one model found",
        bar_chart,
        {
            "labels": [row["model"] for row in rows],
            "values": [row["positives_only_here"] for row in rows],
            "kind": "count",
            "logarithmic": False,
        },
        "What would be lost without the model.",
    )
    return (Table("unique", "What each model contributed", columns, rows), *((figure,) if rows else ()))


SECTION = SectionSpec(
    title="What each model contributed",
    question="How far do the models propose the same pairs?",
    order=40,
    inputs=("images", "suspects", "truth", "pool_lists"),
    parts=(matrix, unique_pairs),
)
