"""The models' ranked lists, read as deep as a verb needs them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.executor import open_executor

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project


def read_heads(project: "Project", models: Sequence[str], depth: int, ties: Sequence[str] = ()) -> "pd.DataFrame":
    """The first `depth` ranks of the models' lists; of the models `ties` with the tie group at the last rank whole."""
    from eds.suspects.list_heads import list_heads

    known = project.models("neighbors")
    unknown = [name for name in models if name not in known]
    if unknown or not models:
        raise InputError(
            f"no lists of model {', '.join(unknown)}" if unknown else "no model has lists yet",
            where=str(project.root / "neighbors"),
            do=f"Make them: eds neighbors mine. There are: {', '.join(known) or 'none'}.",
        )
    with open_executor(project, "lists") as executor:
        files = {model: project.path("neighbors", model) for model in models}
        return list_heads(files, depth, ties=ties, executor=executor)


def check_depth(project: "Project", models: Sequence[str], depth: int, purpose: str) -> None:
    """Raise InputError if the lists of a model were mined less deep than `purpose` needs."""
    depths = {model: mined_depth(project, model) for model in models}
    faults = [
        f"the lists of model {model} were made to depth {mined}"
        for model, mined in depths.items()
        if mined is not None and mined < depth
    ]
    if not faults:
        return
    setting = project.config.neighbors.k  # a depth that was given is used again by eds run until mining is given none
    command = f"eds neighbors mine, without -k: eds.toml says {setting}" if setting >= depth else (
        f"eds neighbors mine -k {depth}")  # fmt: skip
    raise InputError(f"{purpose} needs deeper lists", do=f"Mine deeper: {command}.", faults=faults)


def mined_depth(project: "Project", model: str) -> int | None:
    """The depth to which the model's lists were mined; None if they were imported."""
    from eds import tables

    made_by, _ = tables.read_provenance(project.path("neighbors", model), tables.NEIGHBORS)
    depth: int | None = made_by.params.get("k", made_by.settings.get("neighbors.k"))
    return depth
