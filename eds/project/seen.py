"""Seen and unseen: the value of a trained model over the queries it was trained on, and over the others.

A query is seen if its image, or another image of its product, was in training or validation of a run of this project
that made the model, or made the network on whose vectors the model stands.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.project.inputs import Inputs
from eds.project.runs import trained_runs

COLUMNS = ("seen", "unseen")

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Result
    from eds.project import Project


def seen_images(project: "Project", models: Sequence[str]) -> dict[str, frozenset[str]]:
    """By model the images that it was trained on; a model that was not trained here is left out."""
    from eds.vectors import read_model

    runs = {run.record["weights_sha256"]: run for run in trained_runs(project)}
    if not runs:
        return {}
    there, found = set(project.models("embeddings")), {}
    for name in (model for model in models if model in there):
        model = read_model(project.path("embeddings", name))
        base = model.spec.get("base")
        digests = [model.weights_digest, str(base.get("weights_digest", "")) if isinstance(base, dict) else ""]
        seen: set[str] = set()
        while digests:
            run = runs.get(digests.pop())
            if run is not None:
                seen |= run.seen
                digests.append(str(run.record.get("base_sha256") or ""))
        if seen:
            found[name] = frozenset(seen)
    return found


def add_seen(inputs: Inputs, table: "pd.DataFrame", results: "Sequence[Result]") -> "pd.DataFrame":
    """Fill columns seen and unseen of table scores: of trained models, in the rows over all queries.

    A measure that has no value over some of the queries, as one of all codes, has neither.
    """
    import numpy as np

    from eds.analysis.seen import seen_and_unseen

    trained = seen_images(inputs.project, sorted({result.model for result in results}))
    if not trained:
        return table
    values = seen_and_unseen(results, inputs.images(), trained)
    whole = table["query_id"].isna()
    for name in COLUMNS:
        keys = zip(table["model"], table["measure"], whole, strict=True)
        table[name] = [values.get((model, measure, name), np.nan) if over else np.nan for model, measure, over in keys]
    return table
