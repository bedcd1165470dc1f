"""`eds neighbors`: search each model's most similar candidates."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import allow_missing, executor_option, models_option, one_of
from eds.cli.render import format_frame, format_table
from eds.registry import SEARCHES

if TYPE_CHECKING:
    from eds.project.mine import MineResult, NeighborsResult
    from eds.project.neighbor_strips import NeighborStrips
    from eds.project.search import SearchResult


@click.group()
def neighbors() -> None:
    """Search each model's most similar candidates."""


@command(neighbors, "mine", example="eds neighbors mine -k 100 --category same")
@click.option("-k", "k", type=click.IntRange(1), help="Candidates in each list (default: eds.toml).")
@models_option
@click.option("--search", type=one_of(SEARCHES), help="Search engine; approximate ones miss some.")
@executor_option
@click.option("--effort", type=click.FloatRange(0, min_open=True), help="Effort of an approximate search; 1 is usual.")
@click.option("--metric", type=one_of(choices.Similarity), help="Metric (default: the model's own).")
@click.option("--exclude-product/--no-exclude-product", default=None, help="Leave out the query's own product.")
@click.option("--one-per-product/--no-one-per-product", default=None, help="Keep the best image of each product.")
@click.option("--category", type=one_of(choices.CategoryRule), help="Candidates by the query's category.")
@click.option("--keep-ties/--no-keep-ties", default=None, help="Keep ties at rank k (default for codes), or cut by id.")
@click.option("--allow-low-recall", is_flag=True, help="Accept a recall below 99 % of the exact lists.")
@allow_missing
@click.option("--threads", type=click.IntRange(1), help="Threads beside those of the matrix products.")
@click.option("--force", is_flag=True, help="Mine again lists that are up to date.")
def mine(console: Console, **options: Any) -> None:
    """Search the k nearest candidates of every query.

    Every model with vectors gets a list for every query. Lists that are up to date are kept.
    """
    console.show(console.project.mine(**options), render_mine)


@command(neighbors, "list", example="eds neighbors list", reads=True)
def list_(console: Console) -> None:
    """List the models that have lists, and their state."""
    console.show(console.project.neighbors(), render_neighbors)


@command(neighbors, "show", example="eds neighbors show photos/0001.jpg --out strips.html")
@click.argument("queries", nargs=-1)
@models_option
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Candidates of each model.")
@click.option("--count", type=click.IntRange(1), default=6, show_default=True, help="Queries to draw if none is named.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the pictures as an HTML page.")
def show(console: Console, **options: Any) -> None:
    """Show what the models find for QUERIES, side by side.

    QUERIES are image ids; without any, some are drawn. Look here before experts are paid to judge.
    """
    console.show(console.project.show_neighbors(**options), render_strips)


@command(neighbors, "search", example="eds neighbors search --text 'a red dress' -k 5", reads=True)
@click.argument("image", required=False)
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A picture from elsewhere.")
@click.option("--text", help="A text, for models with a text side.")
@models_option
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Images of each model.")
def search(console: Console, **options: Any) -> None:
    """Search by IMAGE, a picture file or a text.

    IMAGE is an id of the catalogue. Each model's nearest images are listed, with what the labels say of them.
    """
    console.show(console.project.search(**options), render_search)


def render_search(result: "SearchResult") -> str:
    """A row per image, then the models that could not answer."""
    table = result.table if result.kind == "image" else result.table.drop(columns="label")
    return "\n".join([format_frame(table), *(f"Left out: {one.model}: {one.reason}" for one in result.skipped)])


def render_strips(result: "NeighborStrips") -> str:
    """Where the page is, else a row per candidate."""
    if result.page:
        return f"Wrote {result.page}: {len(result.queries)} queries, {result.k} candidates of each model."
    return format_frame(result.table)


def render_mine(result: "MineResult") -> str:
    """A row per model; why lists may be short."""
    headings = ["model", "queries", "rows", "queries with fewer than k", "recall", "made"]
    rows = [
        [item.model, item.queries, item.rows, item.short, item.recall, "now" if item.made else "up to date"]
        for item in result.lists
    ]
    lines = [format_table(headings, rows)]
    if any(item.short for item in result.lists):
        lines.append(f"Where a query has fewer than k = {result.lists[0].k:,} candidates, all of them are listed.")
    return "\n".join(lines)


def render_neighbors(result: "NeighborsResult") -> str:
    """A row per model."""
    if not result.models:
        return "No model has lists yet: eds neighbors mine."
    headings = ["model", "rows", "state", "recall", "made by"]
    rows = [[item.model, item.rows, item.state, item.recall, item.made_by] for item in result.models]
    return format_table(headings, rows)
