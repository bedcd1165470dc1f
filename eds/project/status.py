"""The condition of every table of a project."""

from dataclasses import dataclass, replace

from eds.errors import EdsError
from eds.project.project import Project, State
from eds.project.results import Result


@dataclass(frozen=True)
class StatusResult(Result):
    """Each table's condition, in the order of the flow."""

    project: str
    tables: list[State]


def read_status(project: Project) -> StatusResult:
    """Read the condition of every table; vectors with a missing or truncated file are damaged."""
    return StatusResult(str(project.root), [_with_missing_files(project, state) for state in project.states()])


def missing_files(project: Project, model: str) -> list[str]:
    """What is missing or truncated among the files of a model's vectors; refused if they have no description."""
    from eds.vectors import lost_ids, lost_shards, read_model

    folder = project.path("embeddings", model)
    shards = [*lost_shards(folder, read_model(folder)).values()]
    return [*([ids] if (ids := lost_ids(folder)) else []), *shards]


def _with_missing_files(project: Project, state: State) -> State:
    if state.table != "embeddings" or state.condition not in ("fresh", "stale"):
        return state
    try:
        faults = missing_files(project, str(state.model))
    except EdsError as error:
        faults = [str(error)]
    return replace(state, condition="damaged", reasons=(*faults, *state.reasons)) if faults else state
