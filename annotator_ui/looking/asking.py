"""Searches and maps in a child process: networks and large products stay out of the server that experts judge on."""

from pathlib import Path
from typing import Any

from eds.child_process import ChildEndedError, ChildProcess
from eds.errors import InputError
from eds.project import Project
from eds.project.search import SearchResult

SECONDS = 180.0  # that an answer may take; the first one loads a network
KINDNESS, LOWEST = 10, 19


class Asking:
    """One child, started when it is first needed; it keeps the networks that it has loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._child = ChildProcess(nice=KINDNESS, seconds=SECONDS)
        self._maps: ChildProcess | None = None

    def search(self, **options: Any) -> SearchResult:
        """The answer of `Project.search` with these options."""
        try:
            return self._child.call(search, self.root, options)
        except ChildEndedError as error:
            raise InputError(f"the search failed: {error.what}", hint="Try again, or choose fewer models.") from error

    def prepare_maps(self) -> int:
        """Lay out each model's images where that is still to be done; how many models that were.

        In a process of its own, which ends with it: vectors are large, and searches need not wait.
        """
        self._maps = ChildProcess(nice=LOWEST, seconds=SECONDS, one_core=True)
        try:
            return self._maps.call(prepare_maps, self.root)
        except ChildEndedError:
            return 0
        finally:
            self._maps.close()

    def close(self) -> None:
        """End the children."""
        self._child.close()
        if self._maps is not None:
            self._maps.close()


def search(root: Path, options: dict[str, Any]) -> SearchResult:
    """Search in this process."""
    return Project.open(root).search(**options)


def prepare_maps(root: Path) -> int:
    """Lay out in this process."""
    return Project.open(root).prepare_maps()
