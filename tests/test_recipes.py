"""The recipes of CONTRIBUTING.md: one file is enough, and the product offers the new member at once."""

from pathlib import Path

from tests.recipes import follow


def test_add_a_backbone(tmp_path: Path) -> None:
    copy = follow("Add a backbone", tmp_path)
    copy.eds("init", "shop")
    copy.eds("synthetic", "catalogue", "--products", "4", "--views", "1", "--size", "32", "--project", "shop")
    assert "shade" in copy.eds("embeddings", "compute", "-m", "shade:mean", "--project", "shop", "--json")
    assert "BACKBONES" not in copy.python("from eds.registry import BACKBONES; print(BACKBONES.help('shade'))")
