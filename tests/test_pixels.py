"""Every kind of picture against pixels worked out by hand, every kind of bad file against its reason."""

import io
import os
import struct
import subprocess
import sys
import threading
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from eds import pixels
from eds.errors import ImageError
from eds.pixels import Box, inside, open_rgb

Pixels = npt.NDArray[np.uint8]


def corners(height: int = 4, width: int = 6) -> Pixels:
    """(h, w, 3) uint8: no two pixels alike, so that every turn shows."""
    grid = np.zeros((height, width, 3), np.uint8)
    grid[..., 0] = np.arange(height)[:, None] * 20
    grid[..., 1] = np.arange(width)[None, :] * 20
    grid[..., 2] = 200
    return grid


def shown(path: Path, **options: object) -> Pixels:
    return np.asarray(open_rgb(path, **options))  # type: ignore[arg-type]


def exif(value: int, order: str = "<") -> bytes:
    mark = b"II" if order == "<" else b"MM"
    return b"Exif\0\0" + mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 274, 3, 1, value, 0, 0)


# What a viewer does with each EXIF orientation, as numpy says it.
TURNED = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).transpose(1, 0, 2),
    8: lambda a: np.rot90(a, 1),
}


@pytest.mark.parametrize("value", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "webp", "tif"])
def test_exif_turn(tmp_path: Path, value: int, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "tif":
        Image.fromarray(corners()).save(path, tiffinfo={274: value})
    elif kind == "webp":
        Image.fromarray(corners()).save(path, lossless=True, exif=exif(value, ">"))
    else:
        Image.fromarray(corners()).save(path, exif=exif(value))
    np.testing.assert_array_equal(shown(path), TURNED[value](corners()))


def test_exif_turn_of_a_jpeg_and_its_box_in_the_upright_picture(tmp_path: Path) -> None:
    flat = np.full((32, 64, 3), 255, np.uint8)
    flat[:16, 32:] = 0  # a dark field at the top right, which a quarter turn brings to the bottom right
    Image.fromarray(flat).save(tmp_path / "a.jpg", quality=95, exif=exif(6))
    assert shown(tmp_path / "a.jpg").shape == (64, 32, 3)
    dark = shown(tmp_path / "a.jpg", box=Box(16, 32, 32, 64))
    light = shown(tmp_path / "a.jpg", box=Box(0, 0, 16, 32))
    assert dark.shape == (32, 16, 3)
    assert dark.max() < 30
    assert light.min() > 225


def test_alpha_lies_on_the_stated_background(tmp_path: Path) -> None:
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0] = [[200, 100, 0, 255], [200, 100, 0, 0], [200, 100, 0, 51]]  # solid, clear, a fifth
    Image.fromarray(rgba).save(tmp_path / "a.png")
    expected = [[200, 100, 0], [10, 20, 30], [48, 36, 24]]  # 10 + (200 - 10) / 5 and so on
    np.testing.assert_array_equal(shown(tmp_path / "a.png", background=(10, 20, 30))[0], expected)


def test_grey_with_alpha_and_grey_with_a_clear_value(tmp_path: Path) -> None:
    Image.fromarray(np.array([[[80, 255], [80, 0]]], np.uint8)).save(tmp_path / "la.png")
    np.testing.assert_array_equal(shown(tmp_path / "la.png")[0], [[80] * 3, [255] * 3])
    Image.fromarray(np.array([[80, 90]], np.uint8)).save(tmp_path / "l.png", transparency=90)
    np.testing.assert_array_equal(shown(tmp_path / "l.png", background=(1, 2, 3))[0], [[80] * 3, [1, 2, 3]])


@pytest.mark.parametrize("kind", ["png", "gif"])
def test_palette_with_and_without_transparency(tmp_path: Path, kind: str) -> None:
    picture = Image.fromarray(np.array([[0, 1, 2]], np.uint8))
    picture = picture.convert("P")
    picture.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255] + [0] * 759)
    picture.putdata([0, 1, 2])
    picture.save(tmp_path / f"p.{kind}")
    np.testing.assert_array_equal(shown(tmp_path / f"p.{kind}")[0], [[255, 0, 0], [0, 255, 0], [0, 0, 255]])
    picture.save(tmp_path / f"t.{kind}", transparency=1)
    np.testing.assert_array_equal(
        shown(tmp_path / f"t.{kind}", background=(7, 8, 9))[0], [[255, 0, 0], [7, 8, 9], [0, 0, 255]]
    )


def test_palette_with_partial_transparency(tmp_path: Path) -> None:
    picture = Image.new("P", (2, 1))
    picture.putpalette([200, 0, 0, 0, 200, 0])
    picture.putdata([0, 1])
    picture.save(tmp_path / "p.png", transparency=bytes([51, 255]))
    np.testing.assert_array_equal(shown(tmp_path / "p.png", background=(0, 0, 0))[0], [[40, 0, 0], [0, 200, 0]])


