"""The models' ranked lists: mined, and read as deep as a verb needs them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eds.choices import CategoryRule, Similarity
from eds.errors import EdsError, InputError, ProjectError
from eds.project.executor import check_not_in_parts, open_executor
from eds.project.models import find_models, roles
from eds.project.results import Result, given_values

if TYPE_CHECKING:
    import pandas as pd

    from eds.neighbors import Mined, Rules
    from eds.parallel import Executor
    from eds.project import Project
    from eds.vectors import Vectors

SETTINGS = ("k", "search", "exclude_product", "one_per_product", "category")  # options with a setting in eds.toml


@dataclass(frozen=True)
class MineOptions:
    """What shapes a list; None: as eds.toml says, or as the model needs it."""

    k: int | None = None
    search: str | None = None
    exclude_product: bool | None = None
    one_per_product: bool | None = None
    category: CategoryRule | None = None
    keep_ties: bool | None = None
    metric: Similarity | None = None
    effort: float | None = None
    allow_low_recall: bool = False


@dataclass(frozen=True)
class ModelLists(Result):
    """The lists of one model."""

    model: str
    k: int
    rows: int
    made: bool  # False: they were up to date
    queries: int | None = None  # these three are counted when lists are made
    short: int | None = None  # queries with fewer than k candidates
    recall: float | None = None  # of an approximate search


@dataclass(frozen=True)
class MineResult(Result):
    """The lists of every model."""

    lists: list[ModelLists]


@dataclass(frozen=True)
class ListsState(Result):
    """The lists that a model has."""

    model: str
    rows: int | None
    state: str
    why: list[str]
    recall: float | None
    made_by: str


@dataclass(frozen=True)
class NeighborsResult(Result):
    """The lists of every model that has any."""

    models: list[ListsState]


def mine(
    project: "Project",
    models: Sequence[str] = (),
    options: MineOptions | None = None,
    *,
    allow_missing: bool = False,
    threads: int | None = None,
    force: bool = False,
) -> MineResult:
    """Mine the models' lists; see Project.mine."""
    from eds.neighbors.rules import COLUMNS, Rules

    given = given_values(options or MineOptions())
    whole = {"threads": threads, "allow_low_recall": given.get("allow_low_recall")}
    check_not_in_parts(project, [name for name, value in whole.items() if value])
    with project.writing("neighbors.mine"):
        settings = {
            f"neighbors.{key}": project.config.value(f"neighbors.{key}") for key in SETTINGS if key not in given
        }
        values: dict[str, Any] = {key: given.get(key, settings.get(f"neighbors.{key}")) for key in SETTINGS}
        search = values.pop("search")
        rules = Rules(**values)
        names = _choose_models(project, models)
        catalogue = project.read("images", columns=COLUMNS)
        images, vectors = _open_vectors(project, catalogue, names, allow_missing=allow_missing)
        complete = len(images) == len(catalogue)
        params = given if complete else {**given, "allow_missing": True}
        lists = []
        with open_executor(project, "neighbors") as executor:
            for name in names:
                state = project.state("neighbors", name)
                if state.condition == "fresh" and state.params == params and not force:
                    lists.append(ModelLists(name, rules.k, state.rows or 0, made=False))
                    continue
                if project.would(
                    "make" if state.condition == "absent" else "replace",
                    project.path("neighbors", name),
                    f"the {rules.k:,} nearest candidates of {int((images['role'] != 'candidate').sum()):,} queries",
                ):
                    continue
                # A cut through the lists of codes, which are full of ties, would be a cut by id.
                ties = given.get("keep_ties", vectors[name].model.dtype == "bits")
                mined = _search(
                    project, vectors[name], images, replace(rules, keep_ties=ties), search, given, threads, executor
                )
                # The images that all models have depend on every model, once one of them lacks some.
                sources = [project.path("embeddings", other) for other in ([name] if complete else names)]
                approximate = mined.recall is not None
                notes = {"recall": round(mined.recall or 0.0, 4), "compared": mined.compared} if approximate else {}
                parents = [project.path("images"), *sources]
                made_by = project.provenance("neighbors.mine", settings, parents, params=params, notes=notes)
                project.write(mined.lists, "neighbors", made_by, name)
                queries = int(mined.lists["query_id"].nunique())
                lists.append(ModelLists(name, rules.k, len(mined.lists), True, queries, mined.short, mined.recall))
    return MineResult(lists)


def refresh(project: "Project") -> list[MineResult]:
    """Mine what generators lack, by eds.toml, and what is stale, with the options it was made with."""
    known = roles(project)
    usual = {"allow_missing": True} if project.config.images.on_bad == "skip" else {}
    groups: dict[str, list[str]] = {}  # options -> models mined alike
    for name in project.models("embeddings"):
        state = project.state("neighbors", name)
        if state.condition != "fresh" and (state.condition != "absent" or known[name] == "generator"):
            groups.setdefault(json.dumps({**usual, **state.params}, sort_keys=True), []).append(name)
    results = []
    for text, names in groups.items():
        params = json.loads(text)
        allow_missing = params.pop("allow_missing", False)
        results.append(mine(project, names, MineOptions(**params), allow_missing=allow_missing))
    return results


