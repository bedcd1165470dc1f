"""The shards of a Hugging Face dataset: Parquet, or Arrow as `save_to_disk` writes it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SUFFIXES = (".parquet", ".arrow")


@dataclass(frozen=True)
class Shard:
    """An open file: its schema, and an iterator over batches of at most so many rows."""

    schema: pa.Schema
    batches: Callable[[int], Iterator[pa.RecordBatch]]


def shards_in(folder: Path) -> list[Path]:
    """The shards below a folder; cache files of `datasets` are excluded."""
    files = (path for suffix in SUFFIXES for path in folder.rglob(f"*{suffix}"))
    return sorted(path for path in files if not path.name.startswith("cache-"))


@contextmanager
def open_shard(path: Path) -> Iterator[Shard]:
    """Open the shard until the context ends."""
    if path.suffix != ".arrow":
        with pq.ParquetFile(path) as file:
            yield Shard(file.schema_arrow, lambda rows: file.iter_batches(batch_size=rows))
        return
    with pa.memory_map(str(path)) as mapped:
        try:
            stream = pa.ipc.open_stream(mapped)
        except pa.ArrowInvalid:  # the file format, not the stream format
            reader = pa.ipc.open_file(mapped)
            parts: Iterator[pa.RecordBatch] = map(reader.get_batch, range(reader.num_record_batches))
            yield Shard(reader.schema, lambda rows: _portions(parts, rows))
        else:
            yield Shard(stream.schema, lambda rows: _portions(stream, rows))


def _portions(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for first in range(0, len(batch), rows):
            yield batch.slice(first, rows)