def test_cmyk(tmp_path: Path) -> None:
    ink = np.array([[[0, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 255]]], np.uint8)
    picture = Image.merge("CMYK", [Image.fromarray(ink[..., place]) for place in range(4)])
    picture.save(tmp_path / "a.tif")
    np.testing.assert_array_equal(shown(tmp_path / "a.tif")[0], [[255] * 3, [0, 255, 255], [0] * 3])
    picture.resize((48, 16), Image.Resampling.NEAREST).save(tmp_path / "a.jpg", quality=95)
    rgb = shown(tmp_path / "a.jpg").astype(int)
    assert abs(rgb[8, 8] - 255).max() < 12
    assert rgb[8, 40].max() < 12


@pytest.mark.parametrize("kind", ["png", "tif"])
def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path, kind: str) -> None:
    values = np.array([[0, 128, 129, 257, 32768, 65535]], np.uint16)
    Image.fromarray(values).save(tmp_path / f"a.{kind}")
    expected = [round(float(value) / 257) for value in values[0]]
    assert expected == [0, 0, 1, 1, 128, 255]
    for channel in range(3):
        np.testing.assert_array_equal(shown(tmp_path / f"a.{kind}")[0, :, channel], expected)


def test_a_clear_value_among_sixteen_bits(tmp_path: Path) -> None:
    picture = Image.fromarray(np.array([[257, 40000, 65535]], np.uint16))
    picture.save(tmp_path / "a.png", transparency=40000)
    np.testing.assert_array_equal(shown(tmp_path / "a.png", background=(1, 2, 3))[0], [[1] * 3, [1, 2, 3], [255] * 3])


def test_one_bit_and_grey(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 255]], np.uint8)).convert("1").save(tmp_path / "one.png")
    np.testing.assert_array_equal(shown(tmp_path / "one.png")[0], [[0] * 3, [255] * 3])
    Image.fromarray(np.array([[7, 99]], np.uint8)).save(tmp_path / "grey.bmp")
    np.testing.assert_array_equal(shown(tmp_path / "grey.bmp")[0], [[7] * 3, [99] * 3])


@pytest.mark.parametrize("kind", ["gif", "png", "webp"])
def test_an_animation_gives_its_first_frame(tmp_path: Path, kind: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in [(255, 0, 0), (0, 0, 255)]]
    options: dict[str, Any] = {"lossless": True} if kind == "webp" else {}
    frames[0].save(tmp_path / f"a.{kind}", save_all=True, append_images=frames[1:], **options)
    np.testing.assert_array_equal(shown(tmp_path / f"a.{kind}"), np.full((4, 4, 3), [255, 0, 0]))


def test_values_without_a_range_are_refused(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0.0, 1e6]], np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(ImageError, match="no stated range"):
        open_rgb(tmp_path / "a.tif")


