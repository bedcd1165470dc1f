"""The condition of every table of a project."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from eds.errors import EdsError
from eds.project.changed_pictures import PictureChanges, picture_changes
from eds.project.inputs import Inputs
from eds.project.models import roles
from eds.project.prevalence import project_prevalence
from eds.project.project import Project, State
from eds.project.results import Result
from eds.project.runs import list_runs

if TYPE_CHECKING:
    from eds.analysis.totals import Estimate
    from eds.suspects.positive_rates import Rate
    from eds.universe import UniverseSize


@dataclass(frozen=True)
class Shares(Result):
    """The shares of similar pairs, as `eds analysis prevalence` has them; None: unknown."""

    p_k: "Rate"  # of the judged part of the pool
    p: "Estimate | None"  # of the universe
    gain: "Estimate | None"  # rate of the whole pool over p
    found: "Estimate | None"  # of all similar pairs, those found so far
    recall: "Estimate | None"  # of all similar pairs, those that the pool holds


@dataclass(frozen=True)
class StatusResult(Result):
    """Each table's condition, in the order of the flow."""

    project: str
    tables: list[State]
    universe: "UniverseSize | None"  # the pairs that the project is about; None without readable images
    shares: "Shares | None"  # what the labels say of them; None without labels
    pictures: PictureChanges | None = None  # pairs of pictures that are gone or changed; None without readable images
    models: dict[str, list[str]] = field(default_factory=dict)  # by role: generator, evaluated
    training: dict[str, list[str]] = field(default_factory=dict)  # runs by state: running, finished, interrupted


def read_status(project: Project) -> StatusResult:
    """Read the condition of every table; vectors with a missing, truncated or changed file are damaged."""
    tables = project.states()
    inputs = Inputs(project)
    try:
        universe = inputs.universe
        found = project_prevalence(inputs)
    except EdsError:  # the table's condition says what is wrong
        return StatusResult(str(project.root), tables, None, None)
    changes, models = picture_changes(project), dict[str, list[str]]()
    for name, role in roles(project, inputs).items():
        models.setdefault(role, []).append(name)
    shares = Shares(found.pool.rate, found.p, found.gain, found.found, found.recall) if found else None
    training = dict[str, list[str]]()
    for run in list_runs(project).runs:
        training.setdefault(run.state, []).append(run.name)
    return StatusResult(str(project.root), tables, universe.described, shares, changes, models, training)


def missing_files(project: Project, model: str) -> list[str]:
    """The files of a model's vectors that are missing, truncated or changed; refused if they have no description."""
    from eds.vectors import altered_shards, lost_ids, lost_shards, read_model

    folder = project.path("embeddings", model)
    described = read_model(folder)
    shards = [*lost_shards(folder, described).values()] or [*altered_shards(folder, described).values()]
    return [*([ids] if (ids := lost_ids(folder)) else []), *shards]


def with_missing_files(project: Project, state: State) -> State:
    """The state of a table; of vectors with a missing, truncated or changed file: damaged."""
    if state.table != "embeddings" or state.condition not in ("fresh", "stale"):
        return state
    try:
        faults = missing_files(project, str(state.model))
    except EdsError as error:
        faults = [str(error)]
    return replace(state, condition="damaged", reasons=(*faults, *state.reasons)) if faults else state
