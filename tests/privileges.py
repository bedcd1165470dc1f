"""What some tests need, a package or what only root may do: skipped elsewhere, but never in continuous integration."""

import importlib
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest


def in_ci() -> bool:
    """Whether this is continuous integration, where nobody looks at what was skipped."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def lacking(what: str, *, allow_module_level: bool = False) -> NoReturn:
    """Skip the test, saying what cannot be done here; in continuous integration fail it."""
    if in_ci():
        pytest.fail(f"{what}; in continuous integration (variable CI) this is a failure, not a skip", pytrace=False)
    pytest.skip(what, allow_module_level=allow_module_level)


def is_lean() -> bool:
    """Whether this is the environment of `make test-lean`: no torch, and other packages left out, too."""
    return importlib.util.find_spec("torch") is None


def needed(module: str) -> Any:
    """The module, where what it needs is installed; without it the test is skipped in the lean environment alone."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "eds":
            raise
        if is_lean():
            pytest.skip(f"{error.name} is not installed, nor is torch: a lean environment", allow_module_level=True)
        lacking(f"{error.name} is not installed", allow_module_level=True)


def needs_root(what: str) -> None:
    """Go on as root alone; `what` completes "only root may"."""
    if os.geteuid() != 0:
        lacking(f"only root may {what}")


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A file system in memory of that size, as 24m, where one can be mounted."""
    needs_root("mount a small file system")
    folder = Path(tempfile.mkdtemp(prefix="eds-disk-"))
    folder.chmod(0o755)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        folder.rmdir()
        lacking(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()
