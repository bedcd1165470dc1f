"""Cuts through lists of codes: their ranks are full of ties, and a cut by rank would be by id alone.

A pool at depth k takes all that score as the k-th does, of models of binary codes unless told otherwise.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project


def whole_ties(project: "Project", models: Sequence[str], wanted: bool | None) -> list[str]:
    """The models of which a cut takes tie groups whole: all, none, or where nothing is said those of binary codes."""
    from eds.project.code_histograms import hash_models

    if wanted is not None:
        return list(models) if wanted else []
    return hash_models(project, models)


def check_whole(project: "Project", ties: Sequence[str], proposed: "pd.DataFrame", k: int) -> None:
    """Refuse lists that were cut by id within the tie group of place k: what else ties is not there any more."""
    from eds.suspects import shared_ranks

    faults = []
    for model in ties:
        mined = mined_depth(project, model)
        mine = proposed[proposed["model"] == model]
        last = (mine["rank"] == (mined or 0) - 1) & (shared_ranks(mine, [model])["rank"] < k)
        if mined is not None and _cut_by_id(project, model) and last.any():
            faults.append(f"{int(last.sum()):,} lists of model {model} end at depth {mined} within such a group")
    if faults:
        raise InputError(
            f"candidates that score as the {k}th does were cut off by id",
            where="table neighbors",
            do="Mine with whole tie groups (eds neighbors mine --keep-ties), or cut here, too: --no-keep-ties.",
            faults=faults,
        )


def _cut_by_id(project: "Project", model: str) -> bool:
    """Whether the model's lists were mined without whole tie groups."""
    from eds import tables
    from eds.project.code_histograms import hash_models

    made_by, _ = tables.read_provenance(project.path("neighbors", model), tables.NEIGHBORS)
    return not made_by.params.get("keep_ties", bool(hash_models(project, [model])))


def mined_depth(project: "Project", model: str) -> int | None:
    """How deep the model's lists were mined; None where they came from elsewhere."""
    from eds import tables

    made_by, _ = tables.read_provenance(project.path("neighbors", model), tables.NEIGHBORS)
    mined: int | None = made_by.params.get("k", made_by.settings.get("neighbors.k"))
    return mined
