"""`eds benchmarks reproduce`: the published tables computed anew, each cell beside the printed one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given
from eds.errors import InputError

if TYPE_CHECKING:
    from eds.benchmarks.formats.vsd import Files
    from eds.benchmarks.reproduce.compare_cells import Cell

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
KINDS = ("metadata", "seeds", "annotations", "manifest")


@click.group()
def reproduce() -> None:
    """Compute published tables anew, and tell cell by cell how far they are what was printed."""


@command(
    reproduce, "vsd", example="eds benchmarks reproduce vsd --root vsd-fashion --embeddings vectors --out reproduced"
)
@click.option("--root", type=FOLDER, help="The release: JSON files, told by their shape, and the image tree.")
@click.option("--metadata", type=FILE, help="The images and products, if not as --root holds them.")
@click.option("--seeds", type=FILE, help="The queries, likewise.")
@click.option("--annotations", type=FILE, help="The labelled pairs, likewise.")
@click.option("--manifest", type=FILE, help="The part of the images that a task is about, likewise.")
@click.option("--images", type=FOLDER, help="What the metadata's paths are relative to (default: --root).")
@click.option(
    "--task", default="all", metavar="all|NAME", help="One of the evaluator's four tasks, or all that have files."
)
@click.option(
    "--models", multiple=True, default=("paper",), metavar="paper|[NAME=]SPEC|NAME",
    help="The paper's models, a backbone of your own, or one of those in --embeddings or --runs; may be given several"
    " times.",
)  # fmt: skip
@click.option(
    "--weights", type=FOLDER, help="Weights files of the models that no hub has (eds embeddings list --presets)."
)
@click.option("--embeddings", type=FOLDER, help="Finished vectors, one file a model: no picture is read.")
@click.option("--runs", type=FOLDER, help="TREC runs, one file a model: no picture is read.")
@click.option("--gallery-phases", metavar="PHASE,...", default="", help="What is offered (wild task).")
@click.option("--separate", is_flag=True, help="Keep products of queries and candidates apart.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Where everything is written.")
@click.option("-k", "k", type=click.IntRange(1), default=6, help="Depth of the pool (Tables 2 and 3).")
@click.option("--tolerance", type=click.FloatRange(0), default=1.0, help="Percentage points that count as close.")
@click.option("--resamples", type=click.IntRange(0), default=2000, help="Behind each limit of the report; 0: none.")
@click.option("--tables-only", is_flag=True, help="No data at all: the bias analysis of the printed Tables 5 to 8.")
def vsd(console: Console, tables_only: bool, out: Path | None, **options: Any) -> None:
    """Compute Tables 1 to 8 of VSD-Fashion's paper, and write them beside the printed cells with a verdict for each.

    OUT gets tables.md, cells.csv, reproduction.json, model-index/, eval-results/ and trec/, and of each task a project
    of its name with report.html and evaluator.csv. A second call makes only what is missing.
    """
    if tables_only:
        from eds.cli.reproduce_printed import printed

        wrong = [f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')}" for name in given(options)]
        if wrong:
            raise InputError(
                f"no data are read, and {', '.join(wrong)} would be left aside",
                where="option --tables-only", do="Leave one or the other out.",
            )  # fmt: skip
        printed(console, out)
        return
    if out is None:
        raise InputError("where to write is not told", where="option --out",
                         do="Say --out DIR; or --tables-only for what the printed tables alone tell.")  # fmt: skip
    _vsd(console, out, **options)


def _vsd(
    console: Console, out: Path, *, root: Path | None, images: Path | None, task: str, models: tuple[str, ...],
    weights: Path | None, embeddings: Path | None, runs: Path | None, gallery_phases: str, separate: bool, k: int,
    tolerance: float, resamples: int, **files: Path | None,
) -> None:  # fmt: skip
    from eds.benchmarks.reproduce.compare_cells import Computed, compare_cells
    from eds.benchmarks.reproduce.paper import TASKS, WILD, cells
    from eds.benchmarks.reproduce.release_files import find_files
    from eds.cli.reproduce_written import told, written, written_task
    from eds.images.readers.vsd import kind
    from eds.project.reproduce import task as work
    from eds.project.reproduce.models import bring, refuse_none, sources, without_models
    from eds.project.reproduce.numbers import found_cells, measured

    if task != "all" and task not in TASKS:
        raise InputError(f"no task is called {task!r}", where="option --task", do=f"Known: all, {', '.join(TASKS)}.")
    asked = TASKS if task == "all" else (task,)
    named = {name: file for name in KINDS if (file := files[name]) is not None}
    if root is None and not {"metadata", "annotations"} <= named.keys():
        raise InputError("no release is named", where="option --root",
                         do="Say --root DIR, or --metadata FILE --annotations FILE.")  # fmt: skip
    given_models = sources(models, weights, embeddings, runs)
    found, gone = find_files(root, asked, named, kind, out)
    gone |= without_models(given_models, list(found))
    found = {name: files for name, files in found.items() if name not in gone}
    pictures = images or root or next(iter(found.values())).metadata.parent
    tasks: list[work.Task] = []
    for name, one in found.items():  # all are begun before one is worked on: what is wrong with a file is told at once
        console.say(f"{name}: {one.annotations}")
        phases = gallery_phases if name == WILD or len(asked) == 1 else ""
        tasks.append(work.begun(console, out, name, one, pictures, phases, apart=separate, k=k))
    every, known, documents = cells(), _known(found), {}
    values: dict[Cell, Computed] = {}
    for at in tasks:
        bring(at, given_models, known, [other.project.root for other in tasks if other is not at])
        work.mine_lists(at)
        work.draw_negatives(at)
        numbers = measured(at)
        values |= found_cells(at, numbers, every[every["task"] == at.name], k)
        if at.sources:
            documents[at.name] = written_task(at, numbers, out, resamples=resamples)
        else:
            gone[at.name] = "no model could be used"
    if not documents:
        refuse_none(tasks, out)
    for name in set(TASKS) - set(found):
        why = f"task {name} was not run: {gone.get(name, 'it was not asked for')}"
        part = every[every["task"] == name]
        keys = zip(part["table"].tolist(), part["label"], part["column"], strict=True)
        values |= {key: Computed(why=why) for key in keys}
    table = compare_cells(every, values, tolerance)
    document = written(out, table, documents, gone, tolerance)
    console.answer(document, lambda: told(document))


def _known(found: "Mapping[str, Files]") -> set[str]:
    """Every image that any task's metadata name."""
    from eds.benchmarks.files import read_json

    return {
        entry["path"]
        for file in dict.fromkeys(one.metadata for one in found.values())
        for entry in _entries(read_json(file))
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    }


def _entries(content: Any) -> list[Any]:
    images = content.get("images") if isinstance(content, dict) else None
    return images if isinstance(images, list) else []
