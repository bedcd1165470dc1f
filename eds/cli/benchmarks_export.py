"""`eds benchmarks export FORMAT FOLDER|URL`: the project's benchmark, as other tools load it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.addresses import ADDRESS, folder_for
from eds.cli.console import Console, command
from eds.errors import ProjectError

if TYPE_CHECKING:
    from eds.benchmarks import Benchmark
    from eds.project import Project
    from eds.storage import Address

WORDS = ("name", "licence", "release", "motivation", "collection", "address", "citation")


@click.group()
def export() -> None:
    """Hand on the project's benchmark: a folder with a card and checksums, written whole or not at all."""


def shared(function: Callable[..., None]) -> Callable[..., None]:
    """The options that every export has."""
    for add in (
        click.argument("place", metavar="FOLDER|URL", type=ADDRESS),
        click.option("--replace", is_flag=True, help="Put it in the place of an earlier export."),
        click.option("--hide-experts", is_flag=True, help="Name experts expert-1, expert-2, ... instead."),
        click.option("--no-lists", is_flag=True, help="Leave the models' lists out."),
        click.option("--citation", default="", help="How to cite it."),
        click.option("--address", default="", help="Where it is published."),
        click.option("--collection", default="", help="How the pictures were collected."),
        click.option("--motivation", default="", help="What it was made for."),
        click.option("--release", default="", help="Its version (default: 1.0.0)."),
        click.option("--licence", default="", help="As cc-by-4.0."),
        click.option("--name", default="", help="What it is called (default: the project's name)."),
    ):
        function = add(function)
    return function


every_label = click.option(
    "--with-random", is_flag=True,
    help="Labels of random pairs too: the format cannot mark them, and its readers would measure models on them.",
)  # fmt: skip
pictures = click.option("--no-images", is_flag=True, help="Paths instead of pictures, where a licence forbids them.")


@command(export, "vsd", example="eds benchmarks export vsd out/vsd --licence cc-by-4.0")
@every_label
@shared
def vsd(console: Console, place: "Address", **options: Any) -> None:
    """Write VSD-Fashion's raw files: metadata, seeds, annotations, manifest, and votes.jsonl."""
    from eds.benchmarks.formats import vsd_export

    hand_on(console, "vsd", place, lambda one, to: (vsd_export.write(one, to), ""), **options)


@command(export, "trec", example="eds benchmarks export trec out/trec")
@every_label
@shared
def trec(console: Console, place: "Address", **options: Any) -> None:
    """Write TREC's qrels and a run for each model, with ids.tsv."""
    from eds.benchmarks.formats import trec as kind

    hand_on(console, "trec", place, lambda one, to: (kind.write(one, to), ""), **options)


@command(export, "hf", example="eds benchmarks export hf out/hf --no-images --licence cc-by-nc-4.0")
@pictures
@shared
def hf(console: Console, place: "Address", no_images: bool, **options: Any) -> None:
    """Write a Hugging Face data set in MTEB's layout: Parquet, card and YAML."""
    from eds.benchmarks.formats import hf

    hand_on(console, "hf", place, lambda one, to: hf.write(one, to, pictures=not no_images), **options)


@command(export, "croissant", example="eds benchmarks export croissant out/croissant --no-images")
@pictures
@shared
def croissant(console: Console, place: "Address", no_images: bool, **options: Any) -> None:
    """Write Croissant 1.0: pairs.csv, images.csv, votes.csv, and the pictures unless --no-images."""
    from eds.benchmarks.formats import croissant as kind

    hand_on(console, "croissant", place, lambda one, to: (kind.write(one, to, pictures=not no_images), ""), **options)


@command(export, "label-studio", example="eds benchmarks export label-studio out/studio")
@click.option(
    "--prefix", default=None, help="What stands before a picture's path (default: Label Studio's local files)."
)
@shared
def label_studio(console: Console, place: "Address", prefix: str | None, **options: Any) -> None:
    """Write Label Studio's config.xml and tasks.json with predictions and annotations."""
    from eds.benchmarks.formats import label_studio as kind

    used = kind.FILES if prefix is None else prefix
    hand_on(console, "label-studio", place, lambda one, to: (kind.write(one, to, used), ""), **options)