def neighbors(project: "Project") -> NeighborsResult:
    """Read the state of every model's lists; see Project.neighbors."""
    states = [project.state("neighbors", model) for model in project.models("neighbors")]
    return NeighborsResult(
        [
            ListsState(
                str(state.model),
                state.rows,
                state.condition,
                list(state.reasons),
                state.notes.get("recall"),
                state.made_by,
            )
            for state in states
        ]
    )


def read_heads(project: "Project", models: Sequence[str], depth: int, ties: Sequence[str] = ()) -> "pd.DataFrame":
    """The first `depth` ranks of the models' lists; of the models `ties` with the tie group at the last rank whole."""
    from eds.suspects.list_heads import list_heads

    known = project.models("neighbors")
    unknown = [name for name in models if name not in known]
    if unknown or not models:
        raise InputError(
            f"no lists of model {', '.join(unknown)}" if unknown else "no model has lists yet",
            where=str(project.root / "neighbors"),
            hint="Make them: eds neighbors mine." + (f" There are: {', '.join(known)}." if known else ""),
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
    command = (
        f"eds neighbors mine, without -k: eds.toml says {setting}"
        if setting >= depth
        else (f"eds neighbors mine -k {depth}")
    )
    raise InputError(f"{purpose} needs deeper lists", hint=f"Mine deeper: {command}.", faults=faults)


def mined_depth(project: "Project", model: str) -> int | None:
    """The depth to which the model's lists were mined; None if they were imported."""
    from eds import tables

    made_by, _ = tables.read_provenance(project.path("neighbors", model), tables.NEIGHBORS)
    depth: int | None = made_by.params.get("k", made_by.settings.get("neighbors.k"))
    return depth


def _search(
    project: "Project",
    vectors: "Vectors",
    images: "pd.DataFrame",
    rules: "Rules",
    search: str,
    given: dict[str, Any],
    threads: int | None,
    executor: "Executor | None",
) -> "Mined":
    from eds.neighbors import mine_with_recall
    from eds.neighbors.mine import LOWEST_RECALL

    name = vectors.model.name
    with project.progress(f"mining {name}", "parts" if executor else "vectors") as progress:
        return mine_with_recall(
            vectors,
            images,
            rules,
            search=search,
            metric=given.get("metric"),
            threads=threads,
            effort=given.get("effort"),
            lowest_recall=0.0 if given.get("allow_low_recall") else LOWEST_RECALL,
            executor=executor.within(name) if executor else None,
            progress=progress,
        )


def _choose_models(project: "Project", models: Sequence[str]) -> list[str]:
    """The models requested, or all that have vectors."""
    known, models = project.models("embeddings"), find_models(project, models)
    begun = sorted({path.parent.name for path in (project.root / "embeddings").glob("*/partial.json")} - set(known))
    if begun and not models:
        project.say(f"Left out, not finished: {', '.join(begun)}. Resume with eds embeddings compute.")
    unknown = [name for name in models if name not in known]
    if unknown or not known:
        raise ProjectError(
            f"no vectors of {', '.join(unknown) or 'any model'}",
            where=str(project.root),
            hint="Compute them: eds embeddings compute." + (f" There are: {', '.join(known)}." if known else ""),
        )
    return sorted(set(models)) or known


def _open_vectors(
    project: "Project", images: "pd.DataFrame", names: list[str], *, allow_missing: bool
) -> "tuple[pd.DataFrame, dict[str, Vectors]]":
    """The images that every model has a vector of, and the vectors; one error for all that is stale or missing."""
    from eds.project.ranks_and_scores import find_known
    from eds.project.staleness import outdated
    from eds.vectors import Vectors

    vectors, faults, stale = {}, [], []
    in_all = None
    for name in names:
        stale += [f"{name}: {why}" for why in project.state("embeddings", name).reasons]
        try:
            vectors[name] = Vectors.open(project.path("embeddings", name))
        except EdsError as error:
            faults.append(f"{name}: {error}")
            continue
        stale += [f"{name}: {why}" for why in outdated(project, vectors[name].model)]
        has = find_known(images["image_id"], vectors[name].id_column)
        in_all = has if in_all is None else in_all & has
        if not has.all() and not allow_missing:
            missing = images.loc[~has, "image_id"]
            faults.append(f"{name}: {len(missing):,} images have no vector: {', '.join(missing[:5])}")
    if stale or faults:
        raise ProjectError(
            "vectors are stale, damaged or incomplete",
            where=str(project.root / "embeddings"),
            hint="Update them: eds embeddings compute. To leave out images that cannot be read: --allow-missing.",
            faults=[*stale, *faults],
        )
    if in_all is not None and not in_all.all():
        project.say(f"{int((~in_all).sum()):,} images are left out: some model has no vector of them.")
        images = images[in_all]
    return images, vectors
