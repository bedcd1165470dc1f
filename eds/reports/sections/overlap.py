"""How far the models propose the same pairs."""

from typing import Any

from eds.reports.charts import heat_map
from eds.reports.document import Column, Figure, Number, Sentence, Table, count, say, share, state
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.suspects import overlap as compute_overlap


def model_overlap(inputs: ReportInputs) -> dict[str, Any]:
    """`eds.suspects.overlap` of the pool's lists, computed once."""

    def compute() -> dict[str, Any]:
        queries = int((inputs.require("images")["role"] != "candidate").sum())
        return compute_overlap(inputs.require("pool_lists"), n_queries=queries)

    overlap: dict[str, Any] = inputs.cached("overlap", compute)
    return overlap


def answer(inputs: ReportInputs) -> Sentence | None:
    """How much two models share."""
    overlap = model_overlap(inputs)
    if len(overlap["models"]) < 2:
        return state("one model", "One model built the pool.")
    words = "Two of the {n} models that built the pool share {mean} of their lists on average."
    return state("overlap", words, n=count(len(overlap["models"])), mean=share(overlap["mean_pairwise_overlap"]))


def matrix(inputs: ReportInputs) -> Blocks:
    """The overlap matrix as a heat map and as a table."""
    overlap = model_overlap(inputs)
    models = overlap["models"]
    rows = [
        {"model": name, **{f"m{column}": value for column, value in enumerate(overlap["overlap"][index])}}
        for index, name in enumerate(models)
    ]
    columns = (Column("model", "model"), *(Column(f"m{index}", name, "share") for index, name in enumerate(models)))
    return (
        say(
            "{raw} proposals are {unique} different pairs of images, {each} per query: {duplication} of the proposals"
            " are duplicates.",
            raw=count(overlap["raw"]),
            unique=count(overlap["unique"]),
            each=Number(overlap["mean_candidates_per_query"], "few"),
            duplication=share(overlap["duplication_rate"]),
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
        Table("overlap", "Overlap of the models as numbers: |both| / k", columns, rows, detail=True),
    )


SECTION = SectionSpec(
    title="Overlap of the models",
    question="How far do the models propose the same pairs?",
    order=60,
    inputs=("images", "universe", "pool_lists"),
    parts=(matrix,),
    answer=answer,
)
