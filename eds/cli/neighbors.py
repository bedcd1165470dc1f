"""`eds neighbors`: each model's most similar candidates for each query."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command, given
from eds.cli.options import executor_option, one_of
from eds.cli.render import format_table
from eds.errors import EdsError, ProjectError
from eds.project.executor import open_executor, refuse_in_parts
from eds.registry import SEARCHES

if TYPE_CHECKING:
    import pandas as pd

    from eds.neighbors import Mined, Rules
    from eds.parallel import Executor
    from eds.project import Project
    from eds.vectors import Vectors

WHOLE = {  # options of a search in one piece, and what to do instead where it is in parts
    "threads": ("--threads", "Leave --threads out: [executor] threads says how many each part takes."),
    "allow_low_recall": ("--allow-low-recall", "Leave --allow-low-recall out: parts are searched exactly."),
}
KEYS = ("k", "search", "exclude_product", "one_per_product", "category")  # that eds.toml has, too


@click.group()
def neighbors() -> None:
    """Search each model's most similar candidates."""


@command(neighbors, "mine", example="eds neighbors mine -k 100 --category same")
@click.option("-k", "k", type=click.IntRange(1), help="Candidates in each list (default: eds.toml).")
@click.option("-m", "--models", multiple=True, metavar="MODEL", help="Only this model; may be given several times.")
@click.option("--search", type=one_of(SEARCHES), help="What searches; ivf, pq and hnsw miss some (default: eds.toml).")
@executor_option
@click.option(
    "--effort", type=click.FloatRange(0, min_open=True), help="How many times as hard as usual an index searches."
)
@click.option("--metric", type=one_of(choices.Similarity), help="Another metric than the model's own.")
@click.option("--exclude-product/--no-exclude-product", default=None, help="Leave out the query's own product, or not.")
@click.option(
    "--one-per-product/--no-one-per-product", default=None, help="Only the best image of each product, or all."
)
@click.option("--category", type=one_of(choices.CategoryRule), help="Which candidates count, beside the query's.")
@click.option(
    "--keep-ties/--no-keep-ties",
    default=None,
    help="Keep all that score as the k-th does (usual for codes), or cut by id.",
)
@click.option("--allow-low-recall", is_flag=True, help="Accept an index that finds less than 99 % of the exact lists.")
@click.option("--allow-missing", is_flag=True, help="Leave out images that some model has no vector of.")
@click.option("--threads", type=click.IntRange(1), help="Threads beside those of the matrix products.")
@click.option("--force", is_flag=True, help="Mine also what is fresh.")
def mine(console: Console, **options: Any) -> None:
    """Search the k nearest candidates of every query, by every model; what is fresh is left alone."""
    project = console.project
    asked = given(options)
    refuse_in_parts(project, dict(WHOLE[name] for name in WHOLE if name in asked))
    with project.writing("eds neighbors mine"):
        rows = _mine(project, asked)
    headings = ["model", "queries", "rows", "short", "recall", "made"]
    lines = [format_table(headings, [[row[heading] for heading in headings] for row in rows])]
    lines += [
        f"{row['model']}: {row['short']:,} queries have fewer than {row['k']:,} candidates left; all are listed."
        for row in rows
        if row["short"]
    ]
    console.answer(rows, "\n".join(lines))


@command(neighbors, "list", example="eds neighbors list")
def list_(console: Console) -> None:
    """List the models that have lists, and whether they are fresh."""
    project = console.project
    states = [project.state("neighbors", model) for model in project.models("neighbors")]
    rows = [
        {
            "model": state.model,
            "rows": state.rows,
            "state": state.condition,
            "why": list(state.reasons),
            "recall": state.notes.get("recall"),
            "made_by": state.made_by,
        }
        for state in states
    ]
    headings = ["model", "rows", "state", "recall", "made_by"]
    text = format_table(headings, [[row[heading] for heading in headings] for row in rows])
    console.answer(rows, text if rows else "No model has lists yet: eds neighbors mine.")


def run(project: "Project") -> None:
    """Mine what is missing, by eds.toml, and what is stale, with the options it was made with."""
    usual = {"allow_missing": True} if project.config.images.on_bad == "skip" else {}
    groups: dict[str, list[str]] = {}  # models mined alike; those whose lists are fresh are left alone
    for name in project.models("embeddings"):
        state = project.state("neighbors", name)
        if state.condition != "fresh":
            options = {**usual, **state.params}
            groups.setdefault(json.dumps(options, sort_keys=True), []).append(name)
    for text, names in groups.items():
        _mine(project, {**json.loads(text), "models": names})


