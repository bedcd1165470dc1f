"""Pictures that leads send from their own device: one after the other, into one folder of the project.

A path keeps its subfolders, which may be categories or products. What arrives twice replaces what was there, so that
a broken upload is sent again; nothing of it is opened here: `Project.scan` does, on a folder like any other.
"""

import shutil
import threading
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from eds.errors import InputError

if TYPE_CHECKING:
    from eds.project import Project

FOLDER = "uploads"
MOST_PICTURES = 20_000
MOST_BYTES = 5 * 2**30  # of all
SPARE = 2**30  # bytes that stay free on the disk
DEEPEST, LONGEST = 6, 120  # folders of a path; characters of each
FORBIDDEN = frozenset('\\:*?"<>|')


class ReceivedPictures:
    """The folder of a project, as long as one server fills it."""

    def __init__(self, project: "Project") -> None:
        self.folder = project.root / FOLDER
        self._changing = threading.Lock()
        self._sizes: dict[str, int] | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The bytes of each picture that is there, by its path below the folder."""
        with self._changing:
            return dict(self._known())

    def add(self, path: str, data: bytes) -> int:
        """Keep a picture under its path below the folder; how many there are now."""
        from eds.io.files import replacing

        name = checked_path(path)
        with self._changing:
            known = self._known()
            size = sum(known.values()) - known.get(name, 0) + len(data)
            pictures = len(known) + (name not in known)
            if pictures > MOST_PICTURES or size > MOST_BYTES:
                raise InputError(
                    f"more than {MOST_PICTURES:,} pictures or {MOST_BYTES // 2**30} GB",
                    where=str(self.folder),
                    hint="Copy large catalogues to the server and import them from there.",
                )
            self.folder.mkdir(exist_ok=True)
            if shutil.disk_usage(self.folder).free - len(data) < SPARE:
                raise InputError("the server's disk is full", where=str(self.folder), hint="Ask who runs the server.")
            with replacing(self.folder / name, durable=False) as temporary:
                temporary.write_bytes(data)
            known[name] = len(data)
            return len(known)

    def _known(self) -> dict[str, int]:
        if self._sizes is None:
            files = (file for file in self.folder.rglob("*") if file.is_file() and not file.name.startswith("."))
            self._sizes = {file.relative_to(self.folder).as_posix(): file.stat().st_size for file in files}
        return self._sizes


def suffixes() -> frozenset[str]:
    """What the names of pictures end in."""
    from eds.images.folder import SUFFIXES

    return SUFFIXES


def checked_path(path: str) -> str:
    """Return the path of a picture below the folder; InputError for one that could lie elsewhere or is no picture's.

    >>> checked_path("bags/red one.jpg")
    'bags/red one.jpg'
    """
    parts = path.split("/")
    sound = len(parts) <= DEEPEST and all(
        0 < len(part) <= LONGEST
        and part == part.strip()
        and part[0] != "."
        and part.isprintable()
        and not FORBIDDEN & set(part)
        for part in parts
    )
    if not sound or PurePosixPath(path).suffix.lower() not in suffixes():
        raise InputError(
            "not a path of a picture", where="path", hint="Send FOLDER/NAME.jpg, of at most six parts without dots."
        )
    return path
