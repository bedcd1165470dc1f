"""Names for interchangeable things (backbones, engines, readers): found by name, imported on use."""

import difflib
import importlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eds.errors import MissingExtraError, UnknownNameError


@dataclass(frozen=True)
class Entry:
    """Where a named thing lives, and which extra of eds brings what it needs."""

    target: str  # "module:object"
    meaning: str = ""
    extra: str = ""


class Registry:
    """A family of named things; others add to it by an entry point of the group `eds.<family>`.

    >>> shapes = Registry("shape", {"path": Entry("pathlib:PurePath", "a path")})
    >>> shapes.load("path").__name__
    'PurePath'
    >>> shapes.load("pat")
    Traceback (most recent call last):
    eds.errors.UnknownNameError: unknown shape 'pat'. Did you mean path? Known: path.
    """

    def __init__(self, family: str, entries: Mapping[str, Entry]) -> None:
        self.family = family
        self._own = dict(entries)

    def entries(self) -> dict[str, Entry]:
        """Every name with its entry: our own first, then those of installed packages."""
        others = importlib.metadata.entry_points(group=f"eds.{self.family}")
        return {**{point.name: Entry(point.value, f"from package {_package(point)}") for point in others}, **self._own}

    def load(self, name: str) -> Any:
        """The object of that name; says what to install, or which names there are."""
        known = self._own if name in self._own else self.entries()  # asking all packages takes 10 ms
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise UnknownNameError(f"unknown {self.family} {name!r}", do=f"{hint}Known: {', '.join(known)}.")
        entry = known[name]
        module, _, attribute = entry.target.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "eds":
                raise
            install = f'pip install "eds[{entry.extra}]"' if entry.extra else f"pip install {error.name}"
            raise MissingExtraError(
                f"{self.family} {name} needs the package {error.name}, which is not installed", do=f"Run: {install}."
            ) from error


def _package(point: importlib.metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else "unknown"
