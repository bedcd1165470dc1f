"""Pictures without metadata: nothing of it is left, and every pixel, colour profile and orientation is as before."""

import contextlib
import io
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageOps, PngImagePlugin

from eds.imaging import ImageError
from eds.imaging.metadata import without_metadata

SECRETS = (b"GPS-SECRET", b"Jane Secret", b"COMMENT-SECRET", b"XMP-SECRET", b"TRAILER-SECRET")
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">XMP-SECRET</x:xmpmeta>'
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 24)) -> Image.Image:
    noise = np.random.default_rng(4).integers(0, 256, (size[1], size[0], 4), np.uint8)
    return Image.fromarray(noise, "RGBA").convert(mode)


def exif(turn: int = 1) -> Image.Exif:
    made = Image.Exif()
    made[0x0112] = turn
    made[0x013B] = "Jane Secret"
    made.get_ifd(0x8825).update({1: "N", 2: (47.0, 3.0, 5.0), 29: "GPS-SECRET"})
    return made


def file(kind: str, turn: int = 1, mode: str = "RGB", **options: object) -> bytes:
    stream = io.BytesIO()
    if kind == "PNG":
        notes = PngImagePlugin.PngInfo()
        notes.add_text("Comment", "COMMENT-SECRET")
        notes.add_itxt("XML:com.adobe.xmp", XMP.decode())
        options = {"pnginfo": notes, **options}
    if kind == "JPEG":
        options = {"comment": b"COMMENT-SECRET", "xmp": XMP, **options}
    if kind == "WEBP":
        options = {"xmp": XMP, "lossless": True, **options}
    picture(mode).save(stream, kind, exif=exif(turn), icc_profile=PROFILE, **options)
    return stream.getvalue() + b"TRAILER-SECRET"


def seen(data: bytes) -> tuple[np.ndarray, bytes | None]:
    """The pixels as one sees them, and the colour profile."""
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return np.asarray(ImageOps.exif_transpose(image)), image.info.get("icc_profile")


CASES = [
    *(("JPEG", mode, {"progressive": progressive}) for mode in ("RGB", "L", "CMYK") for progressive in (False, True)),
    *(("PNG", mode, {}) for mode in ("RGB", "RGBA", "L", "P")),
    *(("WEBP", mode, {}) for mode in ("RGB", "RGBA")),
]


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize(("kind", "mode", "options"), CASES)
def test_nothing_is_left_but_the_picture(kind: str, mode: str, options: dict[str, object], turn: int) -> None:
    before = file(kind, turn, mode, **options)
    after = without_metadata(before)
    assert sum(secret in before for secret in SECRETS) >= 3
    assert not [secret for secret in SECRETS if secret in after]
    pixels, profile = seen(after)
    assert np.array_equal(pixels, seen(before)[0])
    assert profile == PROFILE == seen(before)[1]
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == ({} if turn == 1 else {0x0112: turn})
    assert without_metadata(after) == after


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM"])
def test_a_picture_without_metadata_keeps_every_byte(kind: str) -> None:
    stream = io.BytesIO()
    picture("P" if kind == "GIF" else "RGB").save(stream, kind)
    assert without_metadata(stream.getvalue()) == stream.getvalue()


def test_an_animation_keeps_its_frames() -> None:
    for kind in ("PNG", "WEBP"):
        stream = io.BytesIO()
        frames = [picture("RGB", (20, 20)), picture("RGB", (20, 20)).rotate(90)]
        frames[0].save(stream, kind, save_all=True, append_images=frames[1:], exif=exif(), lossless=True)
        with Image.open(io.BytesIO(without_metadata(stream.getvalue()))) as image:
            assert image.n_frames == 2  # type: ignore[attr-defined]
            image.seek(1)
            assert np.array_equal(np.asarray(image.convert("RGB")), np.asarray(frames[1]))


def test_what_cannot_be_removed_is_refused() -> None:
    stream = io.BytesIO()
    picture().save(stream, "TIFF", exif=exif())
    with pytest.raises(ImageError, match="TIFF keeps its metadata among the pixels"):
        without_metadata(stream.getvalue(), "a.tif")


def test_a_second_picture_behind_the_first_goes() -> None:
    stream = io.BytesIO()
    picture().save(stream, "MPO", save_all=True, append_images=[picture("RGB", (16, 16))], exif=exif())
    after = without_metadata(stream.getvalue())
    with Image.open(io.BytesIO(after)) as image:
        assert image.format == "JPEG"
    assert after.count(struct.pack(">H", 0xFFD9)) == 1


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["JPEG", "PNG", "WEBP"]), st.randoms(use_true_random=False))
def test_damaged_files_end_in_a_picture_or_an_error(kind: str, dice: object) -> None:
    data = bytearray(file(kind))
    for _ in range(dice.randrange(1, 5)):  # type: ignore[attr-defined]
        data[dice.randrange(len(data))] = dice.randrange(256)  # type: ignore[attr-defined]
    cut = bytes(data[: dice.randrange(12, len(data))]) if dice.random() < 0.3 else bytes(data)  # type: ignore[attr-defined]
    with contextlib.suppress(ImageError):
        without_metadata(cut)
