"""`eds benchmarks reproduce`: compute published tables again, each cell beside the printed one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.render import format_table

if TYPE_CHECKING:
    from eds.project.reproduce.outputs import ReproductionResult
    from eds.project.reproduce.printed_bias import PrintedBias

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
OUT = click.Path(path_type=Path, file_okay=False)
RELEASE = ("root", "metadata", "seeds", "annotations", "manifest", "images")
CHOICE = ("models", "weights", "embeddings", "runs")
FEW = 4  # rows that are named behind a reason


@click.group()
def reproduce() -> None:
    """Compute published tables again and compare every cell."""


@command(reproduce, "vsd", example="eds benchmarks reproduce vsd --root vsd-fashion --embeddings vectors --out out")
@click.option("--out", type=OUT, required=True, help="Folder of the results.")
@click.option("--root", type=FOLDER, help="The release: JSON files and the image tree.")
@click.option("--metadata", type=FILE, help="Images and products, if not found below --root.")
@click.option("--seeds", type=FILE, help="Queries, if not found below --root.")
@click.option("--annotations", type=FILE, help="Labelled pairs, if not found below --root.")
@click.option("--manifest", type=FILE, help="Images of a task, if not found below --root.")
@click.option("--images", type=FOLDER, help="Base of the metadata's paths (default: --root).")
@click.option("--task", default="all", metavar="all|NAME", help="One of the four tasks, or all that have files.")
@click.option("--models", multiple=True, default=("paper",), metavar="paper|[NAME=]SPEC|NAME", help="Models to use.")
@click.option("--weights", type=FOLDER, help="Weights of the models that no hub has.")
@click.option("--embeddings", type=FOLDER, help="Vectors, one file per model; no picture is read.")
@click.option("--runs", type=FOLDER, help="TREC runs, one file per model; no picture is read.")
@click.option("--gallery-phases", metavar="PHASE,...", default="", help="Phases of the candidates (wild task).")
@click.option("--separate", is_flag=True, help="Keep products of queries and candidates apart.")
@click.option("-k", "k", type=click.IntRange(1), default=6, help="Depth of the pool (Tables 2 and 3).")
@click.option("--tolerance", type=click.FloatRange(0), default=1.0, help="Percentage points that count as close.")
@click.option(
    "--resamples", type=click.IntRange(0), default=2000, help="Resamples per interval of the report; 0: none."
)
def vsd(console: Console, out: Path, **options: Any) -> None:
    """Compute Tables 1 to 8 of VSD-Fashion's paper again.

    OUT gets tables.md, cells.csv, reproduction.json, model-index/, eval-results/ and trec/, and for each task a
    project with report.html and evaluator.csv. A second call computes only what is missing.
    """
    from eds.project.reproduce.models import ModelChoice
    from eds.project.reproduce.vsd import Release, Settings, reproduce_vsd

    release = Release(**{name: options.pop(name) for name in RELEASE})
    console.would_begin(
        "make", str(out), "tables, cells, and for each task a project with its vectors, lists and report"
    )
    models = ModelChoice(**{name: options.pop(name) for name in CHOICE})
    console.show(reproduce_vsd(out, release, models, Settings(**options), reporter=console), render_reproduction)


@command(reproduce, "vsd-bias", example="eds benchmarks reproduce vsd-bias --out out")
@click.option("--out", type=OUT, help="Folder for bias.json and bias.md.")
def vsd_bias(console: Console, out: Path | None) -> None:
    """Compare pool models with new models in the printed tables.

    Needs no data: reads the digitised Tables 5 to 8 of VSD-Fashion's paper.
    """
    from eds.project.reproduce.printed_bias import compare_printed

    if out is not None:
        console.would_begin("make", str(out), "bias.json and bias.md")
    console.show(compare_printed(out), render_bias)


def render_reproduction(result: "ReproductionResult") -> str:
    """Render a reproduction as text."""
    lines = []
    for name, task in result.tasks.items():
        lines += [f"{name}:", *(f"  {sentence}" for sentence in task.sentences()), ""]
    lines += [f"Not run: {name}: {why}." for name, why in result.not_run.items()]
    counts = result.verdicts
    lines += ["Printed cells and ours, by table:"]
    lines += [format_table(list(counts.columns), counts.astype(object).to_numpy().tolist()), ""]
    missing = result.not_computed.to_numpy().tolist()
    if missing:
        lines += ["Cells that could not be computed, and why:", *(_render_missing(*row) for row in missing)]
    return "\n".join([*lines, "", f"Every cell beside the printed one: {result.out}/tables.md (and cells.csv)."])


def _render_missing(why: str, count: int, tables: str, rows: str) -> str:
    few = f" ({rows})" if rows.count(",") < FEW else ""
    return f"  {count:,} in {'Tables' if ',' in tables else 'Table'} {tables}{few}: {why}"


def render_bias(result: "PrintedBias") -> str:
    """Render the bias in the printed tables as text."""
    from eds.project.reproduce.printed_bias import READING

    lines = []
    for bias in result.found:
        table = bias.table()
        lines += [bias.title(), format_table(list(table.columns), table.to_numpy().tolist()), bias.summary(), ""]
    return "\n".join([*lines, READING, *(f"Wrote {file}" for file in result.files)])