def test_box(tmp_path: Path) -> None:
    Image.fromarray(corners(10, 12)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(shown(tmp_path / "a.png", box=Box(2, 3, 7, 10)), corners(10, 12)[3:10, 2:7])


@pytest.mark.parametrize("box", [(0, 0, 13, 5), (0, 0, 5, 11), (3, 0, 3, 5), (5, 0, 2, 5), (-1, 0, 5, 5)])
def test_a_box_outside_the_picture_is_refused(tmp_path: Path, box: tuple[int, int, int, int]) -> None:
    Image.fromarray(corners(10, 12)).save(tmp_path / "a.png")
    with pytest.raises(ImageError, match="12 x 10"):
        open_rgb(tmp_path / "a.png", box=Box(*box))


def test_draft_is_smaller_but_the_same_part(tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 800)[None, :, None].repeat(640, axis=0).repeat(3, axis=2).astype(np.uint8)
    Image.fromarray(ramp).save(tmp_path / "a.jpg", quality=95, exif=exif(6))
    assert open_rgb(tmp_path / "a.jpg", draft=80).size == (80, 100)
    part = open_rgb(tmp_path / "a.jpg", box=Box(0, 400, 640, 800), draft=100)
    assert min(part.size) >= 100
    whole = open_rgb(tmp_path / "a.jpg", box=Box(0, 400, 640, 800))
    small = np.asarray(whole.resize(part.size, Image.Resampling.BOX)).astype(int)
    assert np.abs(small - np.asarray(part)).mean() < 2


def jpeg(side: int = 64, **options: object) -> bytes:
    stream = io.BytesIO()
    draw = np.random.default_rng(1).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(draw).save(stream, "JPEG", **options)
    return stream.getvalue()


def png() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(corners(40, 40) ^ np.random.default_rng(2).integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(
        stream, "PNG"
    )
    return stream.getvalue()


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims this size and has next to no data."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 10)) + chunk(b"IEND", b"")
    )


def broken_exif() -> bytes:
    data = jpeg(exif=exif(6))
    return data.replace(exif(6)[6:], b"II*\0\xff\xff\xff\x7f" + exif(6)[14:])


BAD = {
    "zero bytes": (b"", "empty"),
    "cut JPEG": (jpeg()[: len(jpeg()) // 2], "truncated"),
    "cut PNG": (png()[: len(png()) // 2], "damaged"),
    "text": (b"this is no picture at all, only words", "not a picture"),
    "header only": (jpeg()[:2], "not a picture"),
    "bomb": (png_of(20_000, 20_000), "pixels"),
    "just above the limit": (png_of(10_000, 10_001), "pixels"),
    "less data than pixels": (png_of(8, 8), "damaged"),
    "broken EXIF": (broken_exif(), "EXIF"),
    "EXIF says 9": (jpeg(exif=exif(9)), "orientation 9"),
    "no EXIF at all in its place": (jpeg(exif=b"Exif\0\0rubbish"), "EXIF"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_tell_their_reason(tmp_path: Path, kind: str) -> None:
    data, reason = BAD[kind]
    (tmp_path / "x.jpg").write_bytes(data)
    with pytest.raises(ImageError, match=reason) as told:
        open_rgb(tmp_path / "x.jpg")
    assert str(tmp_path / "x.jpg") in str(told.value)


def test_missing_folder_and_pipe(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="No such file"):
        open_rgb(tmp_path / "none.jpg")
    (tmp_path / "x.jpg").mkdir()
    with pytest.raises(ImageError, match="a folder"):
        open_rgb(tmp_path / "x.jpg")
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="not a regular file"):
        open_rgb(tmp_path / "pipe.jpg")


def test_a_forbidden_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(jpeg())
    path.chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(ImageError, match="Permission denied"):
            open_rgb(path)
        return
    program = (  # root may read everything, so a child lays its powers down first
        "import os, sys; sys.path.insert(0, sys.argv[2]); import eds.pixels, PIL.JpegImagePlugin, pathlib\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: eds.pixels.open_rgb(pathlib.Path(sys.argv[1]))\n"
        "except eds.pixels.ImageError as error: print(error)"
    )
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    root = str(Path(pixels.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", program, str(path), root], capture_output=True, text=True, check=True)
    assert "Permission denied" in done.stdout


@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "../x.jpg",
        "a/../../x.jpg",
        "/etc/passwd",
        "C:/x.jpg",
        "c:x.jpg",
        "\\\\host\\x",
        "..\\x.jpg",
        "a\0.jpg",
    ],
)
def test_paths_that_leave_the_root(tmp_path: Path, path: str) -> None:
    with pytest.raises(ImageError):
        inside(tmp_path, path)


def test_links_may_lead_within_the_root_but_not_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "root-beside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.jpg").write_bytes(jpeg())
    (root / "a" / "x.jpg").write_bytes(jpeg())
    (root / "good.jpg").symlink_to(root / "a" / "x.jpg")
    (root / "out.jpg").symlink_to(outside / "secret.jpg")
    (root / "folder").symlink_to(outside)
    (root / "loop.jpg").symlink_to(root / "loop.jpg")
    assert inside(root, "good.jpg") == Path(os.path.realpath(root)) / "a" / "x.jpg"
    for name in ("out.jpg", "folder/secret.jpg"):
        with pytest.raises(ImageError, match="by a link"):
            inside(root, name)
    with pytest.raises(ImageError):
        open_rgb(inside(root, "loop.jpg"))


@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "C:", "~"]), max_size=6), st.sampled_from("/\\"))
def test_whatever_is_given_a_path_stays_below_the_root(parts: list[str], separator: str) -> None:
    root = Path("/srv/images")
    try:
        found = inside(root, separator.join(parts))
    except ImageError:
        return
    assert found.is_relative_to(root)


def test_what_pillow_was_told_by_others_neither_matters_nor_is_lost(tmp_path: Path) -> None:
    (tmp_path / "cut.jpg").write_bytes(BAD["cut JPEG"][0])
    before = Image.MAX_IMAGE_PIXELS
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            filters = list(warnings.filters)
            with pytest.raises(ImageError):
                open_rgb(tmp_path / "cut.jpg")
            assert warnings.filters == filters
        assert ImageFile.LOAD_TRUNCATED_IMAGES
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    assert before == Image.MAX_IMAGE_PIXELS


def test_threads_agree_with_one(tmp_path: Path) -> None:
    files = {}
    for number, (kind, (data, _)) in enumerate(BAD.items()):
        files[kind] = tmp_path / f"{number}.jpg"
        files[kind].write_bytes(data)
    (tmp_path / "good.jpg").write_bytes(jpeg())
    wrong: list[str] = []

    def work() -> None:
        for _ in range(15):
            for kind, path in files.items():
                try:
                    open_rgb(path)
                    wrong.append(kind)
                except ImageError as error:
                    if BAD[kind][1] not in str(error):
                        wrong.append(f"{kind}: {error}")
            open_rgb(tmp_path / "good.jpg")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
