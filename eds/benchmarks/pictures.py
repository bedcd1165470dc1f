"""Pictures that go with a benchmark: found below the image root for an export, unpacked from Parquet by an import."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from eds.benchmarks.benchmark import Benchmark, Location
from eds.benchmarks.validate import Faults, check_path
from eds.errors import InputError
from eds.io.files import unfinished

BATCH = 64  # pictures held in memory at once


def find_pictures(images: pd.DataFrame, root: Path | None) -> list[Path]:
    """Return each image's file, in the order of the rows, after checking that all exist below the root."""
    if root is None:
        raise InputError("no image root is known", hint="Export without pictures: --no-images.")
    faults, at = Faults(), Location(root)
    home = root.resolve()
    files = []
    for row, path in enumerate(images["path"]):
        wrong, file = check_path(path), root / path
        if not wrong and not file.is_file():
            wrong = ["the file is missing"]
        elif not wrong and not file.resolve().is_relative_to(home):
            wrong = ["it leads out of the image root by a link"]
        faults.add(root, (f"images.parquet {at.row(row)} has path {path!r}: {fault}" for fault in wrong))
        files.append(file)
    faults.raise_any("pictures are missing", "Restore them, or export with --no-images:")
    return files


@contextmanager
def unpacked_pictures(benchmark: Benchmark, root: Path, note: Callable[[Path], None] | None = None) -> Iterator[int]:
    """Write the benchmark's pictures below the image root; they stay if the block succeeds, else they are removed.

    A file with the same content is left alone; one with other content is a fault. `note` gets each file before it is
    written. Gives the number of files written.
    """
    faults: list[str] = []
    written: list[Path] = []
    images = benchmark.images
    path_of = {} if images is None else dict(zip(images["image_id"], images["path"], strict=True))
    try:
        for shard in benchmark.picture_shards:
            for row, (name, data) in enumerate(_read_pictures(shard)):
                path = path_of.get(name, "")
                if data is None:
                    continue
                file = root / path
                if check_path(path) or not file.parent.resolve().is_relative_to(root.resolve()):
                    faults.append(f"{shard} row {row}: path {path!r} leads out of the image root")
                elif file.exists():
                    if file.read_bytes() != data:
                        faults.append(f"{shard} row {row}: {file} exists already with other content")
                elif not faults:
                    if note is not None:
                        note(file)
                    written.append(file)
                    _write(file, data)
        if faults:
            hint = "Nothing was imported. Use a project with an image root of its own."
            raise InputError("pictures cannot be unpacked", where=str(root), faults=faults[:10], hint=hint)
        yield len(written)
    except BaseException:
        for file in written:
            with suppress(OSError):
                file.unlink()
        raise


def _read_pictures(shard: Path) -> Iterator[tuple[str, bytes | None]]:
    with pq.ParquetFile(shard) as opened:
        if "image" not in opened.schema_arrow.names:
            return
        for batch in opened.iter_batches(batch_size=BATCH, columns=["id", "image"]):
            for row in batch.to_pylist():
                yield str(row["id"]), (row["image"] or {}).get("bytes")


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = unfinished(file)
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
