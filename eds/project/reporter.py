"""How a verb reports while it works: messages and progress.

Silent in Python unless asked otherwise; the command line shows messages on stderr and progress bars (eds.cli.console).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Progress = Callable[[int, int], None]  # called with (done, total)


class Reporter(Protocol):
    """Where messages and progress go."""

    def say(self, message: str) -> None:
        """Show a message beside the result."""

    def progress(self, label: str, unit: str = "") -> AbstractContextManager[Progress]:
        """Show the progress of one task, as long as the block runs."""


class SilentReporter:
    """Drops everything."""

    def say(self, message: str) -> None:
        """Drop the message."""

    @contextmanager
    def progress(self, label: str, unit: str = "") -> Iterator[Progress]:
        """Give a function that does nothing."""
        yield lambda done, total: None


SILENT = SilentReporter()
