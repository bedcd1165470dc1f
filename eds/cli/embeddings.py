"""`eds embeddings`: compute vectors of the images, or import them; list and check them."""

from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.addresses import EXISTING_ADDRESS
from eds.cli.console import Console, command
from eds.cli.options import executor_option, one_of, role_option
from eds.cli.render import format_table

if TYPE_CHECKING:
    from eds.project.embed import (
        CheckVectorsResult,
        EmbeddingsResult,
        EmbedResult,
        ImportVectorsResult,
        PresetsResult,
    )
    from eds.project.image_map import MapResult

SHOWN = 10  # bad images


@click.group()
def embeddings() -> None:
    """Compute vectors of the images by each model, or import them."""


@command(embeddings, "compute", example="eds embeddings compute -m wheel:efficientnet_lite0 -m colour=descriptor:hsv")
@click.option("-m", "--models", multiple=True, metavar="[NAME=]SPEC|PRESET", help="A model (default: the project's).")
@click.option("--device", type=one_of(choices.Device), help="Where models run (default: eds.toml).")
@click.option("--batch", type=click.IntRange(1), help="Images in one forward pass (default: eds.toml).")
@click.option("--workers", type=click.IntRange(0), help="Threads that decode images; 0: one per core.")
@click.option("--dtype", type=one_of(choices.StoredType), help="Type of the stored vectors (default: eds.toml).")
@click.option("--runtime", type=one_of(choices.Runtime), default="auto", help="What runs networks.")
@click.option(
    "--precision", type=one_of(choices.Precision), default="float32", help="Floating-point precision of inference."
)
@click.option("--random-init", is_flag=True, help="Use random weights, for tests.")
@click.option("--on-bad", type=one_of(choices.OnBad), help="Skip and list unreadable images, or fail.")
@role_option
@click.option("--replace", is_flag=True, help="Replace vectors that were computed otherwise.")
@executor_option
def compute(console: Console, **options: Any) -> None:
    """Compute the vectors of new and changed images.

    Vectors that are up to date are kept.
    """
    console.show(console.project.embed(**options), render_embed)


@command(embeddings, "import", example="eds embeddings import ours vectors.npy ids.txt --similarity cosine")
@click.argument("name")
@click.argument("vectors", metavar="VECTORS|FOLDER|URL", type=EXISTING_ADDRESS)
@click.argument("ids", metavar="[IDS|URL]", type=EXISTING_ADDRESS, required=False)
@click.option("--similarity", type=one_of(choices.Similarity), help="How to compare vectors (default: cosine).")
@click.option("--dtype", type=one_of(choices.StoredType), help="Type of the stored vectors (default: as given).")
@click.option("--bits", type=click.IntRange(1), help="Length of packed codes (default: all bits).")
@click.option("--part", default="", help="Array or column, if the file has several.")
@click.option("--partial", is_flag=True, help="Allow images without a vector.")
@role_option
@click.option("--replace", is_flag=True, help="Replace other vectors of this name.")
def import_(console: Console, **options: Any) -> None:
    """Import vectors with the ids of their images.

    Files are .npy, .npz, .parquet or .safetensors. A folder is the vectors of another project, which
    name their images themselves. Each may be s3://bucket/key; a folder's shards are compared with their digests.
    """
    console.show(console.project.import_vectors(**options), render_import)


@command(embeddings, "list", example="eds embeddings list --presets", reads=True)
@click.option("--presets", is_flag=True, help="List known models instead: size, licence, where the weights are.")
def list_(console: Console, presets: bool) -> None:
    """List the models that have vectors, and their state."""
    if presets:
        from eds.project.embed import presets as list_presets

        return console.show(list_presets(), render_presets)
    return console.show(console.project.embeddings(), render_embeddings)


@command(embeddings, "check", example="eds embeddings check", reads=True)
def check(console: Console) -> None:
    """Compare the vectors with their digests and the catalogue."""
    result = console.project.check_vectors()
    console.show(result, render_check)
    result.raise_faults()


def render_embed(result: "EmbedResult") -> str:
    """A row per model, then the images without a vector."""
    rows = [
        [item.model, item.rows, item.dimension, item.computed, item.images_per_second if item.computed else None]
        for item in result.models
    ]
    lines = [format_table(["model", "vectors", "dimension", "computed now", "images/s"], rows)]
    lines += [f"{item.model}: its weights are random, which is for tests." for item in result.models if item.random]
    if len(result.bad):
        lines.append(f"{len(result.bad):,} images have no vector ({result.bad_list}):")
        lines += [f"  {name}: {reason}" for name, reason in result.bad[:SHOWN].to_numpy().tolist()]
    return "\n".join(lines)


def render_import(result: "ImportVectorsResult") -> str:
    """What was imported."""
    kind = "bits" if result.dtype == "bits" else result.dtype
    return f"{result.model}: {result.rows:,} vectors of {result.dimension:,} {kind}."


def render_embeddings(result: "EmbeddingsResult") -> str:
    """A row per model, then the reasons of damaged ones."""
    if not result.models:
        return "No model has vectors yet: eds embeddings compute -m SPEC."
    headings = ["model", "state", "vectors", "dimension", "type", "similarity", "preprocessing", "images/s"]
    rows = [
        [
            item.model,
            item.state,
            item.rows,
            item.dimension,
            item.dtype,
            item.similarity,
            (item.preprocessing_digest or "")[:8] or None,
            item.images_per_second,
        ]
        for item in result.models
    ]
    damaged = [f"{item.model}: {why}" for item in result.models if item.state == "damaged" for why in item.why]
    return "\n".join([format_table(headings, rows), *damaged])


@command(embeddings, "map", example="eds embeddings map -m clip --clusters 12 --out map.csv")
@click.option("-m", "--model", help="The model (default: the first).")
@click.option("--method", type=one_of(choices.MapMethod), default="pca", help="How images are laid out.")
@click.option("--clusters", type=click.IntRange(0, 100), default=0, help="Groups of near images; 0: none.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write a row per image: .csv or .parquet.")
def map_(console: Console, **options: Any) -> None:
    """Lay the images out on a plane, by one model.

    The annotator shows the map (Look around), and lets leads choose images on it.
    """
    console.show(console.project.map_images(**options), render_map)


def render_map(result: "MapResult") -> str:
    """What is on the map, then the size of each cluster."""
    share = f", {100 * result.explained:.0f} % of the variance" if result.explained is not None else ""
    lines = [f"{len(result.table):,} images by {result.model}, {result.method}{share}."]
    if result.clusters:
        groups = result.table.groupby("cluster")["category"]
        rows = [[number, len(names), names.value_counts().index[0]] for number, names in groups]
        lines += ["", format_table(["cluster", "images", "most frequent"], rows)]
    return "\n".join([*lines, *([f"Wrote {result.file}."] if result.file else [])])


def render_presets(result: "PresetsResult") -> str:
    """A row per preset."""
    headings = ["preset", "dimension", "input", "licence", "MB", "weights", "note"]
    keys = ["megabytes" if heading == "MB" else heading for heading in headings]
    table = format_table(headings, [[item[key] for key in keys] for item in result.presets])
    return f"{table}\n\nBy name: eds embeddings compute -m dinov2. Specs: --json.\n{result.architectures}"


def render_check(result: "CheckVectorsResult") -> str:
    """A row per model."""
    rows = [[item.model, item.vectors, item.without, item.unknown, item.fault] for item in result.models]
    return format_table(["model", "vectors", "images without", "unknown images", "fault"], rows)
