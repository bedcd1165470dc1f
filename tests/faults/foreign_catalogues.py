"""Catalogues for the mutations: a small one in the form of every reader of `eds.images.readers`."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds import tables
from eds.errors import EdsError
from eds.images.detect import detect
from eds.images.sources import Source, read_source
from eds.io.fiftyone import packed
from eds.io.reading import CONTROL
from tests.faults.mutations import Importer
from tests.images.reading import png
from tests.images.test_arrays import cifar10_binary, cifar10_python, cifar100_python, mnist
from tests.images.test_real_catalogues import bed, entry, library, package

ROWS = [
    {"image_id": f"i{n}", "path": f"a/{n}.png", "product_id": f"p{n // 2}", "role": "both", "width": 8, "price": n / 3}
    for n in range(8)
]
LINES = ["image_name item_id evaluation_status", *(f"img/{n}.jpg id_{n // 2} train" for n in range(4))]


def _table(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        file, frame = folder / f"list.{suffix}", pd.DataFrame(ROWS)
        if suffix == "parquet":
            pq.write_table(pa.Table.from_pandas(frame), file, write_page_checksum=True)
        elif suffix == "csv":
            frame.to_csv(file, index=False, lineterminator="\r\n")
        elif suffix == "jsonl":
            frame.to_json(file, orient="records", lines=True)
        else:
            file.write_text(json.dumps(ROWS))
        return file

    return write


def _vsd(folder: Path) -> Path:
    images = [{"id": f"p{n // 2}", "path": f"a/{n}.png", "phase": "train", "bbox": [1, 1, 5, 5]} for n in range(8)]
    (folder / "metadata.json").write_text(json.dumps({"images": images}))
    return folder / "metadata.json"


def write_fiftyone(folder: Path) -> Path:
    """FiftyOne's samples, with vectors."""
    vectors = np.random.default_rng(1).normal(size=(8, 8)).astype(np.float32)
    box = {"_cls": "Detection", "bounding_box": [0.1, 0.1, 0.5, 0.5]}
    samples = [
        {
            "filepath": row["path"],
            "tags": ["query"],
            "metadata": {"width": 8, "height": 8},
            "product_id": row["product_id"],
            "ground_truth": {"_cls": "Classification", "label": "dress"},
            "found": {"_cls": "Detections", "detections": [box]},
            "clip": packed(numbers),
        }
        for row, numbers in zip(ROWS, vectors, strict=True)
    ]
    (folder / "samples.json").write_text(json.dumps({"samples": samples}))
    return folder / "samples.json"


def _cvat(folder: Path) -> Path:
    text = "".join(
        f'<image id="{number}" name="{row["path"]}" width="8" height="8">'
        '<box label="a" xtl="1" ytl="1" xbr="5" ybr="5">'
        f'<attribute name="product_id">{row["product_id"]}</attribute></box></image>'
        for number, row in enumerate(ROWS)
    )
    (folder / "annotations.xml").write_text(f"<annotations>{text}</annotations>")
    return folder / "annotations.xml"


def _inshop(folder: Path) -> Path:
    (folder / "lists").mkdir()
    (folder / "lists" / "list_eval_partition.txt").write_text("\n".join(["4", *LINES]) + "\n")
    return folder / "lists"


def _shards(folder: Path) -> Path:
    (folder / "shards").mkdir()
    cells = [
        {"id": row["image_id"], "product_id": row["product_id"], "image": {"bytes": png(n), "path": row["path"]}}
        for n, row in enumerate(ROWS[:4])
    ]
    pq.write_table(pa.Table.from_pylist(cells), folder / "shards" / "train-0.parquet", write_page_checksum=True)
    return folder / "shards"


def _folder_with_metadata(folder: Path) -> Path:
    (folder / "root").mkdir()
    frame = pd.DataFrame(ROWS).rename(columns={"path": "file_name"})
    frame.to_csv(folder / "root" / "metadata.csv", index=False, lineterminator="\r\n")
    return folder / "root"


def _furniture(folder: Path) -> Path:
    return library(folder / "Scopia.sh3f", [bed("bed", "bed1"), bed("bill", "bill")])


def _emoji(folder: Path) -> Path:
    return package(folder, "twitter", [entry("Hash Key", "0023"), entry("Keycap 1", "0031")])


def _read(path: Path) -> Any:
    """As `eds images import` does; pictures that lie inside the file are written below a folder."""
    root = path if path.name == "root" else path.parent / "pictures"
    return read_source(detect((path,)), Source((path,), root)).images


def _read_idx(path: Path) -> Any:
    return read_source("idx", Source((path,), path.parent / "pictures")).images


def _read_cifar(path: Path) -> Any:
    return read_source("cifar", Source((path,), path.parent / "pictures")).images


def _bad(images: pd.DataFrame) -> str:
    try:
        tables.check(images, tables.IMAGES)
    except EdsError as error:
        return str(error)
    if any(CONTROL.search(one) for one in [*images["image_id"], *images["product_id"]]):
        return "names with control characters"
    edges = images[["box_left", "box_top", "box_right", "box_bottom"]].notna().sum(axis=1)
    return "" if edges.isin([0, 4]).all() else "half a crop box"


def _gzipped(folder: Path) -> Path:
    return mnist(folder / "mnist", gzip.compress, ".gz")


CATALOGUES: dict[str, Importer] = {
    "images table, csv": Importer(_table("csv"), _read, _bad),
    "images table, json": Importer(_table("json"), _read, _bad),
    "images table, jsonl": Importer(_table("jsonl"), _read, _bad),
    "images table, parquet": Importer(_table("parquet"), _read, _bad),
    "images fiftyone": Importer(write_fiftyone, _read, _bad),
    "images cvat": Importer(_cvat, _read, _bad),
    "images vsd": Importer(_vsd, _read, _bad),
    "images deepfashion": Importer(_inshop, _read, _bad, "list_eval_partition.txt"),
    "images huggingface, shards": Importer(_shards, _read, _bad, "train-0.parquet"),
    "images huggingface, folder": Importer(_folder_with_metadata, _read, _bad, "metadata.csv"),
    "images furniture": Importer(_furniture, _read, _bad),
    "images emoji": Importer(_emoji, _read, _bad, "emoji.json"),
    "images idx": Importer(lambda folder: mnist(folder / "mnist"), _read_idx, _bad, "train-images-idx3-ubyte"),
    "images idx, packed": Importer(_gzipped, _read_idx, _bad, "train-labels-idx1-ubyte.gz"),
    "images cifar": Importer(lambda folder: cifar10_binary(folder / "cifar"), _read_cifar, _bad, "batches.meta.txt"),
    "images cifar, pickle": Importer(
        lambda folder: cifar10_python(folder / "cifar"), _read_cifar, _bad, "batches.meta"
    ),
    "images cifar, batch": Importer(lambda folder: cifar100_python(folder / "cifar"), _read_cifar, _bad, "test"),
}
