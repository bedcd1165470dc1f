"""Exported pictures tell nothing of who took them where, unless that is asked for; both digests are in the manifest."""

import csv
import hashlib
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from eds.benchmarks.benchmark import Benchmark
from eds.benchmarks.formats import croissant, hf
from tests.benchmarks.cases import benchmark
from tests.imaging.test_metadata import SECRETS, file, seen


@pytest.fixture
def secret(tmp_path: Path) -> Benchmark:
    """A benchmark whose pictures hold GPS, author, comment and XMP, and are turned in every way."""
    made = benchmark(tmp_path / "root")
    assert made.images is not None
    for number, path in enumerate(made.images["path"]):
        (tmp_path / "root" / path).write_bytes(file("JPEG", 1 + number % 8))
    return made


def pictures_of(folder: Path, format_: ModuleType) -> dict[str, bytes]:
    if format_ is croissant:
        below = folder / "images"
        return {path.relative_to(below).as_posix(): path.read_bytes() for path in below.rglob("*") if path.is_file()}
    rows = [row for name in ("corpus", "queries") for row in pq.read_table(folder / name).to_pylist()]
    return {row["image"]["path"]: row["image"]["bytes"] for row in rows}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("format_", [croissant, hf])
def test_metadata_stay_at_home(secret: Benchmark, tmp_path: Path, format_: ModuleType, keep: bool) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    not_held = format_.write(secret, folder, keep_metadata=keep)
    found = pictures_of(folder, format_)
    assert secret.images is not None
    assert secret.image_root is not None
    assert set(found) == set(secret.images["path"])
    with (folder / "pictures.csv").open() as stream:
        manifest = {row["path"]: (row["sha256"], row["original_sha256"]) for row in csv.DictReader(stream)}
    for path, content in found.items():
        original = (secret.image_root / path).read_bytes()
        assert any(word in content for word in SECRETS) == keep
        assert (content == original) == keep
        assert (seen(content)[0] == seen(original)[0]).all()
        assert manifest[path] == (hashlib.sha256(content).hexdigest(), hashlib.sha256(original).hexdigest())
    assert keep != any("EXIF, GPS, XMP" in text for text in not_held)
    if format_ is croissant:
        with (folder / "images.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        assert all(row.get("sha256", "") in ("", manifest[row["path"]][0]) for row in rows)
