"""Where a picture's file is: no path leaves the image root, and what is no readable file says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import imaging
from eds.errors import ImageError
from eds.imaging import inside, open_rgb
from tests.imaging.drawn import jpeg


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
        "import os, sys; sys.path.insert(0, sys.argv[2]); import eds.imaging, PIL.JpegImagePlugin, pathlib\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: eds.imaging.open_rgb(pathlib.Path(sys.argv[1]))\n"
        "except eds.imaging.ImageError as error: print(error)"
    )
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    root = str(Path(imaging.__file__).parents[2])
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
