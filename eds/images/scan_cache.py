"""The cache of a scan: what is known of each file, so that the next scan reads only what changed.

A file is unchanged if its size and modification time (in nanoseconds; of a remote object the ETag) are the same
and the cached check was at least as thorough. A file that cannot be decoded is cached with the reason, as long as
the decoder is the same; one that could not be read is not, because the cause may lie outside the file. A cache of
another folder or version, or a damaged one, is not used, and the scan says so.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import PIL
import pyarrow as pa
import pyarrow.parquet as pq

from eds.io import Address, is_remote
from eds.io.files import replacing

VERSION = b"2"
DECODER = f"Pillow {PIL.__version__}".encode()
CLOSENESS = {"header": 0, "full": 1}


class FileRecord(NamedTuple):
    """What a scan knows of one file; `reason` is empty if the file is good."""

    path: str
    size: int
    changed: int  # modification time, nanoseconds
    check: str
    width: int
    height: int
    sha256: str
    dhash: int | None
    reason: str = ""


SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("changed", pa.int64()),
        ("check", pa.string()),
        ("width", pa.int64()),
        ("height", pa.int64()),
        ("sha256", pa.string()),
        ("dhash", pa.uint64()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True)
class ScanCache:
    """The known files by path, and a note if the stored cache was not used."""

    seen: dict[str, FileRecord]
    note: str = ""

    def recall(self, path: str, size: int, changed: int, check: str) -> FileRecord | None:
        """The record of the file, if the file is unchanged and its check was thorough enough."""
        known = self.seen.get(path)
        if known is None or known.size != size or known.changed != changed:
            return None
        return known if CLOSENESS[known.check] >= CLOSENESS[check] else None


def load_cache(file: Path | None, root: Address) -> ScanCache:
    """Load the cache in `file`, if it belongs to this root."""
    if file is None or not file.exists():
        return ScanCache({})
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as stored:
            notes = stored.schema_arrow.metadata or {}
            if notes.get(b"eds.scan") != VERSION or stored.schema_arrow.names != SCHEMA.names:
                return ScanCache({}, "the last scan was by another version, so every file is read again")
            if notes.get(b"eds.root") != _root_bytes(root):
                return ScanCache({}, "the last scan was of another folder, so every file is read again")
            columns = [column.to_pylist() for column in stored.read().columns]
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        return ScanCache({}, f"the cache of the last scan is damaged ({reason}), so every file is read again")
    seen = (FileRecord(*values) for values in zip(*columns, strict=True))
    same = notes.get(b"eds.decoder") == DECODER
    return ScanCache({one.path: one for one in seen if same or not one.reason})


def save_cache(file: Path, root: Address, seen: Iterable[FileRecord]) -> None:
    """Save the records of the files whose bytes were read, atomically."""
    known = [one for one in seen if one.sha256]
    columns = list(zip(*known, strict=True)) if known else [()] * len(SCHEMA.names)
    arrow = pa.table([pa.array(values, kind.type) for values, kind in zip(columns, SCHEMA, strict=True)], SCHEMA)
    with replacing(file) as temporary:
        pq.write_table(
            arrow.replace_schema_metadata(
                {b"eds.scan": VERSION, b"eds.root": _root_bytes(root), b"eds.decoder": DECODER}
            ),
            temporary,
            compression="zstd",
            write_page_checksum=True,
        )


def _root_bytes(root: Address) -> bytes:
    return os.fsencode(str(root) if is_remote(root) else os.path.realpath(root))
