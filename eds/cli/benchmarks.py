"""`eds benchmarks`: what others published, brought in as tables, and your own handed on; one command a format.

Here the group and the import of VSD-Fashion's files; the other commands stand in the files beside it.
"""

from pathlib import Path
from typing import Any

import click

from eds.cli.benchmarks_export import export
from eds.cli.benchmarks_import import COMMANDS
from eds.cli.benchmarks_reproduce import reproduce
from eds.cli.console import Console, command, given, typed

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
    from eds.cli.together import refuse_others

    project = console.project
    with project.writing("eds benchmarks import vsd"):
        refuse_others(project, TABLES, "eds benchmarks import", replace)
        document = import_files(console, given(options), **options)
    console.answer(document, lambda: _told(document))
    for note in document["notes"]:
        console.say(f"Note: {note}.")


def import_files(
    console: Console,
    words: dict[str, Any],
    *,
    metadata: Path,
    annotations: Path,
    seeds: Path | None,
    votes: Path | None,
    manifest: Path | None,
    gallery_phases: str,
    apart: bool,
) -> dict[str, Any]:
    """Read and check the raw files, then write the project's tables; the caller holds the project."""
    from eds.benchmarks import Files, read_annotations
    from eds.benchmarks.folder import all_verified
    from eds.cli.imported_votes import taking
    from eds.cli.together import together
    from eds.images.vsd import DOMAINS, read_parts

    project = console.project
    whole = all_verified([metadata, annotations, seeds, votes, manifest])
    contents = Files(metadata, annotations, seeds, manifest).contents()
    labels = read_annotations(contents)
    found = read_parts(contents, [phase.strip() for phase in gallery_phases.split(",") if phase.strip()])
    images, notes = found.images, [*whole, *found.notes]
    if apart:
        strange = images["role"] == "query"
        named = images["phase"].fillna("wild") + ":" + images["product_id"]
        images = images.assign(product_id=images["product_id"].where(~strange, named))
        notes = [note for note in notes if DOMAINS not in note]
    notes = [f"{note}; or import with --apart" if DOMAINS in note else note for note in notes]
    queries = images.loc[images["role"] != "candidate", "image_id"]
    candidates = images.loc[images["role"] != "query", "image_id"]
    outside = labels.outside(queries, candidates)
    notes += [f"{count:,} {what}: every measure counts them" for what, count in outside.items() if count]
    entries = [entry["path"] for entry in contents["metadata"][1]["images"]]
    again = len(entries) - len(set(entries))
    if again:
        notes.append(f"{again:,} entries of the metadata name images that others name: each image counts once")
    if labels.repeated:
        notes.append(f"{labels.repeated:,} annotations say again what others say: each pair counts once")
    asked = labels.pairs["query_id"].nunique()
    if asked < len(queries):
        notes.append(f"{len(queries) - asked:,} queries have no annotation")
    line = typed("eds benchmarks import vsd", words)
    frames = {"truth": labels.truth(), "suspects": labels.suspects(), "images": images}
    take_votes, counts = taking(votes, images["image_id"])
    left_out = set(entries) - set(images["image_id"])
    with together(project) as work:
        made_by = project.provenance(line, {}, [])
        work.put({name: frames[name] for name in TABLES}, made_by, take_votes, left_out=left_out)
    return {
        "format": "vsd",
        "images": len(images),
        "images_repeated": again,
        "products": int(images["product_id"].nunique()),
        "queries": len(queries),
        "candidates": len(candidates),
        "images_left_out": len(left_out),
        "pairs": len(labels.pairs),
        "positives": int(labels.pairs["value"].sum()),
        "repeated": labels.repeated,
        "votes": counts.added,
        "outside": outside,
        "notes": [*notes, *counts.notes],
    }


def _told(document: dict[str, Any]) -> str:
    share = document["positives"] / document["pairs"]
    return (
        f"{document['images']:,} images of {document['products']:,} products: {document['queries']:,} queries, "
        f"{document['candidates']:,} candidates; {document['images_left_out']:,} of the metadata are neither.\n"
        f"{document['pairs']:,} labelled pairs, {document['positives']:,} of them similar ({share:.1%}).\n"
        "Next: eds embeddings import MODEL vectors.npy ids.txt, then eds metrics score."
    )
