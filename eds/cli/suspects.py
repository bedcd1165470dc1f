"""`eds suspects`: the pairs worth an expert's time: the pool, other draws, planted pairs, orders."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given
from eds.cli.options import engine_option, one_of
from eds.cli.pool_text import headline, told_pool
from eds.cli.render import format_table
from eds.errors import InputError, ProjectError
from eds.project.pool import append, at_rank, check_mined, chosen, decided, known_pairs, lists, make_pool, pool_depth
from eds.project.pool_ties import whole_ties
from eds.registry import SAMPLING_ORDERS

if TYPE_CHECKING:
    from eds.project import Project

PLACE = click.Path(path_type=Path, exists=True, dir_okay=False)
order = click.option("--order", type=one_of(SAMPLING_ORDERS), help="Which pairs come first (default: eds.toml).")
batch = click.option("--batch", type=click.IntRange(1), help="Pairs in one batch (default: eds.toml).")
some = click.option("-n", "n", type=click.IntRange(1), required=True, help="How many.")
lo_from_k = click.option(
    "--lo", type=click.IntRange(0), help="First rank that counts as near (default: k of the pool)."
)


@click.group()
def suspects() -> None:
    """Choose the pairs that experts judge."""


@command(suspects, "pool", example="eds suspects pool -k 6 --order random")
@click.option("-k", "k", type=click.IntRange(1), help="Candidates taken from each list (default: eds.toml).")
@click.option("--models", multiple=True, metavar="MODEL", help="Only this model; may be given several times.")
@order
@batch
@click.option(
    "--symmetric", type=click.Choice(["keep", "merge"]), default="keep", help="(q, c) and (c, q): judge both, or one."
)
@click.option(
    "--keep-ties/--no-keep-ties",
    default=None,
    help="Take all that score as the k-th does (usual for codes), or cut by id.",
)
@engine_option
def pool(console: Console, **options: Any) -> None:
    """Pool all models' lists, each pair once; what was chosen before stays, new pairs come behind."""
    with console.project.writing("eds suspects pool"):
        document = make_pool(console.project, given(options))
    console.answer(document, lambda: told_pool(document))


@command(suspects, "random", example="eds suspects random -n 500 --stratum outside")
@some
@click.option(
    "--stratum",
    type=click.Choice(["all", "outside", "near", "rest"]),
    default="all",
    help="All pairs; without the pool; ranked lo..hi-1 by some model; outside and not near.",
)
@lo_from_k
@click.option("--hi", type=click.IntRange(1), default=100, help="Rank behind the last that counts as near.")
@click.option("--exclude-product", is_flag=True, help="Leave out pairs that show one product.")
def random(console: Console, n: int, stratum: str, lo: int | None, hi: int, exclude_product: bool) -> None:
    """Draw uniform random pairs, each with its probability, as one batch behind all others."""
    from eds.suspects import draw_random

    project = console.project
    with project.writing("eds suspects random"):
        before = chosen(project)
        near = stratum in ("near", "rest")
        if near:
            check_mined(project, project.models("neighbors"), hi, f"stratum {stratum} up to rank {hi}")
        after = draw_random(
            project.read("images"),
            n,
            project.config.project.seed,
            stratum=stratum,
            suspects=before,
            neighbors=lists(project, project.models("neighbors"), hi) if near else None,
            lo=(pool_depth(project) if lo is None else lo) if near else None,
            hi=hi,
            exclude_product=exclude_product,
        )
        words = {"n": n, "stratum": stratum, "lo": lo, "hi": hi, "exclude_product": exclude_product or None}
        append(project, after, "suspects.random", words)
    drawn = after[(after["origin"] == "random") & (after["stratum"] == stratum)]
    chance = float(drawn["probability"].iloc[0])
    size = round(len(drawn) / chance)
    document = {"drawn": n, "of_stratum": len(drawn), "stratum": stratum, "stratum_size": size, "probability": chance}
    console.answer(
        document,
        f"Drew {n:,} pairs of stratum {stratum}: {len(drawn):,} of its {size:,} by now; probability {chance:.3g}.",
    )


