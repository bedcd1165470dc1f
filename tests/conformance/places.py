"""The executors of the tests."""

from pathlib import Path
from typing import Any

from eds.config import ExecutorSettings
from eds.parallel import Backend, Executor


def executor(backend: Backend, folder: Path, **settings: Any) -> Executor:
    return Executor(backend, folder / "work", ExecutorSettings(**settings))
