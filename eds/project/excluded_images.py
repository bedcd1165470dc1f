"""Images that an imported catalogue names and the project leaves out: vectors of theirs are no mistake.

The list belongs to one table images; once that table is another one, the list counts no more.
"""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from eds.project import Project

LIST = ".eds/left_out.json"


def write_left_out(project: "Project", names: "Iterable[str]") -> None:
    """Keep the names beside the project's table images, which is written already."""
    from eds.io.files import write_text

    write_text(project.root / LIST, left_out_text(project.path("images"), names))


def left_out_text(images: "Path", names: "Iterable[str]") -> str:
    """The list as its file holds it, for a table images that stands in this file."""
    from eds.io.files import digest

    return json.dumps({"images.parquet": digest(images), "left_out": sorted(names)}, ensure_ascii=False)


def read_left_out(project: "Project") -> frozenset[str]:
    """The names that belong to the table images as it is; none where there is no such list."""
    from eds.io.files import digest

    try:
        told = json.loads((project.root / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return frozenset()
    current = told.get("images.parquet") == digest(project.path("images"))
    return frozenset(told["left_out"]) if current else frozenset()
