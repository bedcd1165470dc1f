"""Search by a picture file or a text, in a child process: networks stay out of the server that experts judge on."""

from pathlib import Path
from typing import Any

from eds.child_process import ChildEndedError, ChildProcess
from eds.errors import InputError
from eds.project import Project
from eds.project.search import SearchResult

SECONDS = 180.0  # that an answer may take; the first one loads a network
KINDNESS = 10


class Asking:
    """One child, started when it is first needed; it keeps the networks that it has loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._child = ChildProcess(nice=KINDNESS, seconds=SECONDS)

    def search(self, **options: Any) -> SearchResult:
        """The answer of `Project.search` with these options."""
        try:
            return self._child.call(search, self.root, options)
        except ChildEndedError as error:
            raise InputError(f"the search failed: {error.what}", hint="Try again, or choose fewer models.") from error

    def close(self) -> None:
        """End the child."""
        self._child.close()


def search(root: Path, options: dict[str, Any]) -> SearchResult:
    """Search in this process."""
    return Project.open(root).search(**options)
