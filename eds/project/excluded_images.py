"""Images that an imported catalogue names and the project excludes: their vectors are ignored, not refused.

The list belongs to one table images: once that table changes, the list no longer applies.
"""

from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from eds.io.files import digest, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from eds.project import Project

FILE = ".eds/excluded_images.json"


class ExcludedImages(BaseModel):
    """The file: the names, and the digest of the table images they belong to."""

    images_sha256: str
    names: tuple[str, ...]


def write_excluded(project: "Project", names: "Iterable[str]") -> None:
    """Write the names beside the project's table images."""
    write_text(project.root / FILE, excluded_text(project.path("images"), names))


def excluded_text(images: "Path", names: "Iterable[str]") -> str:
    """Return the content of the list that belongs to this file of table images."""
    return ExcludedImages(images_sha256=digest(images), names=tuple(sorted(names))).model_dump_json()


def read_excluded(project: "Project") -> frozenset[str]:
    """Return the names that belong to the current table images; none where there is no such list."""
    try:
        content = ExcludedImages.model_validate_json((project.root / FILE).read_bytes())
    except (OSError, ValidationError):
        return frozenset()
    return frozenset(content.names) if content.images_sha256 == digest(project.path("images")) else frozenset()
