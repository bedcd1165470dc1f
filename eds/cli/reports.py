"""`eds reports`: an HTML report of the project, and its numbers as JSON and CSV."""

from typing import TYPE_CHECKING, Any

import click

from eds.cli.addresses import ADDRESS
from eds.cli.console import Console, command
from eds.cli.options import allow_missing, confidence, pool_models_option, resamples_option, with_random

if TYPE_CHECKING:
    from eds.project.report import ReportResult


@click.group()
def reports() -> None:
    """Write the results for readers without Python."""


@command(reports, "write", example="eds reports write --out report.html --slice category")
@click.option("--out", "to", type=ADDRESS, help="The page: a path or an s3:// address (default: report.html).")
@click.option(
    "--slice",
    "slices",
    multiple=True,
    metavar="COLUMN",
    default=("category",),
    help="A column of images to split results by; repeatable.",
)
@click.option("--gallery", type=click.IntRange(0, 200), default=3, help="Pairs in each gallery; 0: none.")
@click.option("--pictures/--no-pictures", default=True, help="Embed the pictures of the galleries.")
@click.option("--keep", is_flag=True, help="Keep the earlier report, with its time in the name.")
@resamples_option
@confidence
@pool_models_option
@with_random
@allow_missing
def write(console: Console, **options: Any) -> None:
    """Write the report as HTML, and its numbers as JSON and CSV.

    Table scores is made first if it is missing or stale; the report shows its numbers.
    """
    console.show(console.project.report(**options), render_report)


def render_report(result: "ReportResult") -> str:
    """Render the files of a report, and what is missing in it."""
    lines = [f"Wrote {path} ({size / 1e6:,.1f} MB)" for path, size in result.files.items()]
    return "\n".join([*lines, *(f"Missing in {part.section}: {part.missing}" for part in result.missing)])
