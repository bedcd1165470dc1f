"""The raw files of the VSD-Fashion release: metadata and, where present, seeds, annotations and manifest.

    metadata     {"images": [{"id": product, "path": ..., "phase": ..., "bbox", "category", ...}]}
    seeds        {"seeds": [path, ...]}                       the queries
    annotations  [{"key": [seed, candidate], "value": 0|1}]   without seeds, the first of each key is one
    manifest     {"images": [{"path": ...}]}                  the images of a split; an empty list means all

The files are recognised by their shape; several of a kind (the lists of several wild collections) are read as one. The
id of an image is its path. No image needs to be on disk.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from eds.errors import InputError
from eds.images.sources import Catalogue, Source, as_text, boxes, finish_rows, raise_faults
from eds.io.files import forbidden

USES = ("gallery_phases",)
SHOWN = 3
DOMAINS = "queries and candidates of different domains"  # these words identify a note on shared product ids


def kind(content: Any) -> str:
    """Which of the four files this is, by its shape; empty if it is none of them."""
    if isinstance(content, dict) and isinstance(content.get("seeds"), list):
        return "seeds"
    if isinstance(content, dict) and isinstance(content.get("images"), list):
        images = content["images"]
        return "metadata" if any(isinstance(one, dict) and "id" in one for one in images) else "manifest"
    if isinstance(content, list) and all(isinstance(one, dict) and "key" in one for one in content):
        return "annotations"
    return ""


def read(source: Source) -> Catalogue:
    """Read the images of the metadata, restricted to the manifest if it names any, with their roles."""
    return read_parts(_parts(source.files), source.gallery_phases)


def read_parts(parts: Mapping[str, tuple[Path, Any]], gallery_phases: Sequence[str] = ()) -> Catalogue:
    """Like `read`, with the contents of metadata, seeds, annotations and manifest."""
    where = str(parts["metadata"][0])
    rows = _rows(parts["metadata"][1]["images"], where)
    notes: list[str] = []
    rows = finish_rows(rows, where)
    seeds = _seeds(parts, rows, notes)
    rows = _split(rows, parts, seeds, notes)
    rows = _with_roles(rows, seeds, gallery_phases, notes)
    notes += _shared_products(rows)
    return Catalogue(rows, notes=tuple(notes))


def _parts(files: Sequence[Path]) -> dict[str, tuple[Path, Any]]:
    parts: dict[str, tuple[Path, Any]] = {}
    for file in files:
        try:
            content = json.loads(file.read_text(encoding="utf-8-sig"))
        except PermissionError as error:
            raise forbidden(file) from error
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as JSON ({error})", where=str(file), hint="Correct the file.") from error
        name = kind(content)
        if not name:
            what = "is neither metadata, seeds, annotations nor manifest"
            raise InputError(what, where=str(file), hint="Metadata entries have an id.")
        if name in parts:  # the names are for messages; entries count on from file to file
            before, first = parts[name]
            parts[name] = (Path(f"{before}, {file.name}"), _joined(first, content))
        else:
            parts[name] = (file, content)
    if "metadata" not in parts:
        raise InputError("no file holds metadata", hint='Add the file with {"images": [{"id": ..., "path": ...}]}.')
    return parts


def _joined(first: Any, second: Any) -> Any:
    """The content of two files of one kind."""
    if isinstance(first, list):
        return [*first, *second]
    if kind(first) == "manifest" and not (first["images"] and second["images"]):
        return {"images": []}  # one of them means everything
    return {name: [*first[name], *second[name]] for name in ("images", "seeds") if name in first}


def _rows(entries: list[Any], where: str) -> pd.DataFrame:
    """The metadata as rows; `id` becomes the product, `bbox` the box, all else passes through."""
    faults = [
        f"entry {number} has no {name}"
        for number, entry in enumerate(entries, 1)
        for name in ("id", "path")
        if not isinstance(entry, dict) or entry.get(name) in (None, "")
    ]
    raise_faults(faults, where, "Every entry needs the product's id and the image's path.")
    rows = pd.DataFrame(entries, dtype=object).rename(columns={"id": "product_id"})
    rows.index = pd.RangeIndex(1, len(rows) + 1, name="entry")
    clash = sorted({"image_id", "role"} & set(rows.columns))
    raise_faults((f"column {name} is reserved by eds" for name in clash), where, "Rename it in the metadata.")
    if "bbox" in rows:
        corners = pd.DataFrame(
            [_corners(box, f"entry {number}", where) for number, box in rows.pop("bbox").items()],
            columns=["left", "top", "right", "bottom"],
            index=rows.index,
            dtype="Float64",
        )
        rows = rows.join(boxes(corners, where))
    for name in ("product_id", "path", "category", "phase"):
        if name in rows:
            rows[name] = as_text(rows[name])
    for name in rows.columns:
        if rows[name].map(lambda value: isinstance(value, (list, dict))).any():
            rows[name] = [None if _is_missing(value) else json.dumps(value) for value in rows[name]]
    return rows


def _corners(box: Any, place: str, where: str) -> tuple[Any, ...]:
    """[x, y, h, w] or {x1, y1, x2, y2} as left, top, right, bottom."""
    if _is_missing(box):
        return (None,) * 4
    numbers = [box.get(name) for name in ("x1", "y1", "x2", "y2")] if isinstance(box, dict) else box
    good = isinstance(numbers, list) and len(numbers) == 4
    if not good or not all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in numbers):
        raise InputError(f"{place} has bbox {box!r}", where=where, hint="Use [x, y, h, w] or x1, y1, x2, y2.")
    if isinstance(box, dict):
        return tuple(numbers)
    left, top, height, width = map(float, numbers)
    return left, top, left + width, top + height


def _seeds(parts: Mapping[str, tuple[Path, Any]], rows: pd.DataFrame, notes: list[str]) -> list[str] | None:
    """The queries' paths in order, without repeats; None if no file states them."""
    if "seeds" in parts:
        file, content = parts["seeds"]
        seeds = content["seeds"]
    elif "annotations" in parts:
        file, content = parts["annotations"]
        short = [
            number for number, one in enumerate(content, 1) if not isinstance(one["key"], list) or len(one["key"]) != 2
        ]
        raise_faults(
            (f"entry {number} does not have a pair as its key" for number in short), str(file), "Use [seed, candidate]."
        )
        seeds = [one["key"][0] for one in content]
        notes.append("no seeds file: the first image of every annotation is a query")
    else:
        notes.append("neither seeds nor annotations: every image is query and candidate")
        return None
    once = list(dict.fromkeys(seeds))
    known = set(rows["path"])
    lost = (f"{seed!r} is not in the metadata" for seed in once if seed not in known)
    raise_faults(lost, str(file), "Use the metadata that belong to these queries.")
    return once


