"""What a scan remembers of each file, so that the next one reads only what changed.

A file counts as unchanged while its size and its time of change (in nanoseconds; of an object elsewhere the
version that its ETag tells) are what they were and it was looked at at least as closely. A file that cannot be
decoded is remembered with the reason, for as long as the decoder is the same; one that could not be read is not:
the cause may lie outside the file. A memory of another folder, another version or a damaged one is not used, and
the scan says so.
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


class Seen(NamedTuple):
    """What a look at one file gave; `reason` is empty when it is good."""

    path: str
    size: int
    changed: int  # time of change, nanoseconds
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
class Memory:
    """The files seen before, by path, and why there is none if there is none."""

    seen: dict[str, Seen]
    note: str = ""

    def recall(self, path: str, size: int, changed: int, check: str) -> Seen | None:
        """What is known of the file, if it is still the same and was looked at closely enough."""
        known = self.seen.get(path)
        if known is None or known.size != size or known.changed != changed:
            return None
        return known if CLOSENESS[known.check] >= CLOSENESS[check] else None


def remembered(file: Path | None, root: Address) -> Memory:
    """The memory in `file`, if it is one of this root."""
    if file is None or not file.exists():
        return Memory({})
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as opened:
            notes = opened.schema_arrow.metadata or {}
            if notes.get(b"eds.scan") != VERSION or opened.schema_arrow.names != SCHEMA.names:
                return Memory({}, "the last scan was by another version, so every file is read again")
            if notes.get(b"eds.root") != _place(root):
                return Memory({}, "the last scan was of another folder, so every file is read again")
            columns = [column.to_pylist() for column in opened.read().columns]
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        return Memory({}, f"the memory of the last scan is damaged ({reason}), so every file is read again")
    seen = (Seen(*values) for values in zip(*columns, strict=True))
    same = notes.get(b"eds.decoder") == DECODER
    return Memory({one.path: one for one in seen if same or not one.reason})


def remember(file: Path, root: Address, seen: Iterable[Seen]) -> None:
    """Keep what is known of the files whose bytes were read, whole or not at all."""
    known = [one for one in seen if one.sha256]
    columns = list(zip(*known, strict=True)) if known else [()] * len(SCHEMA.names)
    arrow = pa.table([pa.array(values, kind.type) for values, kind in zip(columns, SCHEMA, strict=True)], SCHEMA)
    with replacing(file) as temporary:
        pq.write_table(
            arrow.replace_schema_metadata({b"eds.scan": VERSION, b"eds.root": _place(root), b"eds.decoder": DECODER}),
            temporary,
            compression="zstd",
            write_page_checksum=True,
        )


def _place(root: Address) -> bytes:
    return os.fsencode(str(root) if is_remote(root) else os.path.realpath(root))
