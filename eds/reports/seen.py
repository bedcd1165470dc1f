"""The table of models that were trained on this catalogue: their values over seen queries, and over unseen ones."""

from collections.abc import Sequence

from eds.analysis.seen import COLUMNS, seen_and_unseen
from eds.metrics import Result
from eds.reports.document import Block, Column, Table
from eds.reports.inputs import ReportInputs

CAPTION = "Seen: queries whose product was in training or validation of the model; unseen: the others."


def seen_table(inputs: ReportInputs, results: Sequence[Result], key: str) -> tuple[Block, ...]:
    """A row for each measure of each trained model that has a value over such queries; no table without such a model.

    A measure of all codes at once, as their usage, has no value of a part of the queries.
    """
    if not inputs.learned:
        return ()
    values = seen_and_unseen(results, inputs.require("images"), inputs.learned)
    rows = [
        {
            "model": result.model,
            "measure": str(result.measure),
            "value": result.values.value,
            **{side: values[result.model, str(result.measure), side] for side in COLUMNS},
        }
        for result in results
        if result.values is not None and (result.model, str(result.measure), COLUMNS[0]) in values
    ]
    if not rows:
        return ()
    columns = (
        Column("model", "model"),
        Column("measure", "measure"),
        Column("value", "all queries", "value"),
        *(Column(side, side, "value") for side in COLUMNS),
    )
    return (Table(key, "Queries that a model was trained on, and others", columns, rows, CAPTION),)
