"""What a user's vectors and their ids come in: .npy, .npz, Parquet, safetensors, a model's folder, FiftyOne's samples.

Arrays are memory-mapped where the format allows it (not .npz) and always given block by block. Not
here: whether the numbers can be used (eds.embeddings.importing).
"""

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, NonNegativeInt, TypeAdapter

from eds.errors import InputError
from eds.io.fiftyone import Sample, is_samples, read_samples, vector
from eds.io.reading import reading, shaped
from eds.vectors import Vectors, stored_dtype

Array = np.ndarray[Any, np.dtype[Any]]
SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}
BLOCK = 8192  # rows


class Tensor(BaseModel):
    """A tensor as the header of a safetensors file names it."""

    dtype: str
    shape: list[NonNegativeInt]
    data_offsets: tuple[NonNegativeInt, NonNegativeInt]


@dataclass(frozen=True)
class Given:
    """Vectors in a file: their shape, and how to read them from the first row to the last."""

    rows: int
    columns: int
    dtype: np.dtype[Any]
    blocks: Callable[[], Iterator[Array]]  # (at most BLOCK, columns) each
    ids: list[str] | None = None  # where the file itself names the images


def read_vectors(path: Path, part: str = "", known: Mapping[str, str] | None = None) -> Given:
    """Open a file of vectors; `part` names the array, column or field where there are several.

    `known` has the image of each path, for files that name images by paths.
    """
    if path.is_file() and is_samples(path):
        with reading(path, "the file is damaged", "Write it again."):
            return _samples(path, part, known)
    if path.is_dir():
        return _folder(path)
    if path.suffix not in READERS:
        raise InputError(
            f"vectors cannot be read from {path.suffix or 'such a file'}",
            where=str(path),
            hint=f"Give {', '.join(READERS)}, or FiftyOne's samples.json.",
        )
    with reading(path, "the file is damaged", "Write it again."):
        given = READERS[path.suffix](path, part)
    if given.dtype.kind not in "fiub":
        raise InputError(
            f"the vectors are {given.dtype}, not numbers", where=str(path), hint="Give float32 or float16."
        )

    def blocks() -> Iterator[Array]:
        with reading(path, "the file is damaged", "Write it again."):
            yield from given.blocks()

    return replace(given, blocks=blocks)


def read_ids(path: Path, rows: int, known: "set[str]") -> list[str]:
    """Image ids of `rows` vectors: one a line (.txt), or column `image_id`, else the first (.csv, .tsv, .parquet).

    A CSV without `image_id` has a heading if it has one line too many and that line's first cell is no known image.
    """
    with reading(path, "ids cannot be read", "Give UTF-8 text or Parquet."):
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            name = "image_id" if "image_id" in table.column_names else table.column_names[0]
            return [str(value) for value in table.column(name).to_pylist()]
        text = path.read_text(encoding="utf-8-sig")
    if path.suffix not in (".csv", ".tsv"):
        ended = text.split("\n")  # not splitlines: an id may hold other signs that Unicode takes for line ends
        return [line.removesuffix("\r") for line in (ended[:-1] if ended[-1] == "" else ended)]
    with reading(path, "ids cannot be read", "Give UTF-8 text or Parquet."):
        lines = list(csv.reader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ","))
    column = lines[0].index("image_id") if lines and "image_id" in lines[0] else 0
    cells = [line[column] if len(line) > column else "" for line in lines]
    if lines and "image_id" in lines[0]:
        return cells[1:]
    return cells[1:] if len(cells) == rows + 1 and cells[0] not in known else cells


def _folder(path: Path) -> Given:
    """The folder of a model, as another project has it: all its shards, held against their digests."""
    vectors = Vectors.open(path)
    vectors.verify()

    def blocks() -> Iterator[Array]:
        for _, block in vectors.blocks(BLOCK):
            yield block

    return Given(len(vectors), vectors.model.width, stored_dtype(vectors.model.dtype), blocks, vectors.ids.tolist())


