"""Pictures that are written on a full disk: one error that says so, nothing half-written, and the same call goes on."""

from pathlib import Path

import pytest

from eds.errors import InputError
from eds.images.embedded import write_image
from eds.synthetic.catalogue import draw_catalogue
from tests.privileges import small_disk


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("workers", [1, 2])
def test_drawing_goes_on_when_there_is_space(workers: int) -> None:
    def draw() -> int:
        return len(draw_catalogue(disk / "drawn", products=24, views=1, wild=2, size=64, workers=workers))

    with small_disk("300k") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(240_000))
        with pytest.raises(InputError, match="No space left"):
            draw()
        assert not [path.name for path in files(disk) if path.name.startswith(".")]
        ballast.unlink()
        assert draw() == 26


def test_an_image_of_an_imported_file_is_whole_or_not_there() -> None:
    with small_disk("100k") as disk:
        with pytest.raises(InputError, match="No space left"):
            write_image(bytes(200_000), "a/b.png", disk)
        assert files(disk) == []
        write_image(bytes(20_000), "a/b.png", disk)
        assert [path.stat().st_size for path in files(disk)] == [20_000]
