"""A FiftyOne data set: samples with labels and pictures.

samples.json and metadata.json, as `fo.Dataset.from_dir(FOLDER, fo.types.LegacyFiftyOneDataset)` reads them. A sample
has its image's columns, its role as a tag, a Classification of its category, its box as a Detection, and lists of the
images that experts found similar and different. To read samples: eds images import, eds embeddings import.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from eds.benchmarks import pairs_file
from eds.benchmarks.benchmark import PAIR, Benchmark
from eds.benchmarks.files import plain_arrow
from eds.benchmarks.pictures import ExportedPictures, KeepMetadata
from eds.io.fiftyone import FILE
from eds.tables import BOX

PICTURES = "data"
OWN = {"image_id", "product_id", "phase", "sha256", "width", "height"}  # columns that are fields as they are
RESERVED = {
    "id",
    "filepath",
    "tags",
    "metadata",
    "created_at",
    "last_modified_at",
    "category",
    "box",
    "similar",
    "different",
}
MARKS_RANDOM = False


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    no_images: Annotated[bool, "Write paths instead of pictures."] = False,
    keep_metadata: KeepMetadata = False,
) -> list[str]:
    """Write the samples and their pictures; return what they cannot hold."""
    images = pairs_file.require_pairs(benchmark)
    pictures = None if no_images else ExportedPictures(images, benchmark.image_root, keep_metadata)
    not_held = ["the pictures: their paths only"] if pictures is None else []
    if pictures is not None:
        for row, path in enumerate(images["path"]):
            target = folder / PICTURES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(pictures.read(row))
        images = pictures.exported_digests(images)
        not_held += pictures.write_manifest(folder)
    names = dict(zip(images["image_id"], images["path"], strict=True))
    partners = _partners(benchmark.truth)
    samples = [_sample(row, partners) for row in plain_arrow(images).to_pylist()]
    (folder / FILE).write_text(json.dumps({"samples": samples}, ensure_ascii=False), encoding="utf-8")
    info = {"name": benchmark.card.name if benchmark.card else "benchmark", "images": len(names)}
    (folder / "metadata.json").write_text(json.dumps({"media_type": "image", "info": info}), encoding="utf-8")
    if benchmark.suspects is not None:
        not_held.append("why each pair was asked, and with what probability")
    if benchmark.votes is not None and len(benchmark.votes):
        not_held.append(f"{len(benchmark.votes):,} votes: only the decided labels")
    if benchmark.runs:
        not_held.append(f"the lists of {len(benchmark.runs)} models")
    unsized = images[list(BOX)].notna().all(axis=1) & images[["width", "height"]].isna().any(axis=1)
    if unsized.any():
        not_held.append(f"the boxes of {int(unsized.sum()):,} images whose size is not known")
    return not_held


def _partners(truth: pd.DataFrame | None) -> dict[tuple[str, int], list[str]]:
    """Return the images judged with each query, by the label."""
    if truth is None:
        return {}
    return {
        (str(query), value): part[PAIR[1]].astype(str).tolist()
        for value in (0, 1)
        for query, part in truth[truth["value"] == value].groupby(PAIR[0])
    }


def _sample(row: dict[str, Any], partners: dict[tuple[str, int], list[str]]) -> dict[str, Any]:
    name, further = row["image_id"], {key for key in row if key not in OWN and key not in BOX}
    plain = {key: row[key] for key in sorted((OWN & row.keys()) | (further - RESERVED - {"path", "role"}))}
    sample: dict[str, Any] = {
        "filepath": f"{PICTURES}/{row['path']}",
        "tags": [row["role"]],
        "metadata": None,
        **{key: value for key, value in plain.items() if value is None or isinstance(value, (str, int, float, bool))},
        "category": None
        if row["category"] is None
        else {"_cls": "Classification", "tags": [], "label": row["category"]},
        "similar": partners.get((name, 1), []),
        "different": partners.get((name, 0), []),
    }
    edges = [row[edge] for edge in BOX]
    width, height = row["width"], row["height"]
    if None not in edges and width and height:
        left, top, right, bottom = edges
        place = [left / width, top / height, (right - left) / width, (bottom - top) / height]
        box = {"_cls": "Detection", "attributes": {}, "tags": [], "label": row["category"], "bounding_box": place}
        sample["box"] = {"_cls": "Detections", "detections": [box]}
    return sample
