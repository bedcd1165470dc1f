"""Every kind of bad file against its reason, whatever Pillow was told by others and other threads do."""

import io
import struct
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from eds.errors import ImageError
from eds.imaging import open_rgb
from tests.imaging.drawn import corners, exif, jpeg


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