def _mine(project: "Project", options: dict[str, Any]) -> list[dict[str, Any]]:
    """Mine the models' lists; `options` are those that were typed, the rest is eds.toml's."""
    from eds.neighbors.rules import COLUMNS, Rules

    passing = ("models", "threads", "force", "allow_missing")  # do not shape a list by themselves
    shaping = {key: value for key, value in options.items() if key not in passing}
    settings = {f"neighbors.{key}": project.config.value(f"neighbors.{key}") for key in KEYS if key not in shaping}
    values: dict[str, Any] = {key: shaping.get(key, settings.get(f"neighbors.{key}")) for key in KEYS}
    search = values.pop("search")
    rules = Rules(**values)
    names = _models(project, options.get("models") or ())
    every = project.read("images", columns=COLUMNS)
    images, opened = _ready(project, every, names, allow_missing=options.get("allow_missing", False))
    complete = len(images) == len(every)
    asked = shaping if complete else {**shaping, "allow_missing": True}
    rows = []
    with open_executor(project, "neighbors") as executor:
        for name in names:
            state = project.state("neighbors", name)
            if state.condition == "fresh" and state.params == asked and not options.get("force"):
                rows.append({**_row(name, rules.k), "rows": state.rows, "made": "kept, fresh"})
                continue
            ties = shaping.get(
                "keep_ties", opened[name].model.dtype == "bits"
            )  # a cut through codes would be by id alone
            mined = _mined(project, opened[name], images, replace(rules, keep_ties=ties), search, options, executor)
            # Which images all models have depends on every model, once one of them lacks some.
            behind = [project.path("embeddings", other) for other in ([name] if complete else names)]
            made_by = project.provenance(
                "neighbors.mine",
                settings,
                [project.path("images"), *behind],
                params=asked,
                notes=_measured(mined),
            )
            project.write(mined.lists, "neighbors", made_by, name)
            rows.append(
                {**_row(name, rules.k), "queries": int(mined.lists["query_id"].nunique()), "rows": len(mined.lists),
                 "short": mined.short, "recall": mined.recall, "made": "now"}
            )  # fmt: skip
            project.say(
                f"{name}: {len(mined.lists):,} neighbors" + "".join(f", {k} {v}" for k, v in made_by.notes.items())
            )
    return rows


def _mined(
    project: "Project",
    vectors: "Vectors",
    images: "pd.DataFrame",
    rules: "Rules",
    search: str,
    options: dict[str, Any],
    executor: "Executor | None",
) -> "Mined":
    """One model's lists, in one piece or in parts: the same rows."""
    from eds.neighbors import mine_with_recall
    from eds.neighbors.mine import LOWEST_RECALL

    name, metric, effort = vectors.model.name, options.get("metric"), options.get("effort")
    with project.progress(f"mining {name}", "parts" if executor else "vectors") as progress:
        return mine_with_recall(
            vectors,
            images,
            rules,
            search=search,
            metric=metric,
            threads=options.get("threads"),
            effort=effort,
            lowest_recall=0.0 if options.get("allow_low_recall") else LOWEST_RECALL,
            executor=executor.within(name) if executor else None,
            progress=progress,
        )


def _models(project: "Project", wanted: Sequence[str]) -> list[str]:
    """The models that were asked for, or all that have vectors."""
    known = project.models("embeddings")
    begun = sorted({path.parent.name for path in (project.root / "embeddings").glob("*/partial.json")} - set(known))
    if begun and not wanted:
        project.say(f"Not finished, so left out: {', '.join(begun)}. Go on with eds embeddings compute.")
    unknown = [name for name in wanted if name not in known]
    if unknown or not known:
        raise ProjectError(
            f"no vectors of {', '.join(unknown) or 'any model'}",
            where=str(project.root),
            do=f"Compute them: eds embeddings compute. There are: {', '.join(known) or 'none'}.",
        )
    return sorted(set(wanted)) or known


def _ready(
    project: "Project", images: "pd.DataFrame", names: list[str], *, allow_missing: bool
) -> "tuple[pd.DataFrame, dict[str, Vectors]]":
    """Table images and the models' vectors; refused with all faults if a model is stale or lacks images."""
    from eds.project.ranks_and_scores import among
    from eds.project.staleness import remade
    from eds.vectors import Vectors

    opened, faults, stale = {}, [], []
    everywhere = None
    for name in names:
        state = project.state("embeddings", name)
        stale += [f"{name}: {why}" for why in state.reasons]
        try:
            opened[name] = Vectors.open(project.path("embeddings", name))
        except EdsError as error:
            faults.append(f"{name}: {error}")
            continue
        stale += [f"{name}: {why}" for why in remade(project, opened[name].model)]
        has = among(images["image_id"], opened[name].id_column)
        everywhere = has if everywhere is None else everywhere & has
        if not has.all() and not allow_missing:
            lacking = images.loc[~has, "image_id"]
            faults.append(f"{name}: {len(lacking):,} images have no vector: {', '.join(lacking[:5])}")
    if stale or faults:
        raise ProjectError(
            "vectors are stale, damaged or not complete",
            where=str(project.root / "embeddings"),
            do="Bring them up to date: eds embeddings compute. Images that cannot be read: --allow-missing.",
            faults=[*stale, *faults],
        )
    if everywhere is not None and not everywhere.all():
        project.say(f"{int((~everywhere).sum()):,} images are left out: some model has no vector of them.")
        images = images[everywhere]
    return images, opened


def _row(name: str, k: int) -> dict[str, Any]:
    return {"model": name, "k": k, "queries": None, "rows": None, "short": None, "recall": None, "made": ""}


def _measured(mined: "Mined") -> dict[str, Any]:
    """What an approximate search is told with."""
    return {} if mined.recall is None else {"recall": round(mined.recall, 4), "compared": mined.compared}
