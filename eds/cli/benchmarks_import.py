"""`eds benchmarks import trec|hf|croissant|label-studio|votes`: what others judged, as a project's tables."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given
from eds.project.exchange import take_in

if TYPE_CHECKING:
    from eds.benchmarks import Benchmark

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
PLACE = click.Path(path_type=Path, exists=True)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
PREFIX = "eds benchmarks import"
OPERATION = "benchmarks.import"


def shared(function: Callable[..., None]) -> Callable[..., None]:
    """The options that every import has."""
    for add in (
        click.option("--replace", is_flag=True, help="Write over tables that other commands made."),
        click.option(
            "--campaign", metavar="NAME", help="Take all votes into this campaign (default: as the file says)."
        ),
        click.option("--apart", is_flag=True, help="Products of images that only ask are others, even of one id."),
    ):
        function = add(function)
    return function


@command(None, "trec", example="eds benchmarks import trec --qrels qrels.txt --run hsv.run.gz")
@click.argument("place", metavar="[FOLDER]", type=FOLDER, required=False)
@click.option("--qrels", type=FILE, help="qid 0 docno rel; also ranx' JSON and Parquet, and .gz.")
@click.option(
    "--run", "runs", type=FILE, multiple=True, help="qid Q0 docno rank score tag; the model is the file's name."
)
@click.option("--ids", type=FILE, help="ids.tsv: id, image_id and more; without it ids are taken as they are.")
@shared
def trec(
    console: Console, place: Path | None, qrels: Path | None, runs: tuple[Path, ...], ids: Path | None, **options: Any
) -> None:
    """Bring in TREC's qrels and runs: tables truth, suspects and neighbors; images where the project has none.

    A catalogue that the project has stays as it is, whatever ids.tsv says of its images; --replace takes the file's.
    """
    from eds.benchmarks.formats import trec as kind
    from eds.errors import InputError

    if place is None and qrels is None and not runs:
        raise InputError("nothing is given", where=f"{PREFIX} trec", do="Give a folder, --qrels FILE or --run FILE.")
    words = {"qrels": qrels, "run": runs, "ids": ids}
    bring_in(console, "trec", place, lambda: kind.read(place, qrels, runs, ids), words, **options)


@command(None, "hf", example="eds benchmarks import hf exported/ --project fresh")
@click.argument("place", metavar="FOLDER", type=FOLDER)
@shared
def hf(console: Console, place: Path, **options: Any) -> None:
    """Bring in a Hugging Face data set in MTEB's layout, with the pictures it holds."""
    from eds.benchmarks.formats import hf

    bring_in(console, "hf", place, lambda: hf.read(place), {}, **options)


@command(None, "croissant", example="eds benchmarks import croissant exported/")
@click.argument("place", type=PLACE)
@shared
def croissant(console: Console, place: Path, **options: Any) -> None:
    """Bring in a Croissant data set: its record sets of pairs, images and votes."""
    from eds.benchmarks.formats import croissant as kind

    bring_in(console, "croissant", place, lambda: kind.read(place), {}, **options)


@command(None, "label-studio", example="eds benchmarks import label-studio project-1.json --campaign studio")
@click.argument("place", type=PLACE)
@shared
def label_studio(console: Console, place: Path, **options: Any) -> None:
    """Bring in annotations of Label Studio (its JSON export, or a folder of ours) as votes."""
    from eds.benchmarks.formats import label_studio as kind

    bring_in(console, "label-studio", place, lambda: kind.read(place), {}, **options)


@command(None, "votes", example="eds benchmarks import votes votes.jsonl --campaign partners")
@click.argument("place", type=PLACE)
@shared
def votes(console: Console, place: Path, **options: Any) -> None:
    """Bring in votes as CSV or JSON lines (crowd-kit's task,worker,label too), with pairs.csv beside them."""
    from eds.benchmarks import votes_files

    bring_in(console, "votes", place, lambda: votes_files.read(place), {}, **options)


COMMANDS = (trec, hf, croissant, label_studio, votes)


def bring_in(
    console: Console,
    kind: str,
    place: Path | None,
    read: "Callable[[], Benchmark]",
    words: dict[str, Any],
    *,
    replace: bool,
    campaign: str | None,
    apart: bool,
) -> None:
    """Read and check everything, then write tables, pictures and votes: all of them or none."""
    from eds.benchmarks import folder as folders

    project = console.project
    with project.writing(f"{PREFIX} {kind}"):
        whole = folders.all_verified([place, *_files(words)])
        benchmark = read()
        benchmark = benchmark.with_(notes=(*whole, *benchmark.notes))
        options = given({"campaign": campaign, "apart": apart, "replace": replace})
        told = {
            name: [str(one) for one in value] if isinstance(value, tuple) else value for name, value in words.items()
        }
        params = {"arguments": [str(place)] if place else [], **told, **options}
        operation = f"{OPERATION}.{kind}"
        document = take_in(project, kind, benchmark, operation, params, replace=replace, campaign=campaign, apart=apart)
    console.answer(document, lambda: _told(document))
    for note in document["notes"]:
        console.say(f"Note: {note}.")


def _files(words: dict[str, Any]) -> list[Path]:
    every = [one for value in words.values() for one in (value if isinstance(value, tuple) else [value])]
    return [one for one in every if isinstance(one, Path)]


def _told(document: dict[str, Any]) -> str:
    catalogue = f"{document['images']:,} images" if document["images"] else "The project's own catalogue"
    lists = ", ".join(document["runs"])
    lines = [
        f"{catalogue}; {document['pairs']:,} labelled pairs, {document['positives']:,} of them similar; "
        f"{document['suspects']:,} suspects; {document['votes']:,} votes; lists of {lists or 'no model'}."
    ]
    if document["pictures"]:
        lines.append(f"{document['pictures']:,} pictures were unpacked below the image root.")
    if document["votes"] and not document["pairs"]:
        lines.append("Next: eds truth decide.")
    return "\n".join(lines)
