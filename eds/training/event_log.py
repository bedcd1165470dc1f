"""The log of a run for TensorBoard: event files in the run's folder, a value per epoch."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eds.distribution import install
from eds.errors import MissingExtraError

EVENTS = "tensorboard"


class EventLog:
    """Writes the rows of a run's log as scalars; `kept` are epochs that an earlier call has written."""

    def __init__(self, folder: Path, kept: int) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "logs for TensorBoard need the package tensorboardX, which is not installed",
                hint=f"Run: {install('tensorboard')}, or leave out --log.",
            ) from error
        events = folder / EVENTS
        if not kept:  # those of an earlier run of this name
            shutil.rmtree(events, ignore_errors=True)
        self._writer = SummaryWriter(str(events))

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one epoch, and make it visible at once."""
        for name in row.keys() - {"epoch"}:
            self._writer.add_scalar(name, row[name], row["epoch"])
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
