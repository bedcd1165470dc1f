"""The VSD release, imported."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eds.project import Project


TABLES = ("truth", "suspects", "images")  # images last: without it nothing else is read


def import_files(
    project: "Project",
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
    from eds.images.vsd import DOMAINS, read_parts
    from eds.project.import_votes import taking
    from eds.project.transaction import together

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
    frames = {"truth": labels.truth(), "suspects": labels.suspects(), "images": images}
    take_votes, counts = taking(votes, images["image_id"])
    left_out = set(entries) - set(images["image_id"])
    with together(project) as work:
        made_by = project.provenance("benchmarks.import.vsd", {}, [], params=words)
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
