"""FiftyOne's samples.json: images with their labels, as its exports hold them.

The path is the sample's, below the image root or relative to it; `image_id` and `product_id` are fields of these names.
The category is the Classification `category`, else `ground_truth`, else the only one. A sample's only Detection is its
box, if its size is known. The tags query and candidate are roles. Plain fields become columns.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from eds.errors import InputError
from eds.images.columns import rename_columns
from eds.images.sources import Catalogue, Source, finish_rows
from eds.io.fiftyone import Sample, is_samples, kind, read_samples
from eds.tables import BOX

USES = ("columns",)
OWN = {"created_at", "last_modified_at", "metadata", "media_type"}  # of FiftyOne


def fits(files: Sequence[Path]) -> bool:
    """Whether this is an export of FiftyOne, or its samples.json."""
    return len(files) == 1 and is_samples(files[0])


def read(source: Source) -> Catalogue:
    """The images that the samples name."""
    place = source.files[0]
    home = place if place.is_dir() else place.parent
    found = read_samples(place)
    rows = [_row(sample, home, source.folder) for sample in found]
    frame = pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="sample"))
    frame, _ = rename_columns(frame.dropna(axis=1, how="all"), source.columns, str(place))
    unboxed = sum(1 for sample, row in zip(found, rows, strict=True) if _boxes(sample) and BOX[0] not in row)
    notes = (f"{unboxed:,} samples have several detections, or no known size: taken without a box",) if unboxed else ()
    return Catalogue(finish_rows(frame, str(place)), notes=notes)


def _row(sample: Sample, home: Path, root: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"path": _path(sample.filepath, home, root)}
    classes = {name: value.get("label") for name, value in sample.fields() if kind(value) == "Classification"}
    for name, value in sample.fields():
        if not name.startswith("_") and name not in OWN and isinstance(value, (str, int, float, bool)):
            row[name] = value
    for name in ("image_id", "product_id", "phase", "sha256"):
        if name in row:
            row[name] = str(row[name])
    first: list[str] = [name for name in ("category", "ground_truth") if name in classes]
    names = first or list(classes)
    if (first or len(names) == 1) and isinstance(classes[names[0]], str):
        row["category"] = classes[names[0]]
    roles = [tag for tag in sample.tags if tag in ("query", "candidate", "both")]
    if roles:
        row["role"] = roles[0] if len(set(roles)) == 1 else "both"
    size = sample.field("metadata") if isinstance(sample.field("metadata"), dict) else {}
    width, height = (row.get(side, size.get(side)) for side in ("width", "height"))
    for side, value in (("width", width), ("height", height)):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            row[side] = value
        else:
            row.pop(side, None)
    boxes = _boxes(sample)
    if len(boxes) == 1 and {"width", "height"} <= row.keys():
        row |= _edges(boxes[0], row["width"], row["height"])
    return row


def _boxes(sample: Sample) -> list[list[float]]:
    """The bounding boxes of all detections: left, top, width, height, as shares."""
    found = []
    for _, value in sample.fields():
        entries = (
            value.get("detections") if kind(value) == "Detections" else [value] if kind(value) == "Detection" else []
        )
        for entry in entries if isinstance(entries, list) else []:
            box = entry.get("bounding_box") if isinstance(entry, dict) else None
            if isinstance(box, list) and len(box) == 4 and all(isinstance(edge, (int, float)) for edge in box):
                found.append(box)
    return found


def _edges(box: list[float], width: int, height: int) -> dict[str, int]:
    left, top = max(box[0], 0.0) * width, max(box[1], 0.0) * height
    right, bottom = min(box[0] + box[2], 1.0) * width, min(box[1] + box[3], 1.0) * height
    edges = [round(edge) for edge in (left, top, right, bottom)]
    return dict(zip(BOX, edges, strict=True)) if edges[0] < edges[2] and edges[1] < edges[3] else {}


def _path(text: str, home: Path, root: Path) -> str:
    """The path below the image root: as it is, or relative to the export's folder."""
    for place in (home / text, root / text):
        found = place.resolve()
        if found.is_relative_to(root.resolve()):
            return found.relative_to(root.resolve()).as_posix()
    if Path(text).is_absolute():
        hint = "Name the folder of the pictures: --root."
        raise InputError(f"{text!r} is not below the image root", where=str(root), hint=hint)
    return text
