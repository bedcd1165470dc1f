"""Every error that eds raises on purpose.

    EdsError                  the root: catch this to catch them all
    ├── InputError            what a user gave is wrong: a value, an option, a file   (also a ValueError)
    │   ├── TableError        a table's columns, rows, version or file
    │   ├── ConfigError       eds.toml, an EDS_* variable
    │   ├── ImageError        an image that cannot be read, or lies outside the root
    │   └── StorageError      a storage elsewhere (eds.io): absent, truncated, refusing, not to be reached
    ├── ProjectError          a project on disk: absent, locked, stale
    │   └── LockedError       another process is writing to the project
    ├── UnknownNameError      a name that no registry knows
    └── MissingExtraError     a package is needed that is not installed

A message says three things: what is wrong, where, and what to do. Several faults of one file are
told together: they are the error's `faults`, each a line of its own.
"""

from collections.abc import Sequence


class EdsError(Exception):
    """Something eds refuses to do, told so that the reader can mend it.

    >>> str(EdsError("k is 0", where="option --k", do="Give a number from 1 up."))
    'option --k: k is 0. Give a number from 1 up.'
    """

    def __init__(self, what: str, *, where: str = "", do: str = "", faults: Sequence[str] = ()) -> None:
        self.what, self.where, self.do, self.faults = what, where, do, tuple(faults)
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        if self.do:
            end = "" if head.endswith("?") else "."
            head = f"{head.rstrip('.')}{end} {self.do}"
        return "\n".join([head, *(f"  - {fault}" for fault in self.faults)])


class InputError(EdsError, ValueError):
    """What a user gave cannot be used."""


class TableError(InputError):
    """A table does not hold what its declaration says, or its file cannot be read."""


class ConfigError(InputError):
    """eds.toml or an EDS_* variable holds something unknown or out of range."""


class ImageError(InputError):
    """An image cannot be read, or its path leaves the image root."""


class ProjectError(EdsError):
    """The project on disk is not in a state that allows the command."""


class LockedError(ProjectError):
    """Another process is writing to the project."""


class UnknownNameError(EdsError):
    """No registry knows the name; the message lists those that are known."""


class MissingExtraError(EdsError):
    """A package is needed that is not installed; the message says what to install."""
