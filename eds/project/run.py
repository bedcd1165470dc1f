"""The whole flow: each stage makes what is missing or stale, with the parameters it was made with."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import DeclinedError, InputError
from eds.project.results import Result
from eds.project.status import StatusResult, read_status

if TYPE_CHECKING:
    from eds.project import Project
    from eds.project.price import Price

# In the order of the flow: a table, and the function that makes it again. Labels are missing: experts make them.
STAGES = (
    ("images", "eds.project.catalogue:refresh"),
    ("embeddings", "eds.project.embed:refresh"),
    ("embeddings", "eds.project.train:refresh"),
    ("neighbors", "eds.project.mine:refresh"),
    ("suspects", "eds.project.pool:refresh"),
    ("truth", "eds.project.decide:refresh"),
    ("scores", "eds.project.score:refresh"),
    ("report", "eds.project.report:refresh"),
)


@dataclass(frozen=True)
class RunResult(Result):
    """The stages that made something, and the condition of every table afterwards."""

    made: list[str]
    price: "Price | None"  # of the pairs that are added; None where the pool is not made
    status: StatusResult
    at_most: bool = False  # whether that is the most it can be: a dry run does not know lists that are to be mined


def _plan(project: "Project", names: list[str]) -> RunResult:
    """What a run would make, and the price of the pool: at most, where its lists are not there yet."""
    from eds.project import models, pool
    from eds.project.decide import has_votes

    stale = [state for state in project.states() if state.condition != "fresh"]
    outdated = {state.table for state in stale}
    if not (has_votes(project) or project.path("truth").exists()):
        outdated -= {"truth", "scores"}  # nobody has judged
    names_of_pool = models.generators(project, "embeddings")
    lists = {("embeddings", name) for name in (None, *names_of_pool)} | {("neighbors", name) for name in names_of_pool}
    moving = bool(  # the lists change first
        set(names_of_pool) - set(project.models("neighbors"))
        or "images" in outdated
        or lists & {(state.table, state.model) for state in stale}
    )
    found = None if moving else pool.refresh(project)
    pooled = found is not None or (moving and project.state("suspects").operation == "suspects.pool")
    made = [name for name in dict.fromkeys(names) if name in outdated or (name == "suspects" and pooled)]
    for state in stale:
        if state.table in made and not (state.table == "suspects" and found):
            absent = state.condition == "absent"
            project.would("make" if absent else "replace", project.root / state.path, "; ".join(state.reasons))
    status = read_status(project)
    if "suspects" in outdated and "images" not in outdated and found is None and status.universe is not None:
        return RunResult(made, _highest_price(project, status.universe.size), status, at_most=True)
    return RunResult(made, found.price if found else None, status)


def _highest_price(project: "Project", universe: int) -> "Price | None":
    """The price of the pool if no two models share a pair; None for models of codes, whose ties may be many."""
    from eds.project import models, pool
    from eds.project.price import price_of

    names = models.generators(project, "embeddings")
    if pool.models_with_whole_ties(project, names, None):
        return None
    queries = int((project.read("images")["role"] != "candidate").sum())
    k = project.state("suspects").params.get("k") or project.config.suspects.k
    return price_of(project, min(universe, queries * (len(names) or len(project.config.embeddings.models)) * int(k)))


def run(project: "Project", until: str | None = None) -> RunResult:
    """Run the stages up to the table `until`; see `Project.run`."""
    names = [table for table, _ in STAGES]
    if until is not None and until not in names:
        raise InputError(f"unknown table {until!r}", hint=f"Name one of {', '.join(dict.fromkeys(names))}.")
    if project.dry_run:
        return _plan(project, names)
    last = len(STAGES) if until is None else len(names) - names[::-1].index(until)
    made, price = [], None
    with project.writing("run"):
        for table, function in STAGES[:last]:
            module, _, name = function.partition(":")
            try:
                result = getattr(importlib.import_module(module), name)(project)
            except DeclinedError as error:
                project.say(f"{table} stay as they are: {error}")
                continue
            if result:
                made.append(table)
                price = result.price if table == "suspects" else price
    return RunResult(list(dict.fromkeys(made)), price, read_status(project))
