"""Decoding in a child: the picture is the same, memory and time have a limit, and a crash ends the child only."""

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eds.child_process import GROUP_NICE, ChildProcess
from eds.errors import ImageError
from eds.imaging import MAX_PIXELS, Box, Decoder, open_rgb, shrunk_rgb
from tests.imaging.drawn import exif

SIDES = (2100, 1500)


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    made = Decoder()
    yield made
    made.close()


def scene(mode: str) -> Image.Image:
    """Smooth, so that any good filter gives the same small picture of it."""
    rows, columns = np.mgrid[0 : SIDES[1], 0 : SIDES[0]] / 300.0
    channels = [np.sin(rows), np.cos(columns), np.sin(rows + columns)]
    rgb = np.stack([127 + 120 * one for one in channels], axis=2).astype(np.uint8)
    if mode == "I;16":
        return Image.fromarray(rgb[..., 0].astype(np.uint16) * 257)
    if mode == "RGBA":
        rgb = np.concatenate([rgb, rgb[..., :1]], axis=2)
    made = Image.fromarray(rgb)
    return made if mode in ("RGB", "RGBA") else made.convert(mode)


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("RGB", "a.jpg"),
        ("RGB", "a.png"),
        ("RGBA", "a.png"),
        ("I;16", "a.png"),
        ("L", "a.png"),
        ("P", "a.png"),
        ("CMYK", "a.jpg"),
        ("RGBA", "a.webp"),
        ("1", "a.png"),
    ],
)
@pytest.mark.parametrize("box", [None, Box(300, 100, 1300, 2100)])
def test_what_is_made_small_is_the_same_picture(tmp_path: Path, mode: str, name: str, box: Box | None) -> None:
    turned: dict[str, Any] = {"exif": exif(6)} if name == "a.jpg" else {}
    sides = SIDES if not turned else SIDES[::-1]
    box = box if box is None or turned else Box(box.top, box.left, box.bottom, box.right)
    scene(mode).save(tmp_path / name, **turned)
    whole = open_rgb(tmp_path / name, box=box)
    assert (box is not None) or whole.size == sides
    whole.thumbnail((160, 160), Image.Resampling.LANCZOS)
    small = shrunk_rgb((tmp_path / name).read_bytes(), 160, where="a", box=box)
    assert small.size == whole.size
    assert np.abs(np.asarray(small, dtype=float) - np.asarray(whole, dtype=float)).mean() < 1.5


def test_a_small_picture_keeps_its_size_and_its_pixels(tmp_path: Path) -> None:
    small = scene("RGB").resize((210, 150))
    small.save(tmp_path / "a.png")
    made = shrunk_rgb((tmp_path / "a.png").read_bytes(), 300, where="a")
    np.testing.assert_array_equal(np.asarray(made), np.asarray(small))


def test_a_file_of_a_few_kilobytes_cannot_take_gigabytes(decoder: Decoder, tmp_path: Path) -> None:
    bomb = tmp_path / "a.png"
    Image.new("P", (10_000, 9_999)).save(bomb)
    shown = Image.open(io.BytesIO(decoder.webp(bomb, 320, quality=80, pixels=MAX_PIXELS)))
    assert max(shown.size) == 320
    status = Path(f"/proc/{decoder.child.pid}/status").read_text()
    assert int(status.split("VmHWM:")[1].split()[0]) < 500_000  # kB; 990,000 when all of it was converted at once
    transparent = tmp_path / "a.webp"
    Image.new("RGBA", (9_000, 9_000), (255, 0, 0, 9)).save(transparent, lossless=True, method=0)
    with pytest.raises(ImageError):
        decoder.webp(transparent, 320, quality=80, pixels=1_000_000)  # more than was said


def test_a_child_that_ends_or_takes_too_long_is_replaced(tmp_path: Path) -> None:
    scene("RGB").save(tmp_path / "a.png")
    made = Decoder()
    try:
        good = made.webp(tmp_path / "a.png", 320, quality=80, pixels=SIDES[0] * SIDES[1])
        former = made.child.pid
        assert former is not None
        os.kill(former, signal.SIGKILL)
        os.waitid(os.P_PID, former, os.WEXITED | os.WNOWAIT)
        assert made.webp(tmp_path / "a.png", 320, quality=80, pixels=SIDES[0] * SIDES[1]) == good
        assert made.child.pid not in (None, former)
        made.child.seconds = 0.0
        with pytest.raises(ImageError, match="takes longer"):
            made.webp(tmp_path / "a.png", 320, quality=80, pixels=SIDES[0] * SIDES[1])
        assert made.child.pid is None
    finally:
        made.close()


@pytest.mark.parametrize("content", [None, b"", b"\xff\xd8no picture"])
def test_what_is_not_a_picture_is_an_error_and_the_child_lives(
    decoder: Decoder, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "a.jpg").write_bytes(content)
    Image.new("RGB", (4, 3)).save(tmp_path / "good.png")
    decoder.webp(tmp_path / "good.png", 320, quality=80, pixels=1000)
    process = decoder.child.pid
    with pytest.raises(ImageError):
        decoder.webp(tmp_path / "a.jpg", 320, quality=80, pixels=1000)
    assert decoder.webp(tmp_path / "good.png", 320, quality=80, pixels=1000)
    assert decoder.child.pid == process


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="only Linux shares processors between sessions")
def test_a_child_takes_nothing_of_its_parents_share() -> None:
    child = ChildProcess(nice=7)
    try:
        nice, text = child.call(os.nice, 0), child.call(Path.read_text, Path("/proc/self/autogroup"))
    finally:
        child.close()
    assert nice == os.nice(0) + 7
    name, _, group = text.partition(" nice ")
    assert name != Path("/proc/self/autogroup").read_text().partition(" nice ")[0]
    assert int(group) == GROUP_NICE
