"""What a Hugging Face data set is made of: features, shards, pictures within Parquet, YAML before the card."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.card import quoted
from eds.benchmarks.rows import path_faults
from eds.errors import InputError
from eds.files import unfinished

PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
PORTION = 64  # pictures held in memory at once
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))
KNOWN_LICENCES = {"apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
                  "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odbl", "openrail", "unknown"}  # fmt: skip


def features(schema: pa.Schema) -> dict[str, str]:
    """The schema's notes by which `datasets` knows the columns."""
    told = {field.name: _feature(field.type) for field in schema}
    return {"huggingface": json.dumps({"info": {"features": told}})}


def _feature(kind: pa.DataType) -> dict[str, Any]:
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"_type": "List", "feature": _feature(kind.value_type)}
    names = {pa.float64(): "float64", pa.float32(): "float32", pa.timestamp("us", "UTC"): "timestamp[us, tz=UTC]"}
    return {"dtype": names.get(kind, str(kind)), "_type": "Value"}


def as_text(images: pd.DataFrame) -> tuple[pa.Table, list[str]]:
    """The images as Arrow; columns of kinds that a data set has no plain feature for become text, and are told."""
    table = pa.Table.from_pandas(images, preserve_index=False).replace_schema_metadata(None)
    lost = []
    for place, field in enumerate(table.schema):
        kind = field.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if not (plain or pa.types.is_string(kind)):
            if not (pa.types.is_large_string(kind) or pa.types.is_null(kind)):
                lost.append(f"the kind of column {field.name} ({kind}): its values go as text")
                texts = [None if value is None else str(value) for value in table.column(place).to_pylist()]
                table = table.set_column(place, field.name, pa.array(texts, pa.string()))
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
    return table, lost


def write_pictures(images: pa.Table, files: Sequence[Path] | None, target: Path) -> None:
    """Write rows with their pictures, a portion at a time; without files the pictures are paths only."""
    order = [images.schema.field("id"), pa.field("image", PICTURE), *(one for one in images.schema if one.name != "id")]
    schema = pa.schema(order)
    schema = schema.with_metadata(features(schema))
    portion = PORTION if files is not None else max(len(images), 1)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for start in range(0, len(images), portion):
            rows = images.slice(start, portion)
            paths = rows["path"].to_pylist()
            data = [None] * len(rows) if files is None else [one.read_bytes() for one in files[start : start + portion]]
            pictures = pa.array([{"bytes": one, "path": path} for one, path in zip(data, paths, strict=True)], PICTURE)
            columns = {**{name: rows[name] for name in rows.column_names}, "image": pictures}
            writer.write_table(pa.table({one.name: columns[one.name] for one in order}, schema=schema))
        if not len(images):
            writer.write_table(schema.empty_table())


def shards(place: Path, name: str) -> list[Path]:
    """The Parquet files of a configuration, in order."""
    folder = place / name
    return sorted(folder.rglob("*.parquet")) if folder.is_dir() else []


@contextmanager
def unpacked(benchmark: Benchmark, root: Path, note: Callable[[Path], None] | None = None) -> Iterator[int]:
    """Write the data set's pictures below the image root, for the length of the block and, if it ends well, for good.

    A file of the same content is left alone; one of other content is told, and what was written until then removed.
    `note` is told of each file before it is made.
    """
    told: list[str] = []
    made: list[Path] = []
    images = benchmark.images
    path_of = {} if images is None else dict(zip(images["image_id"], images["path"], strict=True))
    try:
        for shard in benchmark.pictures:
            for row, (name, data) in enumerate(_pictures(shard)):
                path = path_of.get(name, "")
                if data is None:
                    continue
                if path_faults(path) or not (root / path).parent.resolve().is_relative_to(root.resolve()):
                    told.append(f"{shard} row {row}: path {path!r} leads out of the image root")
                elif (root / path).exists():
                    if (root / path).read_bytes() != data:
                        told.append(f"{shard} row {row}: {root / path} is there already, and another picture")
                elif not told:
                    if note is not None:
                        note(root / path)
                    made.append(root / path)
                    _place(root / path, data)
        if told:
            raise InputError("pictures cannot be unpacked", where=str(root), faults=told[:10],
                             do="Nothing was imported. Use a project with an image root of its own.")  # fmt: skip
        yield len(made)
    except BaseException:
        for file in made:
            with suppress(OSError):
                file.unlink()
        raise


def _pictures(shard: Path) -> Iterator[tuple[str, bytes | None]]:
    with pq.ParquetFile(shard) as opened:
        if "image" not in opened.schema_arrow.names:
            return
        for batch in opened.iter_batches(batch_size=PORTION, columns=["id", "image"]):
            for row in batch.to_pylist():
                yield str(row["id"]), (row["image"] or {}).get("bytes")


def _place(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = unfinished(file)
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def readme_front(benchmark: Benchmark, names: Sequence[str]) -> str:
    """The YAML by which a hub and `datasets` know the data set; every text in quotation marks."""
    card = benchmark.card
    pairs = 0 if benchmark.truth is None else len(benchmark.truth)
    size = next((text for most, text in SIZES if pairs < most), "n>10M")
    licence = card.licence.lower()
    lines = ["---", f"pretty_name: {quoted(card.name)}"]
    lines += [f"license: {licence}"] if licence in KNOWN_LICENCES else ["license: other"]
    if licence and licence not in KNOWN_LICENCES:
        lines.append(f"license_name: {quoted(card.licence)}")
    lines += ["task_categories:", "- image-feature-extraction", "annotations_creators:", "- expert-generated"]
    lines += [
        "size_categories:",
        f"- {size}",
        "tags:",
        "- visual-similarity",
        "- image-retrieval",
        "- mteb",
        "configs:",
    ]
    for name in names:
        lines += [f"- config_name: {name}", "  data_files:", "  - split: test", f"    path: {name}/test-*"]
        lines += ["  default: true"] if name == "qrels" else []
    return "\n".join([*lines, "---", "", ""])
