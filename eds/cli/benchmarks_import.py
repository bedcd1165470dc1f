"""`eds benchmarks import trec|hf|croissant|label-studio|votes`: what others judged, as a project's tables."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given, typed

if TYPE_CHECKING:
    from eds.benchmarks import Benchmark
    from eds.workspace import Project

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
PLACE = click.Path(path_type=Path, exists=True)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
PREFIX = "eds benchmarks import"


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
    from eds.benchmarks import trec as kind
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
    from eds.benchmarks import hf_dataset

    bring_in(console, "hf", place, lambda: hf_dataset.read(place), {}, **options)


@command(None, "croissant", example="eds benchmarks import croissant exported/")
@click.argument("place", type=PLACE)
@shared
def croissant(console: Console, place: Path, **options: Any) -> None:
    """Bring in a Croissant data set: its record sets of pairs, images and votes."""
    from eds.benchmarks import croissant as kind

    bring_in(console, "croissant", place, lambda: kind.read(place), {}, **options)


@command(None, "label-studio", example="eds benchmarks import label-studio project-1.json --campaign studio")
@click.argument("place", type=PLACE)
@shared
def label_studio(console: Console, place: Path, **options: Any) -> None:
    """Bring in annotations of Label Studio (its JSON export, or a folder of ours) as votes."""
    from eds.benchmarks import label_studio as kind

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
        line = typed(f"{PREFIX} {kind}", {**told, **options}, *([str(place)] if place else []))
        document = take_in(project, kind, benchmark, line, replace=replace, campaign=campaign, apart=apart)
    console.answer(document, lambda: _told(document))
    for note in document["notes"]:
        console.say(f"Note: {note}.")


def _files(words: dict[str, Any]) -> list[Path]:
    every = [one for value in words.values() for one in (value if isinstance(value, tuple) else [value])]
    return [one for one in every if isinstance(one, Path)]


def take_in(
    project: "Project",
    kind: str,
    benchmark: "Benchmark",
    line: str,
    *,
    replace: bool = False,
    campaign: str | None = None,
    apart: bool = False,
    prefix: str = PREFIX,
) -> dict[str, Any]:
    """Check the benchmark against the project, then write it; the caller holds the project.

    `prefix` begins the command whose tables this one may write over.
    """
    from eds.benchmarks import hf_files
    from eds.benchmarks.whole import checked, of_the_project, refuse_apart, set_apart
    from eds.cli import imported_votes
    from eds.cli.together import refuse_others, together
    from eds.workspace import check_model_name

    if benchmark.votes is not None:
        benchmark = benchmark.with_(votes=imported_votes.ours(benchmark.votes, benchmark.places["votes"]))
    own = project.read("images") if project.path("images").exists() else None
    given_benchmark = benchmark
    benchmark, from_project = of_the_project(benchmark, own, project.image_root, replace=replace)
    if apart and from_project and own is not None:
        refuse_apart(given_benchmark, own)
    benchmark = set_apart(benchmark) if apart else benchmark
    benchmark, faults = checked(benchmark, kept=from_project)
    images, votes = benchmark.images, benchmark.votes
    if votes is not None and images is not None:
        imported_votes.check(votes, images["image_id"], benchmark.places["votes"], faults)
    faults.refuse("the benchmark cannot be imported", "Nothing was imported:")
    given_frames: dict[str, Any] = {
        f"neighbors/{check_model_name(model)}": run for model, run in benchmark.runs.items()
    }
    given_frames |= {"truth": benchmark.truth, "suspects": benchmark.suspects} | (
        {} if from_project else {"images": images}
    )
    frames = {name: frame for name, frame in given_frames.items() if frame is not None}
    refuse_others(project, tuple(frames), prefix, replace)
    counts, take_votes = imported_votes.Counts(), None
    if votes is not None:
        take_votes = imported_votes.step(votes, benchmark.places["votes"], campaign, counts)
    parents = [project.path("images")] if from_project else []
    made_by = project.provenance(line, {}, parents)
    with together(project) as work, hf_files.unpacked(benchmark, project.image_root, work.picture) as pictures:
        work.put(frames, made_by, take_votes)
    truth = benchmark.truth
    return {
        "format": kind,
        "images": 0 if from_project or images is None else len(images),
        "pictures": pictures,
        "pairs": 0 if truth is None else len(truth),
        "positives": 0 if truth is None else int(truth["value"].sum()),
        "suspects": 0 if benchmark.suspects is None else len(benchmark.suspects),
        "votes": counts.added,
        "runs": {model: len(run) for model, run in benchmark.runs.items()},
        "notes": [*benchmark.notes, *counts.notes],
    }


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
