"""A scan against files made on the spot: what it says of each, what it reads again, and that order is nothing to it."""

import hashlib
import io
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eds.errors import ImageError, InputError
from eds.images import scan as scanning
from eds.images import scan_cache
from eds.images.folder import read
from eds.images.headers import read_stated_size
from eds.images.scan import Scan, scan
from eds.images.sources import Source
from eds.images.verify import check_files
from eds.imaging import Folders, decoding, read_bytes


def picture(seed: int, width: int = 48, height: int = 32) -> Image.Image:
    """A soft picture of its own."""
    small = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def encoded(seed: int, kind: str = "JPEG", **options: object) -> bytes:
    stream = io.BytesIO()
    picture(seed).save(stream, kind, **options)
    return stream.getvalue()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Six good files of several kinds, two of them equal, and eight bad ones."""
    root = tmp_path / "images"
    root.mkdir()
    for number, (kind, suffix) in enumerate([("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp"), ("GIF", "gif")]):
        (root / f"good{number}.{suffix}").write_bytes(encoded(number, kind))
    (root / "twin.jpg").write_bytes(encoded(0))
    (root / "near.jpg").write_bytes(encoded(0, quality=60))
    (root / "empty.jpg").touch()
    (root / "cut.jpg").write_bytes(encoded(7)[:-400])
    (root / "cut.png").write_bytes(encoded(8, "PNG")[:-400])
    (root / "text.jpg").write_text("not a picture at all\n" * 4)
    (root / "folder.jpg").mkdir()
    (root / "out.jpg").symlink_to("/etc/hostname")
    (root / "loop.jpg").symlink_to(root / "loop.jpg")
    (root / os.fsdecode(b"caf\xe9.jpg")).write_bytes(encoded(9))
    (root / "notes.txt").write_text("no picture")
    return root


def found(root: Path, **options: object) -> Scan:
    listed = read(Source((), root))
    return scan(listed.images, root, workers=2, **options)  # type: ignore[arg-type]


def test_good_files_get_digest_and_size(root: Path) -> None:
    images = found(root).images.set_index("image_id")
    assert sorted(images.index) == ["good0.jpg", "good1.png", "good2.webp", "good3.gif", "near.jpg", "twin.jpg"]
    for name, row in images.iterrows():
        assert row["sha256"] == hashlib.sha256((root / str(name)).read_bytes()).hexdigest()
        assert (row["width"], row["height"]) == (48, 32)


def test_bad_files_are_listed_with_their_reason(root: Path) -> None:
    listed = read(Source((), root))
    unusable = dict(listed.bad)
    assert unusable["out.jpg"].endswith("leaves the image root by a link")
    assert "not UTF-8" in unusable["caf\\xe9.jpg"]
    assert "with the name of an image" in unusable["folder.jpg"]
    assert "1 .txt" in listed.notes[0]
    bad = found(root).bad.set_index("path")["reason"].to_dict()
    reasons = {"empty.jpg": "empty", "cut.jpg": "runcated", "cut.png": "damaged", "text.jpg": "not a picture"}
    assert set(bad) | set(unusable) == {*reasons, "loop.jpg", "out.jpg", "caf\\xe9.jpg", "folder.jpg"}
    for name, reason in reasons.items():
        assert reason in bad[name]


def test_missing_escaping_and_absolute_paths_of_an_import(root: Path) -> None:
    paths = ["good0.jpg", "gone.jpg", "../x.jpg", "/etc/passwd", "nowhere/x.jpg", "good0.jpg/x.jpg"]
    images = read(Source((), root)).images.head(len(paths)).assign(path=paths, image_id=paths)
    seen = scan(images, root, workers=1)
    assert seen.images["path"].tolist() == ["good0.jpg"]
    reasons = seen.bad.set_index("path")["reason"]
    assert reasons["gone.jpg"] == "No such file or directory"
    assert "leaves the image root" in reasons["../x.jpg"]
    assert "leaves the image root" in reasons["/etc/passwd"]
    assert reasons["nowhere/x.jpg"] == "No such file or directory"
    assert reasons["good0.jpg/x.jpg"] == "Not a directory"


def test_boxes_beside_the_picture_are_told_before_anything_is_computed(root: Path) -> None:
    boxes = [(0, 0, 48, 32), (0, 0, 32, 48), (0, 0, 49, 32), (10, 10, 10, 20), (-1, 0, 9, 9), (None,) * 4]
    images = read(Source((), root)).images
    images = images[images["path"].isin(["good0.jpg", "good1.png", "good2.webp", "good3.gif", "near.jpg", "twin.jpg"])]
    for place, edge in enumerate(("box_left", "box_top", "box_right", "box_bottom")):
        images = images.assign(**{edge: pd.array([box[place] for box in boxes], "Int64")})
    seen = scan(images, root, workers=1)
    ids = images["image_id"].tolist()
    assert seen.images["image_id"].tolist() == [ids[0], ids[1], ids[5]]  # the second may lie in a picture stored turned
    assert seen.bad["reason"].tolist() == [
        f"box {box} does not lie in the image of 48 x 32 pixels" for box in boxes[2:5]
    ]


def test_a_linked_folder_is_vetted_as_a_whole(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x.jpg").write_bytes(encoded(1))
    (root / "a").symlink_to(tmp_path / "secret")
    (root / "real").mkdir()
    (root / "real" / "x.jpg").write_bytes(encoded(1))
    (root / "within").symlink_to(root / "real")
    paths = ["a/x.jpg", "within/x.jpg", "within/../../secret/x.jpg"]
    images = read(Source((), root, layout="flat")).images.head(3).assign(path=paths, image_id=paths)
    seen = scan(images, root, workers=1)
    assert seen.images["path"].tolist() == ["within/x.jpg"]


def test_exact_and_near_duplicates(root: Path) -> None:
    seen = found(root)
    assert seen.exact["image_id"].tolist() == ["good0.jpg", "twin.jpg"]
    assert seen.exact["sha256"].nunique() == 1
    assert seen.near[["left_id", "right_id"]].to_numpy().tolist() == [["good0.jpg", "near.jpg"]]
    assert len(found(root, near=None).near) == 0


def test_a_picture_stored_turned_is_the_same_picture(tmp_path: Path) -> None:
    root = tmp_path / "turned"
    root.mkdir()
    picture(5).save(root / "a.png")
    exif = Image.Exif()
    exif[274] = 6  # a viewer turns it by a quarter, clockwise
    picture(5).transpose(Image.Transpose.ROTATE_90).save(root / "b.png", exif=exif)
    seen = found(root)
    assert seen.near.to_numpy().tolist() == [["a.png", "b.png", 0]]
    assert seen.images[["width", "height"]].to_numpy().tolist() == [[48, 32], [32, 48]]


def test_a_second_scan_reads_only_what_changed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "scan.parquet"
    first = found(root, cache=cache)
    opened: list[str] = []

    def watched(path: str) -> bytes:
        opened.append(Path(path).name)
        return read_bytes(path)

    monkeypatch.setattr(scanning, "read_bytes", watched)
    monkeypatch.setattr(Folders, "read", lambda self, path: (watched(self.located(path)), self.file(path)[1]))
    again = found(root, cache=cache)
    assert set(opened) == {"empty.jpg"}  # of which nothing can be read
    assert (again.read, again.reused) == (0, 9)
    pd.testing.assert_frame_equal(first.bad, again.bad)
    pd.testing.assert_frame_equal(first.images, again.images)
    pd.testing.assert_frame_equal(first.near, again.near)
    opened.clear()
    (root / "good1.png").write_bytes(encoded(40, "PNG"))
    os.utime(root / "good2.webp", ns=(1, 1))
    (root / "new.jpg").write_bytes(encoded(41))
    (root / "good3.gif").unlink()
    third = found(root, cache=cache)
    assert set(opened) - {"empty.jpg"} == {"good1.png", "good2.webp", "new.jpg"}
    fresh = found(root)
    pd.testing.assert_frame_equal(third.images, fresh.images)
    opened.clear()
    found(root, cache=cache, check="header")
    assert set(opened) == {"empty.jpg"}
    monkeypatch.setattr(scan_cache, "DECODER", b"another decoder")  # may know better
    assert found(root, cache=cache).reused == 6  # good files, of which one has gone and one has come
    assert set(opened) == {"empty.jpg", "cut.jpg", "cut.png", "text.jpg"}


def test_another_size_is_a_change_even_at_the_same_time(root: Path, tmp_path: Path) -> None:
    file, cache = root / "good1.png", tmp_path / "scan.parquet"
    found(root, cache=cache)
    before = file.stat()
    file.write_bytes(encoded(60, "PNG"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size != before.st_size
    images = found(root, cache=cache).images.set_index("image_id")
    assert images.loc["good1.png", "sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_header_check_is_not_taken_for_a_full_one(root: Path, tmp_path: Path) -> None:
    cache = tmp_path / "scan.parquet"
    found(root, cache=cache, check="header")
    assert found(root, cache=cache).reused == 0


@pytest.mark.parametrize("harm", ["damaged", "other root", "old"])
def test_a_memory_that_does_not_fit_is_not_used_and_that_is_told(root: Path, tmp_path: Path, harm: str) -> None:
    cache = tmp_path / "scan.parquet"
    found(root, cache=cache)
    if harm == "damaged":
        cache.write_bytes(cache.read_bytes()[:200])
    elif harm == "other root":
        shutil.copytree(root, tmp_path / "copy", symlinks=True)
        root = tmp_path / "copy"
    else:
        pd.DataFrame({"path": ["a"]}).to_parquet(cache)
    seen = found(root, cache=cache)
    assert seen.reused == 0
    assert "every file is read again" in seen.notes[0]


def test_an_interrupted_scan_goes_on_from_there(root: Path, tmp_path: Path) -> None:
    for number in range(200):
        (root / f"many{number}.jpg").write_bytes(encoded(100 + number))
    cache = tmp_path / "scan.parquet"

    def stop(done: int, total: int) -> None:
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        found(root, cache=cache, progress=stop)
    assert found(root, cache=cache).reused >= 100


def test_neither_order_nor_threads_matter(root: Path) -> None:
    images = read(Source((), root)).images
    one = scan(images, root, workers=1)
    other = scan(images.sample(frac=1, random_state=3), root, workers=4)
    pd.testing.assert_frame_equal(one.images, other.images.sort_values("image_id").reset_index(drop=True))
    pd.testing.assert_frame_equal(one.exact, other.exact)
    pd.testing.assert_frame_equal(one.near, other.near)
    assert set(map(tuple, one.bad.to_numpy())) == set(map(tuple, other.bad.to_numpy()))


@pytest.mark.parametrize("small", [0, 1000, 1 << 30])
def test_a_quick_check_tells_the_same_by_one_thread_and_by_several(
    root: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(root, check="header")
    monkeypatch.setattr(scanning, "PORTION", 2)
    monkeypatch.setattr(scanning, "SMALL", small)
    again = found(root, check="header")
    pd.testing.assert_frame_equal(again.images, expected.images)
    pd.testing.assert_frame_equal(again.bad, expected.bad)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_the_header_states_the_size_that_decoding_gives(kind: str) -> None:
    assert read_stated_size(encoded(3, kind)) == (48, 32)
    if kind in ("JPEG", "PNG"):
        options = {
            "progressive": True,
            "comment": b"\xff\xd9 a mark in a comment",
            "exif": b"Exif\0\0II*\0\x08\0\0\0\0\0",
        }
        assert read_stated_size(encoded(3, kind, **options if kind == "JPEG" else {})) == (48, 32)
        for cut in (3, 20, 200, len(encoded(3, kind)) - 9):
            with pytest.raises(InputError):
                read_stated_size(encoded(3, kind)[:cut])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "TGA"])
def test_no_cut_file_passes_the_quick_check_that_the_full_one_finds(kind: str) -> None:
    whole = encoded(3, kind)
    for cut in sorted({*range(1, len(whole), max(1, len(whole) // 60)), *range(max(1, len(whole) - 20), len(whole))}):
        try:
            with decoding(whole[:cut]) as picture:
                picture.load()
        except ImageError:
            with pytest.raises(ImageError):
                read_stated_size(whole[:cut])


def test_check_tells_what_changed(root: Path) -> None:
    images = found(root).images
    assert check_files(images, root, workers=1)["problem"].tolist() == ["duplicate"]
    (root / "good1.png").write_bytes(encoded(77, "PNG"))
    (root / "good2.webp").unlink()
    unseen = images.assign(sha256=images["sha256"].where(images["image_id"] != "good3.gif", None))
    problems = check_files(unseen, root, workers=1).set_index("image_id")["problem"].to_dict()
    assert problems == {
        "good1.png": "changed",
        "good2.webp": "missing",
        "good3.gif": "unseen",
        "twin.jpg": "duplicate",
    }
