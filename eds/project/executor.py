"""Where a verb's work is done: `project.executor`, else EDS_EXECUTOR, else section [executor] of eds.toml.

The choice changes no result, so it is never in a table's provenance.
"""

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.io.files import write_text

if TYPE_CHECKING:
    from eds.config import ExecutorSettings
    from eds.io import Address
    from eds.parallel import Executor
    from eds.project import Project

PARTS = ".eds-parts"  # below [executor] work, which others may use for whatever they like


def settings_of(project: "Project") -> "ExecutorSettings":
    """Section [executor], with the executor that the caller chose."""
    settings = project.config.executor
    return settings.model_copy(update={"use": project.executor}) if project.executor else settings


def refuse_in_parts(project: "Project", options: Mapping[str, str]) -> None:
    """Raise InputError if the work is to be done in parts; `options` were typed, and there is none of them in parts.

    They are given with what to do instead.
    """
    use = settings_of(project).use
    if options and use != "plain":
        raise InputError(
            f"{' and '.join(options)} cannot be with --executor {use}, which searches in parts",
            do=f"{' '.join(options.values())} Or add --executor plain.",
        )


@contextmanager
def open_executor(project: "Project", name: str) -> "Iterator[Executor | None]":
    """Where this command's work is done, in a folder of that name; None where it is done in one piece.

    Its parts are removed when all went well. Whatever went wrong, they stay: the same command goes on from them.
    In a bucket they always stay, as nothing is ever removed there.
    """
    settings = settings_of(project)
    if settings.use == "plain":
        yield None
        return
    from eds.io import is_remote, local_path
    from eds.parallel import Executor, start

    work = _folder(project, settings.work, name)
    with start(settings) as backend:
        yield Executor(backend, work, settings)
    if not is_remote(work):
        shutil.rmtree(local_path(work), ignore_errors=True)


def _folder(project: "Project", given: str, name: str) -> "Address":
    """Where this project alone writes its parts of that name, so that all that stands there may be removed."""
    from eds.io import is_remote, join, local_path

    root = project.root.resolve()
    if not given:
        return root / ".eds" / "work" / name
    base = given if is_remote(given) else (root / local_path(given)).resolve()
    return join(base, PARTS, f"{_identity(root)}-{name}")


def _identity(root: Path) -> str:
    """What tells this project from all others that write below one folder, also from its copies and on other machines.

    A number that is drawn once and kept, and where the project lies.
    """
    kept = root / ".eds" / "identity"
    if not kept.exists():
        write_text(kept, secrets.token_hex(16))
    return hashlib.sha256(f"{kept.read_text(encoding='utf-8')} {root}".encode()).hexdigest()[:16]
