"""The pool of suspects: made or grown from the models' lists, and what other verbs read from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.journal import withdrawn, write_suspects
from eds.project.mine import check_depth, mined_depth, read_heads
from eds.project.models import find_models, generators, record, roles
from eds.project.price import judged_pairs
from eds.project.results import Result

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from eds.project import Project
    from eds.project.price import Price
    from eds.suspects.budget import Plan
    from eds.tables import Provenance
    from eds.universe import UniverseSize

GROWTH = 20  # depth to which the growth of the pool is shown


@dataclass(frozen=True)
class PoolResult(Result):
    """The pool, and what it tells about the models that built it."""

    k: int
    order: str
    size: int  # pairs of the pool
    new: int  # of them, pairs added by this call
    left: int  # pairs that left the pool, since its depth is smaller now
    left_judged: int  # of them, pairs with a label or a vote: these stay, and count no more as the pool
    batches: int
    universe: "UniverseSize | None"  # the pairs that the pool is a part of; None without images
    overlap: Mapping[str, Any]  # see eds.suspects.overlap
    growth: "pd.DataFrame"  # k, size, new
    price: "Price"  # of the pairs that this call added
    cost: "list[Plan] | None"  # labelling plans, if the project has images
    whole_ties: list[str]  # models whose tie group at rank k was taken whole
    dropped_models: list[str]  # models named in the sources that were not pooled this time
    stale_lists: dict[str, list[str]]  # model -> why its list is stale
    symmetric: str  # keep or merge
    symmetric_pairs: int  # pairs (q, c) whose mirror (c, q) is in the pool, too
    symmetric_dropped: int | None  # pairs represented by their mirror; None if earlier rows make it uncountable
    table: "pd.DataFrame" = field(repr=False)

    def charts(self) -> "Mapping[str, alt.LayerChart]":
        """The overlap of the models, and how the pool grows with its depth."""
        from eds.reports.charts import heat_map, line_chart

        models, k, new = self.overlap["models"], self.growth["k"].tolist(), self.growth["new"].tolist()
        overlap = heat_map(models, models, self.overlap["overlap"], kind="share", diagonal=False, lowest=0.0)
        return {
            "Overlap of the models": overlap,
            "New pairs at each depth": line_chart(k, new, x_label="k", kind="count"),
        }


@dataclass(frozen=True)
class GrowthResult(Result):
    """Size of the pool at every depth, and what the labels say about each rank."""

    growth: "pd.DataFrame"  # k, size, new; with labels also the rate of all proposals at rank k - 1
    positive_rate_by_rank: dict[str, list[dict[str, Any]]] | None  # model -> for every rank the rate and its interval


@dataclass(frozen=True)
class SuspectsResult(Result):
    """Pairs and batches by origin and stratum."""

    pairs: int
    batches: int
    by_origin: "pd.DataFrame"  # origin, stratum, pairs, first_batch, last_batch


def pool(
    project: "Project",
    models: Sequence[str] = (),
    *,
    k: int | None = None,
    order: str | None = None,
    batch: int | None = None,
    symmetric: str = "keep",
    keep_ties: bool | None = None,
) -> PoolResult:
    """Make or grow the pool; see Project.pool."""
    from eds.project.budget import project_budget
    from eds.project.price import price_of_suspects
    from eds.project.universe import project_universe
    from eds.suspects import (
        Batching,
        overlap,
        pool_growth,
        reversed_pairs,
        shared_ranks,
        sources_frame,
        within_depth,
        without_orphans,
    )
    from eds.suspects import pool as make
    from eds.suspects.budget import Scope
    from eds.tables import Operation

    with project.writing("suspects.pool"):
        given: dict[str, Any] = {"k": k, "order": order, "batch": batch}
        settings = {f"suspects.{key}": project.config.value(f"suspects.{key}") for key in given if given[key] is None}
        settings["project.seed"] = seed = project.config.project.seed
        used = {key: settings.get(f"suspects.{key}", value) for key, value in given.items()}
        k, order, batch = used["k"], used["order"], used["batch"]
        inputs = Inputs(project)
        models = find_models(project, models)
        names = sorted(models) or _generators(inputs)
        ties = models_with_whole_ties(project, names, keep_ties)
        lists = read_heads(project, names, 2 * k, ties)
        check_depth(project, names, k, f"a pool at k = {k}")
        _check_ties_not_cut(project, ties, lists, k)
        before = inputs.suspects
        batching = Batching(order, batch, seed, truth=read_decided(inputs))
        ranked = shared_ranks(lists, ties)
        earlier = _with_returning(project, before, ranked[ranked["rank"] < k])
        table = make(lists, k, batching, previous=earlier, symmetric=symmetric, whole_ties=ties)
        table = without_orphans(within_depth(table, k))
        rule = None if symmetric == "keep" else symmetric
        params = {**given, "models": models, "symmetric": rule, "keep_ties": keep_ties}
        parents = [project.path("neighbors", model) for model in names]
        made_by = project.provenance("suspects.pool", settings, parents, params=params)
        if project.path("suspects").exists():
            steps = suspects_provenance(project).operations
            made_by = replace(made_by, later=tuple(step for step in steps if step.name != "suspects.pool"))
        price = price_of_suspects(inputs, table)
        project.agree(price)
        changes = _changes(inputs, table)
        write_suspects(inputs, table, made_by, Operation("suspects.pool", params))
        known = roles(project, inputs)
        for name in models:  # who names a model for the pool makes it a generator
            if known[name] != "generator":
                record(project, name, role="generator")
    pooled = table[table["origin"] == "pool"]
    shared = overlap(ranked, k)
    dropped = None if len(before) else shared["unique"] - len(pooled)
    states = [project.state("neighbors", name) for name in names]
    universe, cost = project_universe(inputs) if project.path("images").exists() else None, None
    if universe is not None and (size := int((universe.numbers(pooled) >= 0).sum())):
        cost = project_budget(project, Scope.of_universe(universe, len(names), k), size)
    return PoolResult(
        k=k,
        order=order,
        size=len(pooled),
        new=changes[0],
        left=changes[1],
        left_judged=changes[2],
        batches=int(pooled["batch"].nunique()),
        universe=universe.described if universe else None,
        overlap=shared,
        price=price,
        growth=_growth_frame(pool_growth(ranked, min(2 * k, int(ranked["rank"].max()) + 1))),
        cost=cost,
        whole_ties=ties,
        dropped_models=sorted(set(sources_frame(pooled)["model"]) - set(names)),
        stale_lists={str(state.model): list(state.reasons) for state in states if state.condition == "stale"},
        symmetric=symmetric,
        symmetric_pairs=reversed_pairs(pooled),
        symmetric_dropped=0 if symmetric == "keep" else dropped,
        table=table,
    )


def _with_returning(project: "Project", before: "pd.DataFrame", near: "pd.DataFrame") -> "pd.DataFrame":
    """The suspects, and behind them pooled pairs that left when the pool was made smaller and are in it again.

    They keep the batch and the place that they had: what is judged of a batch says something about the rest of it.
    """
    import pandas as pd

    from eds.suspects.append import canonical

    pair = ["query_id", "candidate_id"]
    gone = withdrawn(project, before)
    gone = gone[(gone["origin"] == "pool") & gone["stratum"].str.startswith("pool@").fillna(False)]
    back = gone[pd.MultiIndex.from_frame(gone[pair]).isin(pd.MultiIndex.from_frame(near[pair]))]
    if not len(back):
        return before
    return canonical(pd.concat([before, back.assign(sources=None)], ignore_index=True))


def _changes(inputs: Inputs, table: "pd.DataFrame") -> tuple[int, int, int]:
    """How many pairs join the pool, how many leave it, and how many of these are judged."""
    import pandas as pd

    pair = ["query_id", "candidate_id"]
    then, now = (
        pd.MultiIndex.from_frame(rows.loc[rows["origin"] == "pool", pair].astype(str))
        for rows in (inputs.suspects, table)
    )
    left = then.difference(now)
    judged = pd.MultiIndex.from_frame(judged_pairs(inputs).astype(str)) if len(left) else left
    return len(now.difference(then)), len(left), int(left.isin(judged).sum())


def refresh(project: "Project") -> PoolResult | None:
    """Make the pool again if it is missing or stale, or if a generator has lists now that are not in it."""
    state = project.state("suspects")
    params = dict(state.params) if state.operation == "suspects.pool" else {}
    there = generators(project)
    params["models"] = [name for name in params.get("models", ()) if name in there]  # others were removed since
    if state.condition != "absent" and not there:
        return None  # the pairs of an imported benchmark
    if state.condition == "fresh":
        models = params["models"] or there
        files = {project.path("neighbors", model).relative_to(project.root).as_posix() for model in models}
        if files <= set(suspects_provenance(project).parents):
            return None
    result = pool(project, **params)
    left = f"; {result.left:,} left it, {result.left_judged:,} of them judged" if result.left else ""
    project.say(f"suspects: {result.size:,} pairs in the pool at k = {result.k}, {result.new:,} of them new{left}")
    return result


def pool_growth(project: "Project", models: Sequence[str] = (), *, k_max: int | None = None) -> GrowthResult:
    """Size of the pool at every depth; see Project.pool_growth."""
    import pandas as pd

    from eds.suspects import pool_growth as grow
    from eds.suspects import positive_rates, shared_ranks

    inputs = Inputs(project)
    names = find_models(project, models) or _generators(inputs)
    ties = models_with_whole_ties(project, names, None)
    lists = shared_ranks(read_heads(project, names, k_max or GROWTH, ties), ties)
    depth = k_max or min(GROWTH, int(lists["rank"].max()) + 1)
    check_depth(project, names, depth, f"growth up to k = {depth}")
    growth, labels = _growth_frame(grow(lists, depth)), read_decided(inputs)
    if labels is None:
        return GrowthResult(growth, None)
    rates = positive_rates(lists[lists["rank"] < depth], labels)
    by_rank = pd.DataFrame([rate.to_dict() for rate in rates.by_rank]).drop(columns="pairs")
    by_model = {model: [rate.to_dict() for rate in ranks] for model, ranks in rates.by_model_and_rank.items()}
    return GrowthResult(pd.concat([growth, by_rank], axis=1), by_model)


def suspects(project: "Project") -> SuspectsResult:
    """Pairs and batches by origin and stratum; see Project.suspects."""
    table = project.read("suspects", columns=["origin", "stratum", "batch"])
    groups = table.assign(stratum=table["stratum"].fillna("")).groupby(["origin", "stratum"])
    counts = groups.agg(pairs=("batch", "size"), first_batch=("batch", "min"), last_batch=("batch", "max"))
    by_origin = counts.reset_index().sort_values(["first_batch", "origin", "stratum"], ignore_index=True)
    return SuspectsResult(len(table), int(table["batch"].nunique()), by_origin)


def read_decided(inputs: "Inputs") -> "pd.DataFrame | None":
    """The decided labels (query_id, candidate_id, value); None if the project has none yet."""
    return inputs.read("truth")[["query_id", "candidate_id", "value"]] if inputs.exists("truth") else None


def suspects_provenance(project: "Project") -> "Provenance":
    """The operations that made table suspects."""
    from eds import tables

    return tables.read_provenance(project.path("suspects"), tables.SUSPECTS)[0]


def pooled_models(project: "Project") -> list[str]:
    """The models whose lists the pool was made of, ascending; none where there is no pool, or it was not made here."""
    if not project.path("suspects").exists():
        return []
    parents = map(PurePosixPath, suspects_provenance(project).parents)
    return sorted(path.stem for path in parents if path.parent.name == "neighbors")


def pool_depth(project: "Project") -> int | None:
    """The depth k of the pool; None if there is none, or it was not made here."""
    if not project.path("suspects").exists():
        return None
    made_by = suspects_provenance(project)
    depth: int | None = made_by.params.get("k", made_by.settings.get("suspects.k"))
    return depth


def models_with_whole_ties(project: "Project", models: Sequence[str], keep_ties: bool | None) -> list[str]:
    """The models whose tie group at the last rank is taken whole: all, none, or (None) those of binary codes.

    Codes tie so often that a cut by rank would be a cut by id.
    """
    from eds.project.code_histograms import hash_models

    if keep_ties is None:
        return hash_models(project, models)
    return list(models) if keep_ties else []


def _check_ties_not_cut(project: "Project", ties: Sequence[str], lists: "pd.DataFrame", k: int) -> None:
    """Refuse lists that mining cut by id within the tie group at rank k: the rest of that group is missing."""
    from eds.suspects import shared_ranks

    faults = []
    for model in ties:
        depth = mined_depth(project, model)
        mine = lists[lists["model"] == model]
        last = (mine["rank"] == (depth or 0) - 1) & (shared_ranks(mine, [model])["rank"] < k)
        if depth is not None and _cut_by_id(project, model) and last.any():
            faults.append(f"{int(last.sum()):,} lists of model {model} end at depth {depth} within such a group")
    if faults:
        raise InputError(
            f"candidates that tie with the {k}th were cut off by id",
            where="table neighbors",
            hint="Mine whole tie groups (eds neighbors mine --keep-ties), or cut here, too: --no-keep-ties.",
            faults=faults,
        )


def _cut_by_id(project: "Project", model: str) -> bool:
    """Whether the lists of the model were mined without whole tie groups."""
    from eds.project.code_histograms import hash_models

    params = project.state("neighbors", model).params
    return not params.get("keep_ties", bool(hash_models(project, [model])))


def _generators(inputs: Inputs) -> list[str]:
    """The generators that have lists; refused where lists are there and none is a generator's."""
    project = inputs.project
    names = generators(project, "neighbors", inputs)
    if not names and (others := project.models("neighbors")):
        raise InputError(
            f"no model with lists is a generator; evaluated are {', '.join(others)}",
            where=str(project.root),
            hint=f"Name those that make the pool: eds suspects pool -m {others[0]}.",
        )
    return names


def _growth_frame(growth: Mapping[str, Sequence[int]]) -> "pd.DataFrame":
    import pandas as pd

    sizes = growth["size"]
    return pd.DataFrame({"k": range(1, len(sizes) + 1), "size": sizes, "new": growth["marginal"]})
