"""HEIC and SVG as pictures: right pixels, nothing from outside the drawing, and what is left out is counted."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import eds
from eds.errors import ImageError
from eds.imaging import open_rgb

pytest.importorskip("resvg_py", reason="extra formats is not installed")
pytest.importorskip("pillow_heif", reason="extra formats is not installed")

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RED_LEFT = f'<svg {SPACES} viewBox="0 0 {{w}} {{h}}"><rect width="50%" height="100%" fill="red"/></svg>'


@pytest.mark.parametrize(("width", "height", "size"), [(20, 10, (1024, 512)), (10, 20, (512, 1024))])
@pytest.mark.parametrize("packed", [False, True])
def test_a_drawing_is_drawn_on_white(
    tmp_path: Path, width: int, height: int, size: tuple[int, int], packed: bool
) -> None:
    data = RED_LEFT.format(w=width, h=height).encode()
    path = tmp_path / "a.svg"
    path.write_bytes(gzip.compress(data) if packed else data)
    picture = open_rgb(path)
    assert picture.size == size
    assert picture.getpixel((1, 1)) == (255, 0, 0)
    assert picture.getpixel((size[0] - 2, 1)) == (255, 255, 255)


@pytest.mark.parametrize(
    "inside",
    [
        '<image href="/etc/hostname" width="5" height="5"/>',
        '<image xlink:href="file:///etc/hostname" width="5" height="5"/>',
        '<image href=" ../../outside.png" width="5" height="5"/>',
        '<rect fill="url(http://example.org/a.svg#x)" width="5" height="5"/>',
        "<style>@import url(http://example.org/a.css);</style>",
    ],
)
def test_a_drawing_that_refers_to_other_files_is_refused(tmp_path: Path, inside: str) -> None:
    path = tmp_path / "a.svg"
    path.write_text(f'<svg {SPACES} viewBox="0 0 9 9">{inside}</svg>')
    with pytest.raises(ImageError):
        open_rgb(path)


def test_what_a_drawing_embeds_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    gradient = (
        '<linearGradient id="g"><stop stop-color="blue"/></linearGradient><rect fill="url(#g)" width="9" height="9"/>'
    )
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{gradient}</svg>')
    assert open_rgb(path).getpixel((5, 5)) == (0, 0, 255)


def test_texts_that_a_drawing_names_are_put_in(tmp_path: Path) -> None:
    """As drawing programs export: names of spaces and colours are declared first."""
    path = tmp_path / "a.svg"
    head = (
        f'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [\n<!ENTITY s "{SPACES[7:-1].split(chr(34))[0]}">'
    )
    drawing = '<svg xmlns="&s;" viewBox="0 0 9 9"><rect fill="&c;" width="9" height="9"/></svg>'
    path.write_text(f'<?xml version="1.0"?>\n<!-- made -->\n{head}\n<!ENTITY c "blue">\n]>\n{drawing}')
    assert open_rgb(path).getpixel((5, 5)) == (0, 0, 255)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY % a "b">',
        "".join(f'<!ENTITY a{number} "a">' for number in range(101)),
    ],
)
def test_files_and_texts_of_texts_are_not_put_in(tmp_path: Path, declared: str) -> None:
    path = tmp_path / "a.svg"
    path.write_text(f'<!DOCTYPE svg [{declared}]><svg {SPACES} viewBox="0 0 9 9"><rect width="9" height="9"/></svg>')
    with pytest.raises(ImageError):
        open_rgb(path)


def test_a_file_of_comments_is_read_at_once() -> None:
    """A search that tries every way to part them would never end, and no signal ends it: so in another process."""
    code = "from eds.imaging.extra_formats import to_raster; to_raster(b'<!---->' * 600)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("data", [b"<svg", b"<svg><rect</svg>", gzip.compress(b"<svg " + b" " * (21 << 20))])
def test_a_damaged_drawing_is_an_error_not_a_crash(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.svg"
    path.write_bytes(data)
    with pytest.raises(ImageError):
        open_rgb(path)


def test_heic_is_read(tmp_path: Path) -> None:
    import pillow_heif

    pixels = np.zeros((64, 96, 3), np.uint8)
    pixels[:, :48] = (200, 30, 60)
    stream = io.BytesIO()
    pillow_heif.from_pillow(Image.fromarray(pixels)).save(stream, quality=-1)
    path = tmp_path / "a.heic"
    path.write_bytes(stream.getvalue())
    picture = open_rgb(path)
    assert picture.size == (96, 64)
    assert np.abs(np.asarray(picture).astype(int) - pixels).max() < 12


def test_a_scan_reads_them_and_counts_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "a.svg").write_text(RED_LEFT.format(w=20, h=10))
    Image.new("RGB", (8, 8), "blue").save(folder / "b.png")
    for name in ("c.txt", "d.txt", "e"):
        (folder / name).write_text("no picture")
    project = eds.Project.create(tmp_path / "p")
    result = project.scan(folder)
    assert len(project.read("images")) == 2
    assert any("2 .txt" in note and "1 no suffix" in note for note in result.notes)


@pytest.mark.parametrize("unit", ["", "px", "pt", "mm", "in"])
def test_a_drawing_may_state_its_size_in_any_unit(tmp_path: Path, unit: str) -> None:
    path = tmp_path / "a.svg"
    path.write_text(f'<svg {SPACES} width="120{unit}" height="60{unit}"><rect width="9" height="9"/></svg>')
    assert open_rgb(path).size == (1024, 512)


@pytest.mark.parametrize(
    "declared", ['width="30" height="6000"', 'width="3cm" height="600cm"', 'viewBox="0 0 30 6000"']
)
def test_a_tall_drawing_is_as_small_as_a_wide_one(tmp_path: Path, declared: str) -> None:
    path = tmp_path / "a.svg"
    path.write_text(f'<svg {SPACES} {declared}><rect width="9" height="9"/></svg>')
    assert open_rgb(path).size == (6, 1024)
