"""`eds benchmarks`: what others published, brought in as tables, and your own handed on; one command a format.

Here the group and the import of VSD-Fashion's files; the other commands stand in the files beside it.
"""

from pathlib import Path
from typing import Any

import click

from eds.cli.benchmarks_export import export
from eds.cli.benchmarks_import import COMMANDS
from eds.cli.benchmarks_reproduce import reproduce
from eds.cli.console import Console, command, given
from eds.project.import_vsd import import_files

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
TABLES = ("truth", "suspects", "images")  # images last: without it nothing else is read


@click.group()
def benchmarks() -> None:
    """Bring in benchmarks that others published; hand on your own."""


@benchmarks.group("import")
def import_() -> None:
    """Bring in a benchmark: its catalogue, its queries and its labels."""


benchmarks.add_command(export)
benchmarks.add_command(reproduce)
for one in COMMANDS:
    import_.add_command(one)


@command(import_, "vsd", example="eds benchmarks import vsd --metadata M.json --seeds S.json --annotations A.json")
@click.option("--metadata", type=FILE, required=True, help='{"images": [{"id": product, "path": ..., "phase": ...}]}')
@click.option("--annotations", type=FILE, required=True, help='[{"key": [seed, candidate], "value": 0 or 1}]')
@click.option("--seeds", type=FILE, help='{"seeds": [path]}; without it the first of each key is a query.')
@click.option("--votes", type=FILE, help="votes.jsonl, as eds benchmarks export vsd writes it beside the annotations.")
@click.option("--manifest", type=FILE, help='{"images": [{"path": ...}]}: the images of a split; empty: all.')
@click.option(
    "--gallery-phases", metavar="PHASE,...", default="", help="Only images of these phases are candidates (wild task)."
)
@click.option("--apart", is_flag=True, help="Products of queries outside the gallery are others, even of one id.")
@click.option("--replace", is_flag=True, help="Write over tables that other commands made.")
def vsd(console: Console, replace: bool, **options: Any) -> None:
    """Bring in VSD-Fashion's raw files, without any picture: tables images, truth and suspects, all or none."""
    from eds.project.transaction import refuse_others

    project = console.project
    with project.writing("eds benchmarks import vsd"):
        refuse_others(project, TABLES, "benchmarks.import.vsd", replace)
        document = import_files(console.project, given(options), **options)
    console.answer(document, lambda: _told(document))
    for note in document["notes"]:
        console.say(f"Note: {note}.")


def _told(document: dict[str, Any]) -> str:
    share = document["positives"] / document["pairs"]
    return (
        f"{document['images']:,} images of {document['products']:,} products: {document['queries']:,} queries, "
        f"{document['candidates']:,} candidates; {document['images_left_out']:,} of the metadata are neither.\n"
        f"{document['pairs']:,} labelled pairs, {document['positives']:,} of them similar ({share:.1%}).\n"
        "Next: eds embeddings import MODEL vectors.npy ids.txt, then eds metrics score."
    )