def _split(
    rows: pd.DataFrame, parts: Mapping[str, tuple[Path, Any]], seeds: list[str] | None, notes: list[str]
) -> pd.DataFrame:
    """The manifest's images, and the queries even where it does not name them."""
    if "manifest" not in parts:
        return rows
    file, content = parts["manifest"]
    entries = content["images"]
    named = [entry.get("path") if isinstance(entry, dict) else None for entry in entries]
    if not named:
        notes.append("the manifest is empty: it means the whole dataset")
        return rows
    known = set(rows["path"])
    lost = (
        f"entry {number}: {path!r} is not in the metadata" for number, path in enumerate(named, 1) if path not in known
    )
    raise_faults(lost, str(file), "Use the metadata that belong to this manifest.")
    member = rows["path"].isin(named)
    outside = rows["path"].isin(seeds or []) & ~member
    if outside.any():
        notes.append(f"{int(outside.sum()):,} queries are not in the manifest: they are not candidates")
    roles = rows["role"].where(~outside, "query")
    kept: pd.DataFrame = rows.assign(role=roles)[(member | outside).to_numpy()]
    return kept.reset_index(drop=True)


def _with_roles(rows: pd.DataFrame, seeds: list[str] | None, gallery: Sequence[str], notes: list[str]) -> pd.DataFrame:
    phases = set(rows["phase"].dropna())
    unknown = sorted(set(gallery) - phases)
    raise_faults(
        (f"no image has phase {name!r}" for name in unknown),
        "option --gallery-phase",
        f"Phases of these images: {', '.join(sorted(phases)) or 'none'}.",
    )
    candidate = rows["role"] != "query"
    if gallery:
        candidate &= rows["phase"].isin(list(gallery))
    query = rows["path"].isin(seeds) if seeds is not None else ~candidate if gallery else candidate
    roles = pd.Series("candidate", index=rows.index).mask(query & candidate, "both").mask(query & ~candidate, "query")
    kept = (query | candidate).to_numpy(dtype=bool)
    if not kept.all():
        notes.append(f"{int((~kept).sum()):,} images are neither queries nor of a gallery phase: left out")
    result: pd.DataFrame = rows.assign(role=roles)[kept]
    return result.reset_index(drop=True)


def _shared_products(rows: pd.DataFrame) -> list[str]:
    """Notes on a trap of the wild task: two collections use the same product ids for different products."""
    folders = rows["path"].str.rpartition("/")[0]
    spread = folders.groupby(rows["product_id"]).nunique()
    shared = sorted(spread[spread > 1].index)
    notes = []
    if shared:
        notes.append(
            f"{len(shared):,} product ids occur in more than one folder ({', '.join(shared[:SHOWN])}): if they are"
            " different products, leaving out the query's own product drops other products too"
        )
    apart = rows["role"] == "query"
    both = sorted(set(rows["product_id"][apart]) & set(rows["product_id"][~apart]))
    if both:
        first = [rows[side & (rows["product_id"] == both[0])]["path"].iloc[0] for side in (apart, ~apart)]
        notes.append(
            f"{len(both):,} product ids belong to {DOMAINS} ({', '.join(both[:SHOWN])}), as of {first[0]!r} and"
            f" {first[1]!r}: if these are different products, make the ids distinct, or set"
            " neighbors.exclude_product = false; otherwise other products drop out of the lists"
        )
    return notes


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
