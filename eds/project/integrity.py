"""Vectors of which files are gone or cut, which the date and digest of their description do not show."""

from dataclasses import replace
from typing import TYPE_CHECKING

from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.project import Project, State


def lost_files_of(project: "Project", name: str) -> list[str]:
    """What is wrong with the files of a model's vectors; refused where they have no description."""
    from eds.vectors import lost_ids, lost_shards, read_model

    folder = project.path("embeddings", name)
    lost = [*lost_shards(folder, read_model(folder)).values()]
    return [*([ids] if (ids := lost_ids(folder)) else []), *lost]


def with_lost_files(project: "Project", state: "State") -> "State":
    """A table's condition; vectors of which a file is lost are damaged."""
    if state.table != "embeddings" or state.condition not in ("fresh", "stale"):
        return state
    try:
        lost = lost_files_of(project, str(state.model))
    except EdsError as error:
        lost = [str(error)]
    return replace(state, condition="damaged", reasons=(*lost, *state.reasons)) if lost else state