@command(export, "votes", example="eds benchmarks export votes out/votes --as jsonl")
@click.option("--as", "kind", type=click.Choice(["csv", "jsonl"]), default="csv", help="How the votes are written.")
@shared
def votes(console: Console, place: "Address", kind: str, **options: Any) -> None:
    """Write every vote, and pairs.csv."""
    from eds.benchmarks import votes_files

    hand_on(console, "votes", place, lambda one, to: (votes_files.write(one, to, kind), ""), **options)


def hand_on(
    console: Console,
    kind: str,
    place: "Address",
    write: "Callable[[Benchmark, Path], tuple[list[str], str]]",
    *,
    replace: bool,
    hide_experts: bool,
    no_lists: bool,
    with_random: bool = True,
    **words: str,
) -> None:
    """Gather the project's tables, write the format, the card and the checksums; tell what is not in it."""
    from eds.benchmarks.card import markdown, statistics
    from eds.benchmarks.folder import SUMS, whole_folder
    from eds.project.dataset_card import card_of

    everything, kept = gathered(console.project, lists=not no_lists, hide_experts=hide_experts)
    benchmark = everything if with_random else _measured(everything)
    apart = 0 if everything.truth is None or benchmark.truth is None else len(everything.truth) - len(benchmark.truth)
    benchmark = benchmark.with_(card=card_of(console.project, benchmark, kept, words))
    with folder_for(place, last=SUMS, replace=replace) as folder:
        with whole_folder(folder, replace=replace) as building:
            lost, front = write(benchmark, building)
            if apart:
                lost.append(f"{apart:,} labels of random pairs, which serve p and recall: models are not measured on"
                            " them (--with-random writes them, too)")  # fmt: skip
            if kept is not None and len(kept.gold):
                lost.append(f"the known answers of {len(kept.gold):,} gold pairs: kept back")
            (building / "README.md").write_text(markdown(benchmark, kind, lost, front), encoding="utf-8")
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    document = {"format": kind, "folder": str(place), "files": len(files), "not_held": lost,
                "statistics": statistics(benchmark), "listed": files[:20]}  # fmt: skip
    console.answer(document, lambda: "\n".join([
        f"Wrote {len(files):,} files to {place}: {', '.join(files[:8])}{', ...' if len(files) > 8 else ''}.",
        *(["This format does not hold:", *(f"  - {one}" for one in lost)] if lost else []),
    ]))  # fmt: skip


def gathered(project: "Project", *, lists: bool, hide_experts: bool) -> "tuple[Benchmark, Any]":
    """The project's benchmark, and what its label store holds (nothing where nobody has judged)."""
    from eds.benchmarks import Benchmark, Place, rows
    from eds.benchmarks.json_files import Faults

    there = {name: project.path(name).exists() for name in ("images", "suspects", "truth")}
    if not there["images"]:
        raise ProjectError("there is no catalogue to hand on", where=str(project.root), do="Begin: eds images scan.")
    images = project.read("images")
    faults = Faults()
    rows.ids(images, ["image_id", "product_id"], Place(project.path("images")), faults)
    faults.refuse("names in the catalogue break the readers of other formats", "Rename the images:")
    votes, kept = _votes(project)
    if votes is not None and hide_experts:
        names = {name: f"expert-{place}" for place, name in enumerate(sorted(votes["expert_id"].unique()), 1)}
        votes = votes.assign(expert_id=votes["expert_id"].map(names))
    runs = {model: project.read("neighbors", model) for model in (project.models("neighbors") if lists else [])}
    return Benchmark(
        images, project.read("truth") if there["truth"] else None,
        project.read("suspects") if there["suspects"] else None, votes, runs,
        project.image_root if isinstance(project.pictures, Path) else None,
    ), kept  # fmt: skip


def _measured(benchmark: "Benchmark") -> "Benchmark":
    """The benchmark with those labels only that models are measured on."""
    from eds.suspects import benchmark_labels

    truth = benchmark.truth
    return benchmark if truth is None else benchmark.with_(truth=benchmark_labels(truth, benchmark.suspects))


def _votes(project: "Project") -> tuple[Any, Any]:
    if not (project.path("labels").exists() or project.config.labels.url):
        return None, None
    from eds.project.decide import read_labels
    from eds.project.label_store import opened
    from eds.schema import to_frame

    kept = read_labels(project, None, None)
    with opened(project) as store:
        from eds.labels.frames import labels_arrow

        votes = to_frame(store.snapshot(labels_arrow))
    return votes.rename(columns={"label_id": "vote_id"}), kept