def _samples(path: Path, part: str, known: Mapping[str, str] | None) -> Given:
    """A field of FiftyOne's samples; images by the field image_id, or by the longest end of the path that is known."""
    samples = read_samples(path)
    names = sorted({name for one in samples[:100] for name, value in one.fields() if vector(value) is not None})
    field = _chosen(names, part, path)
    found = [(one, vector(one.field(field))) for one in samples]
    held = [(one, numbers) for one, numbers in found if numbers is not None]
    if not held or len({len(numbers) for _, numbers in held}) > 1:
        raise InputError(
            f"field {field} holds vectors of different lengths, or none", where=str(path), hint="Compute it again."
        )
    array = np.stack([numbers for _, numbers in held])
    return replace(_array(array, path), ids=[_image(one, known or {}) for one, _ in held])


def _image(sample: Sample, known: Mapping[str, str]) -> str:
    name = sample.field("image_id")
    if isinstance(name, str):
        return name
    parts = Path(sample.filepath).parts
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((known[end] for end in ends if end in known), sample.filepath)


def _npy(path: Path, part: str) -> Given:
    return _array(np.load(path, mmap_mode="r", allow_pickle=False), path)


def _npz(path: Path, part: str) -> Given:
    with np.load(path, allow_pickle=False) as arrays:
        matrices = [name for name in arrays.files if arrays[name].ndim == 2]
        return _array(arrays[_chosen(matrices, part, path)], path)


def _safetensors(path: Path, part: str) -> Given:
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > path.stat().st_size:
            raise ValueError("its header is longer than the file")
        header = json.loads(stream.read(length))
    if isinstance(header, dict):
        header.pop("__metadata__", None)
    tensors = shaped(TypeAdapter(dict[str, Tensor]), header, path)
    matrices = {name: entry for name, entry in tensors.items() if len(entry.shape) == 2}
    entry = matrices[_chosen(list(matrices), part, path)]
    if entry.dtype not in SAFETENSORS:
        raise InputError(f"the vectors are {entry.dtype}", where=str(path), hint="Save them as float32 or float16.")
    first, behind = entry.data_offsets
    kind, size = np.dtype(SAFETENSORS[entry.dtype]), math.prod(entry.shape)
    if behind - first != size * kind.itemsize or 8 + length + behind > path.stat().st_size:
        raise ValueError("its header contradicts itself, or the file")
    if not size:
        return _array(np.empty(entry.shape, dtype=kind), path)
    return _array(np.memmap(path, dtype=kind, mode="r", offset=8 + length + first, shape=tuple(entry.shape)), path)


def _parquet(path: Path, part: str) -> Given:
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    lists = [
        field.name
        for field in schema
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type) or pa.types.is_fixed_size_list(field.type)
    ]
    column = _chosen(lists, part, path)
    rows = file.metadata.num_rows
    sizes: set[int | None] = set()
    there = 0
    for batch in file.iter_batches(BLOCK, columns=[column]):
        there += len(batch)
        sizes.update(pc.unique(pc.list_value_length(batch.column(0))).to_pylist())
    if there != rows:
        raise ValueError(f"it holds {there:,} rows and announces {rows:,}")
    if len(sizes) > 1 or None in sizes:
        raise InputError(
            f"column {column} holds vectors of different lengths, or none",
            where=str(path),
            hint="Give every image a vector of one length.",
        )
    width = next(iter(sizes), 0) or 0

    def blocks() -> Iterator[Array]:
        for batch in file.iter_batches(BLOCK, columns=[column]):
            yield batch.column(0).flatten().to_numpy(zero_copy_only=False).reshape(-1, width)

    named = file.read(["image_id"]).column(0).to_pylist() if "image_id" in schema.names else None
    kind = np.dtype(schema.field(column).type.value_type.to_pandas_dtype())
    return Given(rows, width, kind, blocks, None if named is None else [str(value) for value in named])


def _array(array: Array, path: Path) -> Given:
    if array.ndim != 2:
        raise InputError(f"the array has shape {array.shape}", where=str(path), hint="Give (images, dimension).")

    def blocks() -> Iterator[Array]:
        for first in range(0, len(array), BLOCK):
            yield array[first : first + BLOCK]

    return Given(len(array), array.shape[1], array.dtype, blocks)


def _chosen(names: list[str], part: str, path: Path) -> str:
    if part in names or (not part and len(names) == 1):
        return part or names[0]
    what = f"there is no {part}" if part else "it is not plain which holds the vectors"
    raise InputError(what, where=str(path), hint=f"Name one with --part: {', '.join(names) or 'there is none'}.")


READERS: Mapping[str, Callable[[Path, str], Given]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
    ".safetensors": _safetensors,
}
