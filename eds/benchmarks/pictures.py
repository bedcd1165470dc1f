"""Pictures that go with a benchmark: exported without metadata, unpacked from Parquet or a folder by an import."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pandas as pd
import pyarrow.parquet as pq

from eds.benchmarks.benchmark import Benchmark, Location
from eds.benchmarks.files import write_csv
from eds.benchmarks.validate import Faults, check_path
from eds.errors import InputError
from eds.imaging.metadata import without_metadata
from eds.io.files import replacing

BATCH = 64  # pictures held in memory at once
MANIFEST = "pictures.csv"
KeepMetadata = Annotated[bool, "Keep EXIF, GPS, XMP and comments."]


@dataclass
class ExportedPictures:
    """The pictures of an export, in the order of the images' rows, and the digests of what was read."""

    images: pd.DataFrame
    root: Path | None
    keep_metadata: bool = False
    digests: dict[str, tuple[str, str]] = field(default_factory=dict)  # path -> as exported, as in the project

    def __post_init__(self) -> None:
        self.files = find_pictures(self.images, self.root)

    def read(self, row: int) -> bytes:
        """The picture of a row as it is exported; its pixels are untouched."""
        original = self.files[row].read_bytes()
        path = str(self.images["path"].iloc[row])
        content = original if self.keep_metadata else without_metadata(original, str(self.files[row]))
        self.digests[path] = hashlib.sha256(content).hexdigest(), hashlib.sha256(original).hexdigest()
        return content

    def exported_digests(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows with the digests of the exported files, where they have one."""
        if "sha256" not in rows:
            return rows
        return rows.assign(sha256=rows["path"].map(lambda path: self.digests[path][0]).where(rows["sha256"].notna()))

    def write_manifest(self, folder: Path) -> list[str]:
        """Write pictures.csv: path, sha256 as exported, sha256 in the project. Return what was left out."""
        rows = [(path, *self.digests[path]) for path in sorted(self.digests)]
        write_csv(pd.DataFrame(rows, columns=["path", "sha256", "original_sha256"], dtype=str), folder / MANIFEST)
        changed = sum(exported != original for exported, original in self.digests.values())
        if not changed:
            return []
        return [
            f"EXIF, GPS, XMP and comments of {changed:,} of {len(rows):,} pictures: removed, the pixels are untouched"
            f" (orientation and colour profile are kept, {MANIFEST} has both digests; --keep-metadata keeps all)"
        ]


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
        for where, path, data in _pictures_of(benchmark, path_of):
            file = root / path
            if check_path(path) or not file.parent.resolve().is_relative_to(root.resolve()):
                faults.append(f"{where}: path {path!r} leads out of the image root")
            elif file.exists():
                if file.read_bytes() != data:
                    faults.append(f"{where}: {file} exists already with other content")
            elif not faults:
                if note is not None:
                    note(file)
                written.append(file)
                with replacing(file, durable=False) as temporary:
                    temporary.write_bytes(data)
        if faults:
            hint = "Nothing was imported. Use a project with an image root of its own."
            raise InputError("pictures cannot be unpacked", where=str(root), faults=faults[:10], hint=hint)
        yield len(written)
    except BaseException:
        for file in written:
            with suppress(OSError):
                file.unlink()
        raise


def _pictures_of(benchmark: Benchmark, path_of: Mapping[str, str]) -> Iterator[tuple[str, str, bytes]]:
    """Every picture that came with the benchmark: where it was read, its path, its content."""
    for shard in benchmark.picture_shards:
        for row, (name, data) in enumerate(_read_pictures(shard)):
            if data is not None:
                yield f"{shard} row {row}", path_of.get(name, ""), data
    folder = benchmark.picture_folder
    for path in path_of.values() if folder is not None else ():
        if folder is not None and not check_path(path) and (folder / path).is_file():
            yield str(folder / path), path, (folder / path).read_bytes()


def _read_pictures(shard: Path) -> Iterator[tuple[str, bytes | None]]:
    with pq.ParquetFile(shard) as opened:
        if "image" not in opened.schema_arrow.names:
            return
        for batch in opened.iter_batches(batch_size=BATCH, columns=["id", "image"]):
            for row in batch.to_pylist():
                yield str(row["id"]), (row["image"] or {}).get("bytes")
