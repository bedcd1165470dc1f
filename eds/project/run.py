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
    price: "Price | None"  # of the pairs that were added; None where the pool was not made
    status: StatusResult


def _plan(project: "Project", names: list[str]) -> RunResult:
    """What a run would make; the price of the pool where its lists are there already."""
    from eds.project import models, pool
    from eds.project.decide import has_votes

    outdated = {state.table for state in project.states() if state.condition != "fresh"}
    if not (has_votes(project) or project.path("truth").exists()):
        outdated -= {"truth", "scores"}  # nobody has judged
    waiting = [name for name in models.generators(project, "embeddings") if name not in project.models("neighbors")]
    found = None if waiting or outdated & {"images", "embeddings", "neighbors"} else pool.refresh(project)
    made = [name for name in dict.fromkeys(names) if name in outdated or (name == "suspects" and found)]
    for state in project.states():
        if state.table in made and state.condition != "fresh" and not (state.table == "suspects" and found):
            absent = state.condition == "absent"
            project.would("make" if absent else "replace", project.root / state.path, "; ".join(state.reasons))
    return RunResult(made, found.price if found else None, read_status(project))


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
