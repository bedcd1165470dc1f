"""Folders of pictures: what their names tell, and what is refused."""

from pathlib import Path

import pytest

from eds.errors import InputError
from eds.images import folder
from eds.images.sources import Source
from tests.images.reading import column, put


def test_a_tree_tells_category_and_product(tmp_path: Path) -> None:
    put(tmp_path, "shirts/p1/a.png", "shirts/p1/b.png", "men/coats/p1/a.png", ".hidden/p/x.png")
    found = folder.read(Source((), tmp_path))
    assert column(found, "image_id") == ["men/coats/p1/a.png", "shirts/p1/a.png", "shirts/p1/b.png"]
    assert column(found, "product_id") == ["men/coats/p1", "shirts/p1", "shirts/p1"]
    assert column(found, "category") == ["men/coats", "shirts", "shirts"]
    assert column(found, "path") == column(found, "image_id")


def test_other_layouts(tmp_path: Path) -> None:
    put(tmp_path, "x/a.png", "x/b.png")
    assert column(folder.read(Source((), tmp_path, layout="flat")), "product_id") == ["x/a.png", "x/b.png"]
    assert column(folder.read(Source((), tmp_path, layout="product")), "product_id") == ["x", "x"]
    assert column(folder.read(Source((), tmp_path, layout="category")), "category") == ["x", "x"]
    with pytest.raises(InputError, match="neither flat nor"):
        folder.read(Source((), tmp_path))
    with pytest.raises(InputError, match="layout tree needs pictures deeper in folders"):
        folder.read(Source((), tmp_path, layout="tree"))


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(InputError, match="contains no images"):
        folder.read(Source((), tmp_path))
    with pytest.raises(InputError, match="folder not found"):
        folder.read(Source((), tmp_path / "none"))
