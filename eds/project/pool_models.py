"""Who made the pool, and every model's final lists: what the analyses of bias start from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError, ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

IMPORTED = "imported"  # stratum of a benchmark's pairs
DEPTH = 100  # of lists that are mined for an analysis


def generator_lists(project: "Project", makers: Sequence[str], k: int | None, *, allow_missing: bool) -> "pd.DataFrame":
    """The lists that the pool was made of: model, query_id, candidate_id, rank.

    They are what the suspects' sources tell. Of an imported benchmark those are not known, whoever proposes its pairs
    by now: its makers must be named, and their lists at depth k are taken, as of any named model that no source tells.
    """
    import pandas as pd

    told, imported = told_makers(project)
    known = sorted(told["model"].unique())
    if not makers and not known:
        raise ProjectError(
            "who made the pool is not told: " + ("it was imported" if imported else "the suspects have no sources"),
            where=str(project.path("suspects")),
            do="Make a pool (eds suspects pool), or name the models that made it: --generator MODEL.",
        )
    wanted = sorted(set(makers)) if makers else known
    rest = [name for name in wanted if name not in known]
    parts = [told[told["model"].isin(wanted)]]
    if rest:
        deep = k or project.config.suspects.k
        lists = final_lists(project, rest, deep, allow_missing=allow_missing)
        parts.append(lists.loc[lists["rank"] < deep, list(told.columns)])
    return pd.concat(parts, ignore_index=True)


def told_makers(project: "Project") -> "tuple[pd.DataFrame, bool]":
    """What the suspects' sources tell of who proposed which pair, and whether the pool was imported: then nothing."""
    from eds.project.pool import read_suspects
    from eds.suspects import sources_frame

    suspects = read_suspects(project)
    imported = bool((suspects["stratum"] == IMPORTED).any())
    return sources_frame(suspects.iloc[:0] if imported else suspects), imported


def final_lists(
    project: "Project", models: Sequence[str], least: int, *, allow_missing: bool = False
) -> "pd.DataFrame":
    """Each model's list of every query, at least so deep where there are as many candidates.

    Table neighbors where it is deep enough; else they are mined now, by the project's rules, and not kept.
    """
    import pandas as pd

    from eds.neighbors.rules import COLUMNS

    images = project.read("images", columns=COLUMNS)
    parts = []
    for name in models:
        found = project.read("neighbors", name) if name in project.models("neighbors") else None
        if found is None or mined_to(project, name) < least:
            if name not in project.models("embeddings"):
                raise InputError(
                    f"the lists of model {name} are not {least} deep, and it has no vectors" if found is not None
                    else f"model {name} has neither lists nor vectors",
                    where=str(project.root), do="Mine deeper lists, or leave the model out.",
                )  # fmt: skip
            found = _mined(project, name, images, max(least, DEPTH), allow_missing=allow_missing)
        parts.append(found)
    return pd.concat(parts, ignore_index=True)


def mined_to(project: "Project", name: str) -> int:
    """How deep the lists of the model were made; of lists that came from elsewhere, how deep they are."""
    from eds import tables

    made_by, _ = tables.read_provenance(project.path("neighbors", name), tables.NEIGHBORS)
    told = made_by.params.get("k", made_by.settings.get("neighbors.k"))
    if told is not None:
        return int(told)
    ranks = tables.read(project.path("neighbors", name), tables.NEIGHBORS, ["rank"])["rank"]
    return int(ranks.max()) + 1 if len(ranks) else 0


def _mined(project: "Project", name: str, images: "pd.DataFrame", k: int, *, allow_missing: bool) -> "pd.DataFrame":
    from dataclasses import replace

    from eds.neighbors import mine
    from eds.project.ranks_and_scores import official_rules, opened

    vectors, there = opened(project, [name], images, allow_missing=allow_missing)[name]
    with project.progress(f"mining {name}", "vectors") as progress:
        return mine(vectors, there, replace(official_rules(project), k=k), progress=progress)
