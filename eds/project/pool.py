"""What `eds suspects` reads, writes and tells: the pool made or grown, and the table's provenance.

The table carries the settings and parents of its pool, and every command that added rows, in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.project.executor import site
from eds.project.pool_ties import check_whole, mined_depth, whole_ties

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.tables import Provenance

KEYS = ("k", "order", "batch")  # that eds.toml has, too


def make_pool(project: "Project", options: Mapping[str, Any]) -> dict[str, Any]:
    """Make or grow the pool, write it, and tell what it is; `options` were typed, the rest is eds.toml's."""
    from eds.suspects import overlap, pool_growth, reversed_pairs, shared_ranks, sources_frame
    from eds.suspects import pool as make

    settings = {f"suspects.{key}": project.config.value(f"suspects.{key}") for key in KEYS if key not in options}
    used = {key: options.get(key, settings.get(f"suspects.{key}")) for key in KEYS}
    symmetric = options.get("symmetric", "keep")
    settings["project.seed"] = project.config.project.seed
    names = sorted(options.get("models", ())) or project.models("neighbors")
    ties = whole_ties(project, names, options.get("keep_ties"))
    proposed = lists(project, names, 2 * used["k"], ties)
    check_mined(project, names, used["k"])
    check_whole(project, ties, proposed, used["k"])
    before = chosen(project)
    after = make(
        proposed,
        used["k"],
        seed=project.config.project.seed,
        order=used["order"],
        batch_size=used["batch"],
        previous=before,
        symmetric=symmetric,
        truth=decided(project),
        whole_ties=ties,
    )
    proposed = shared_ranks(proposed, ties)
    parents = [project.path("neighbors", model) for model in names]
    made_by = project.provenance("suspects.pool", settings, parents, params=options)
    if project.path("suspects").exists():
        earlier = _made_by(project)
        made_by = replace(made_by, later=tuple(step for step in earlier.operations if step.name != "suspects.pool"))
    project.write(after, "suspects", made_by)
    mine = after[after["origin"] == "pool"]
    told = overlap(proposed, used["k"])
    gone = sorted(set(sources_frame(mine)["model"]) - set(names))
    states = [project.state("neighbors", name) for name in names]
    deep = min(2 * used["k"], int(proposed["rank"].max()) + 1)
    return {
        "k": used["k"],
        "order": used["order"],
        "size": len(mine),
        "new": len(after) - len(before),
        "batches": int(mine["batch"].nunique()),
        "whole_ties": ties,
        "models_no_longer_pooled": gone,
        "stale_lists": {state.model: list(state.reasons) for state in states if state.condition == "stale"},
        "symmetric": {
            "rule": symmetric,
            "pairs_both_ways": reversed_pairs(mine),
            "left_out": _left_out(told, mine, symmetric, before),
        },
        **told,
        "growth": pool_growth(proposed, deep),
        "cost": _cost(project, used["k"], len(names), told["unique"]),
    }


def _left_out(told: dict[str, Any], mine: "pd.DataFrame", symmetric: str, before: "pd.DataFrame") -> int | None:
    """Pairs whose mirror is judged in their stead; not told where older rows blur the count."""
    if symmetric == "keep":
        return 0
    return int(told["unique"]) - len(mine) if not len(before) else None


def _cost(project: "Project", k: int, models: int, size: int) -> list[dict[str, Any]] | None:
    """The budget of this pool, where there is a table images to count all pairs in."""
    from eds.project.budget import project_budget

    return project_budget(project, k=k, models=models, pool_size=size) if project.path("images").exists() else None


def chosen(project: "Project") -> "pd.DataFrame":
    """The suspects that are there; an empty table where there are none yet."""
    from eds.tables import SUSPECTS

    return project.read("suspects") if project.path("suspects").exists() else SUSPECTS.empty()


def decided(project: "Project") -> "pd.DataFrame | None":
    """The decided labels, where there are any."""
    if not project.path("truth").exists():
        return None
    return project.read("truth")[["query_id", "candidate_id", "value"]]


