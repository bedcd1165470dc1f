"""Queries that differ much: `--queries diverse`, by the vectors of a model that are there already."""

from typing import TYPE_CHECKING

from eds.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

USUAL = 1000  # queries, where the number is not given


def varied_queries(project: "Project", ids: "pd.Series[str]", queries: str, seed: int) -> list[str]:
    """The ids of diverse queries among these images; `queries` is "diverse" or "diverse:N"."""
    import numpy as np

    from eds.embeddings.layout import varied_rows
    from eds.project.image_map import comparable_vectors
    from eds.project.models import generators
    from eds.vectors import Vectors

    word, _, number = queries.partition(":")
    if word != "diverse" or (":" in queries and not (number.isdigit() and int(number))):
        raise InputError(
            f"queries is {queries!r}", where="option --queries", hint="Give all, 200, 0.1, diverse or diverse:200."
        )
    there = [*generators(project, "embeddings"), *project.models("embeddings")]
    if not there:
        raise InputError(
            "diverse queries are chosen by vectors, and there are none yet",
            where=str(project.root),
            hint="Scan with --queries all or a number, compute vectors (eds embeddings compute), then scan again.",
        )
    vectors = Vectors.open(project.path("embeddings", there[0]))
    known = np.flatnonzero(np.isin(np.asarray(vectors.ids), ids.to_numpy(str)))
    if not len(known):
        raise InputError(
            f"no image of the catalogue has a vector of {there[0]}",
            where=str(project.root),
            hint="Compute them: eds embeddings compute.",
        )
    wanted = int(number) if number else min(USUAL, len(known))
    if wanted > len(known):
        raise InputError(
            f"{wanted:,} queries of {len(known):,} images with a vector of {there[0]}",
            where="option --queries",
            hint="Choose fewer, or compute the vectors of the others: eds embeddings compute.",
        )
    project.say(f"queries: {wanted:,} diverse images, by the vectors of {there[0]}")
    rows = known[varied_rows(comparable_vectors(vectors)[known], wanted, seed)]
    return [str(vectors.ids[row]) for row in rows]
