"""The models that made the pool, and every model's final lists."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError, ProjectError
from eds.project.inputs import Inputs
from eds.project.mine import mined_depth
from eds.project.models import find_models

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

DEPTH = 100  # of lists that are mined for an analysis


def read_pool_lists(
    inputs: Inputs, pool_models: Sequence[str], k: int | None, *, allow_missing: bool
) -> "pd.DataFrame":
    """Return the lists that the pool was made of: model, query_id, candidate_id, rank.

    They are what the suspects' sources name. Of an imported benchmark those are not known, so the models that made it
    must be named; their lists at depth k are taken, as of any named model that no source names.
    """
    import pandas as pd

    project, proposals = inputs.project, inputs.proposals
    known = sorted(proposals["model"].unique())
    if not pool_models and not known:
        why = "it was imported" if inputs.imported else "the suspects have no sources"
        raise ProjectError(
            f"the models that made the pool are not known: {why}",
            where=str(project.path("suspects")),
            hint="Make a pool (eds suspects pool), or name the models that made it: --pool-model MODEL.",
        )
    wanted = sorted(find_models(project, pool_models)) if pool_models else known
    parts = [proposals[proposals["model"].isin(wanted)]]
    if rest := [name for name in wanted if name not in known]:
        depth = k or project.config.suspects.k
        lists = final_lists(inputs, rest, depth, allow_missing=allow_missing)
        parts.append(lists.loc[lists["rank"] < depth, list(proposals.columns)])
    return pd.concat(parts, ignore_index=True)


def final_lists(inputs: Inputs, models: Sequence[str], least: int, *, allow_missing: bool = False) -> "pd.DataFrame":
    """Return each model's list of every query, at least so deep where there are as many candidates.

    Table neighbors where it is deep enough; else they are mined now, by the project's rules, and not kept.
    """
    import pandas as pd

    project, parts = inputs.project, []
    for name in models:
        mined = name in project.models("neighbors")
        if mined and list_depth(project, name) >= least:
            parts.append(inputs.read("neighbors", name))
        elif name in project.models("embeddings"):
            parts.append(_mine(inputs, name, max(least, DEPTH), allow_missing=allow_missing))
        else:
            raise InputError(
                f"the lists of model {name} are not {least} deep, and it has no vectors"
                if mined
                else f"model {name} has neither lists nor vectors",
                where=str(project.root),
                hint="Mine deeper lists, or leave the model out.",
            )
    return pd.concat(parts, ignore_index=True)


def list_depth(project: "Project", name: str) -> int:
    """Return how deep the model's lists were mined; of lists that were imported, how deep they are."""
    mined = mined_depth(project, name)
    if mined is not None:
        return mined
    return longest_list(project, name)


def longest_list(project: "Project", name: str) -> int:
    """Return how many candidates the model's longest list has: fewer than were asked for where there are no more."""
    from eds import tables

    deepest = tables.largest(project.path("neighbors", name), tables.NEIGHBORS, "rank")
    return 0 if deepest is None else deepest + 1


def _mine(inputs: Inputs, name: str, k: int, *, allow_missing: bool) -> "pd.DataFrame":
    from dataclasses import replace

    from eds.neighbors import mine
    from eds.project.ranks_and_scores import official_rules, open_vectors

    project = inputs.project
    vectors, known = open_vectors(project, [name], inputs.images(), allow_missing=allow_missing)[name]
    with project.progress(f"mining {name}", "vectors") as progress:
        return mine(vectors, known, replace(official_rules(project), k=k), progress=progress)