def lists(project: "Project", models: Sequence[str], depth: int, ties: Sequence[str] = ()) -> "pd.DataFrame":
    """The models' lists, as deep as is needed; of the models `ties` the tie group of the last place whole."""
    from eds.suspects.list_heads import list_heads

    known = project.models("neighbors")
    unknown = [name for name in models if name not in known]
    if unknown or not models:
        raise InputError(
            f"no lists of model {', '.join(unknown)}" if unknown else "no model has lists yet",
            where=str(project.root / "neighbors"),
            do=f"Make them: eds neighbors mine. There are: {', '.join(known) or 'none'}.",
        )
    with site(project, "lists") as place:
        files = {model: project.path("neighbors", model) for model in models}
        return list_heads(files, depth, ties=ties, site=place)


def check_mined(project: "Project", models: Sequence[str], k: int, wanted: str = "") -> None:
    """Refuse what needs more candidates than the lists were made to hold; by default a pool."""
    faults = []
    for model in models:
        mined = mined_depth(project, model)
        if mined is not None and mined < k:
            faults.append(f"the lists of model {model} were made to depth {mined}")
    if faults:
        raise InputError(
            f"{wanted or f'a pool at k = {k}'} needs deeper lists",
            do=_deeper(project, k),
            faults=faults,
        )


def _deeper(project: "Project", k: int) -> str:
    """How to mine so deep; a depth that was typed is used again by eds run, until mining is typed without it."""
    told = project.config.neighbors.k
    by_file = f"eds neighbors mine, without -k: eds.toml says {told}" if told >= k else f"eds neighbors mine -k {k}"
    return f"Mine deeper: {by_file}."


def pool_depth(project: "Project") -> int:
    """The depth of the pool that stands there."""
    if project.path("suspects").exists():
        made_by = _made_by(project)
        depth = made_by.params.get("k", made_by.settings.get("suspects.k"))
        if depth is not None:
            return int(depth)
    raise InputError("there is no pool yet", where="option --lo", do="Make it (eds suspects pool), or give --lo.")


def append(project: "Project", after: "pd.DataFrame", operation: str, params: Mapping[str, Any]) -> None:
    """Write the table with the provenance of the pool, and this operation added to it."""
    from eds.tables import Operation

    if project.path("suspects").exists():
        earlier = _made_by(project)
        made_by = replace(earlier, later=(*earlier.later, Operation(operation, params)))
    else:
        made_by = project.provenance(operation, {}, [], params=params)
    project.write(after, "suspects", made_by)


def _made_by(project: "Project") -> "Provenance":
    from eds import tables

    return tables.read_provenance(project.path("suspects"), tables.SUSPECTS)[0]


def pairs_of(file: Path) -> "pd.DataFrame":
    """A file of pairs: CSV as text (value as a number), or Parquet."""
    import pandas as pd
    import pyarrow as pa

    try:
        if file.suffix.lower() == ".parquet":
            return pd.read_parquet(file)
        table = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8")
    except (ValueError, OSError, pa.ArrowException) as error:
        told = " ".join(str(error).split())
        raise InputError(f"cannot be read ({told})", where=str(file), do="Give CSV or Parquet.") from error
    if "value" in table.columns:
        table["value"] = pd.to_numeric(table["value"], errors="coerce")
    return table


def known_pairs(project: "Project", file: Path) -> "pd.DataFrame":
    """A file of pairs whose images are all in table images: no other can be shown to anybody."""
    table = pairs_of(file)
    images = project.read("images", columns=["image_id"])["image_id"] if project.path("images").exists() else None
    faults = []
    for name in ("query_id", "candidate_id"):
        if images is not None and {"query_id", "candidate_id"} <= set(table.columns):
            unknown = table.loc[~table[name].isin(images), name].unique()
            more = ", …" if len(unknown) > 3 else ""
            if len(unknown):
                faults.append(f"{name}: {len(unknown):,} unknown: {', '.join(map(str, unknown[:3]))}{more}")
    if faults:
        raise InputError(
            "pairs of images that are not in table images", where=str(file), do="Mend the ids.", faults=faults
        )
    return table


def at_rank(by_rank: dict[str, list[list[int]]] | None, rank: int) -> tuple[int, int]:
    """Labelled and positive proposals of all models at one rank."""
    at = [counts[rank] for counts in (by_rank or {}).values() if rank < len(counts)]
    return sum(labelled for _, labelled in at), sum(positive for positive, _ in at)
