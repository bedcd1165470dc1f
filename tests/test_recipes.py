"""The recipes of CONTRIBUTING.md: one file is enough, and the product offers the new member at once."""

import json
from pathlib import Path

from tests.recipes import follow


def test_add_a_backbone(tmp_path: Path) -> None:
    copy = follow("Add a backbone", tmp_path)
    copy.eds("init", "shop")
    copy.eds("synthetic", "catalogue", "--products", "4", "--views", "1", "--size", "32", "--project", "shop")
    assert "shade" in copy.eds("embeddings", "compute", "-m", "shade:mean", "--project", "shop", "--json")


def test_add_a_reader_of_catalogues(tmp_path: Path) -> None:
    copy = follow("Add a reader of catalogues", tmp_path)
    assert "lines" in copy.eds("images", "import", "--help")
    copy.eds("init", "shop")
    (tmp_path / "list.txt").write_text("a.png\nb.png\n")
    words = ("images", "import", "list.txt", "--format", "lines", "--without-files", "--project", "shop", "--json")
    assert json.loads(copy.eds(*words))["images"] == 2