@command(suspects, "negatives", example="eds suspects negatives --lo 100 --hi 500 -n 5")
@click.option("-n", "n", type=click.IntRange(1), default=5, help="Negatives of each query.")
@click.option("--lo", type=click.IntRange(0), default=100, help="First rank they are taken from.")
@click.option("--hi", type=click.IntRange(1), default=500, help="Rank behind the last.")
@click.option("--keep-top", is_flag=True, help="Allow candidates that another model ranks above lo.")
def negatives(console: Console, n: int, lo: int, hi: int, keep_top: bool) -> None:
    """Sample pairs that every model ranks low, by the hashed draw; negatives there are replaced."""
    from eds.suspects import draw_negatives

    project = console.project
    with project.writing("eds suspects negatives"), console.progress("sampling", "queries") as progress:
        check_mined(project, project.models("neighbors"), hi, f"negatives up to rank {hi}")
        after = draw_negatives(
            project.read("images"),
            lists(project, project.models("neighbors"), hi),
            chosen(project),
            decided(project),
            lo=lo,
            hi=hi,
            n=n,
            seed=project.config.project.seed,
            exclude_top=not keep_top,
            progress=progress,
        )
        append(project, after, "suspects.negatives", {"n": n, "lo": lo, "hi": hi, "keep_top": keep_top or None})
    drawn = after[after["origin"] == "negative"]
    asked = int((project.read("images", columns=["role"])["role"] != "candidate").sum())
    short = asked - int((drawn.groupby("query_id").size() >= n).sum())
    document = {"drawn": len(drawn), "queries": int(drawn["query_id"].nunique()), "queries_with_fewer": short}
    console.answer(
        document,
        f"Sampled {len(drawn):,} negatives of {document['queries']:,} queries; {short:,} queries have fewer than {n}.",
    )


@command(suspects, "add", example="eds suspects add clip -n 200")
@click.argument("what", metavar="FILE|MODEL")
@click.option("-k", "k", type=click.IntRange(1), help="Of a model: the places that count (default: as the pool).")
@click.option("-n", "n", type=click.IntRange(1), help="Of a model: at most so many pairs (default: all that are open).")
def add(console: Console, what: str, k: int | None, n: int | None) -> None:
    """Add pairs: those of a file, or the few new ones whose judgement decides where a new model stands.

    A file (CSV or Parquet: query_id, candidate_id) holds pairs of your own choice; those there are left out. Of a model
    the pairs among its first k that nobody judged are added, the first places first: the delta pool.
    """
    from eds.suspects import add_pairs

    project = console.project
    with project.writing("eds suspects add"):
        model = what in {*project.models("neighbors"), *project.models("embeddings")}
        if model:
            from eds.cli.delta_text import told_delta
            from eds.project.new_model_pairs import add_delta

            _refuse_both(Path(what))
            document = add_delta(console.project, what, k, n)
        else:
            before = chosen(project)
            after = add_pairs(known_pairs(project, _pairs_file(project, what, k, n)), before)
            append(project, after, "suspects.add", {"arguments": [what]})
            document = {"added": len(after) - len(before)}
    console.answer(document, lambda: told_delta(document) if model else f"Added {document['added']:,} pairs.")


@command(suspects, "gold", example="eds suspects gold known.csv -n 50")
@click.argument("file", type=PLACE)
@some
def gold(console: Console, file: Path, n: int) -> None:
    """Mix in pairs whose answer is known (CSV or Parquet: query_id, candidate_id, value)."""
    from eds.suspects import draw_gold

    project = console.project
    with project.writing("eds suspects gold"):
        after = draw_gold(known_pairs(project, file), n, project.config.project.seed, chosen(project))
        append(project, after, "suspects.gold", {"arguments": [str(file)], "n": n})
    console.answer({"drawn": n}, f"Mixed {n:,} gold pairs among the pool's.")


@command(suspects, "repeats", example="eds suspects repeats -n 100")
@some
def repeats(console: Console, n: int) -> None:
    """Have a random part of the chosen pairs judged a second time, later."""
    from eds.suspects import draw_repeats

    project = console.project
    with project.writing("eds suspects repeats"):
        after = draw_repeats(chosen(project), n, project.config.project.seed)
        append(project, after, "suspects.repeats", {"n": n})
    console.answer({"drawn": n}, f"Mixed {n:,} repeats among the pairs behind their first time.")


