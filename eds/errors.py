"""Every error that eds raises on purpose.

    EdsError                  the root: catch this to catch them all
    ├── InputError            invalid input: a value, an option, a file   (also a ValueError)
    │   ├── TableError        a table's columns, rows, version or file
    │   ├── ConfigError       eds.toml, an EDS_* variable
    │   ├── ImageError        an image that cannot be read or lies outside the root
    │   └── StorageError      a remote storage (eds.io): missing, truncated, access denied, not reachable
    ├── ProjectError          a project on disk: missing, locked, stale
    │   ├── LockedError       another process is writing to the project
    │   ├── DeclinedError     nobody agreed to the judgements that an operation would add
    │   ├── TruthChangeError  deciding again would drop or change labels
    │   ├── ReplacedError     the label database was deleted or replaced while it was open
    │   └── DamagedError      stored judgements or vectors differ from what was written
    ├── UnknownNameError      a name that no family of plug-ins knows
    └── MissingExtraError     a required package that is not installed

A message says three things: what is wrong, where, and what to do. Several faults of one file are reported
together, as the error's `faults`, one per line.
"""

from collections.abc import Mapping, Sequence


class EdsError(Exception):
    """An error with its cause, its place and what to do.

    >>> str(EdsError("k is 0", where="option --k", hint="Use a number from 1 up."))
    'option --k: k is 0. Use a number from 1 up.'
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "", faults: Sequence[str] = ()) -> None:
        self.what, self.where, self.hint, self.faults = what, where, hint, tuple(faults)
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        if self.hint:
            end = "" if head.endswith("?") else "."
            head = f"{head.rstrip('.')}{end} {self.hint}"
        return "\n".join([head, *(f"  - {fault}" for fault in self.faults)])


class InputError(EdsError, ValueError):
    """Invalid input."""


class TableError(InputError):
    """A table differs from its declaration, or its file cannot be read."""


class ConfigError(InputError):
    """eds.toml or an EDS_* variable has an unknown key or an invalid value."""


class ImageError(InputError):
    """An image cannot be read, or its path leads out of the image root."""


class ProjectError(EdsError):
    """The state of the project does not allow the operation."""


class LockedError(ProjectError):
    """Another process is writing to the project."""


class DeclinedError(ProjectError):
    """Nobody agreed to the price of an operation that adds judgements; nothing was written."""


class TruthChangeError(ProjectError):
    """Deciding again would drop labels, or change more than 1 % of them; nothing was written.

    `stored` labels are there, `lost` would be dropped, `turned` would become the other one; `directions` and `reasons`
    count these pairs by what happens to them, and why.
    """

    def __init__(
        self,
        *,
        stored: int,
        lost: int,
        turned: int,
        directions: Mapping[str, int],
        reasons: Mapping[str, int],
        where: str = "",
    ) -> None:
        self.stored, self.lost, self.turned = stored, lost, turned
        self.directions, self.reasons = dict(directions), dict(reasons)
        parts = [f"{lost:,} would lose their label"] if lost else []
        parts += [f"{turned:,} would get the other one"] if turned else []
        super().__init__(
            f"of {stored:,} labels {' and '.join(parts)}; nothing was written",
            where=where,
            hint="To store the new decision: eds truth decide --replace (Python: replace=True).",
            faults=[f"{count:,} {text}" for part in (directions, reasons) for text, count in part.items()],
        )


class ReplacedError(ProjectError):
    """The label database was deleted or replaced while it was open; nothing of the act was stored."""


class DamagedError(ProjectError):
    """Stored judgements or vectors differ from what was written."""


class UnknownNameError(EdsError):
    """Unknown name; the message lists the known ones."""


class MissingExtraError(EdsError):
    """A required package is not installed; the message says what to install."""