@command(suspects, "reorder", example="eds suspects reorder --order bandit")
@order
@batch
def reorder(console: Console, order: str | None, batch: int | None) -> None:
    """Deal the pool's pairs without a decided label into new batches; the bandit learns from the labels."""
    from eds.suspects import reorder as deal

    project = console.project
    truth = decided(project)
    if truth is None:
        raise ProjectError("there are no decided labels yet", where=str(project.root), do="Run eds truth decide first.")
    settings = project.config.suspects
    with project.writing("eds suspects reorder"):
        before = chosen(project)
        after = deal(
            before,
            truth,
            order=order or settings.order,
            seed=project.config.project.seed,
            batch_size=batch or settings.batch,
            truth=truth,
        )
        append(project, after, "suspects.reorder", {"order": order, "batch": batch})
    moved = int((after["batch"].to_numpy() != before["batch"].to_numpy()).sum())
    console.answer({"moved": moved}, f"Dealt {moved:,} pairs into new batches.")


@command(suspects, "list", example="eds suspects list --json")
def list_(console: Console) -> None:
    """Tell what has been chosen: pairs and batches of each origin and stratum."""
    table = console.project.read("suspects")
    table["stratum"] = table["stratum"].fillna("")
    grouped = table.groupby(["origin", "stratum"])
    told = grouped.agg(pairs=("batch", "size"), first_batch=("batch", "min"), last_batch=("batch", "max"))
    told = told.reset_index().sort_values(["first_batch", "origin", "stratum"], ignore_index=True)
    console.answer(
        {"pairs": len(table), "batches": int(table["batch"].nunique()), "by_origin": told},
        lambda: format_table(list(told.columns), told.to_numpy().tolist()),
    )


@command(suspects, "growth", example="eds suspects growth --k-max 20")
@click.option("--k-max", type=click.IntRange(1), help="Deepest k to tell (default: 20, or the lists' depth if less).")
@click.option("--models", multiple=True, metavar="MODEL", help="Only this model; may be given several times.")
def growth(console: Console, k_max: int | None, models: tuple[str, ...]) -> None:
    """Tell the pool's size and new pairs at each k, and, with labels, the positives at each rank."""
    from eds.suspects import pool_growth, positive_rate_by_rank, shared_ranks

    project = console.project
    names = models or project.models("neighbors")
    ties = whole_ties(project, names, None)
    proposed = shared_ranks(lists(project, names, k_max or 20, ties), ties)
    if k_max is None:
        k_max = min(20, int(proposed["rank"].max()) + 1)
    check_mined(project, names, k_max, f"growth up to k = {k_max}")
    found = pool_growth(proposed, k_max)
    truth = decided(project)
    by_rank = None if truth is None else positive_rate_by_rank(proposed, truth)
    rates = [at_rank(by_rank, rank) for rank in range(k_max)]
    rows = [
        (k, size, new, *rates[k - 1])
        for k, (size, new) in enumerate(zip(found["size"], found["marginal"], strict=True), 1)
    ]
    heads = ["k", "pairs", "new pairs", "labelled at this rank", "positive"]
    width = 5 if by_rank else 3
    console.answer(
        {**found, "positive_rate_by_rank": by_rank}, lambda: format_table(heads[:width], [row[:width] for row in rows])
    )


def run(project: "Project") -> None:
    """Pool anew if the table is absent, stale, or lacks a model that has lists now; nothing is lost."""
    from eds import tables

    state = project.state("suspects")
    if state.condition == "fresh":
        made_by, _ = tables.read_provenance(project.path("suspects"), tables.SUSPECTS)
        wanted = state.params.get("models") or project.models("neighbors")
        known = {project.path("neighbors", model).relative_to(project.root).as_posix() for model in wanted}
        if known <= set(made_by.parents):
            return
    params = state.params if state.operation == "suspects.pool" else {}
    project.say(headline(make_pool(project, params)))


def _refuse_both(file: Path) -> None:
    if file.is_file():
        raise InputError(f"{file} is a model here, and a file", where="FILE|MODEL", do=f"Of the file say ./{file}.")


def _pairs_file(project: "Project", what: str, k: int | None, n: int | None) -> Path:
    """The file of that name, for which -k and -n mean nothing."""
    if not Path(what).is_file():
        there = ", ".join(sorted({*project.models("neighbors"), *project.models("embeddings")})) or "none"
        raise InputError(
            f"{what!r} is neither a file nor a model here", where="FILE|MODEL",
            do=f"Models: {there}. A new one is brought in by eds metrics score or eds embeddings.",
        )  # fmt: skip
    if k is not None or n is not None:
        raise InputError("-k and -n are for a model", where="eds suspects add", do="All pairs of a file are added.")
    return Path(what)
