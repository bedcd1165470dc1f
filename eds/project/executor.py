"""Where a verb's work is done: `project.executor`, else EDS_EXECUTOR, else section [executor] of eds.toml.

The choice changes no result, so it is never in a table's provenance.
"""

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
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


IN_PARTS = {  # options of work in one piece: what to do instead where it is done in parts
    "threads": "[executor] threads says how many each part takes.",
    "allow_low_recall": "Parts are searched exactly.",
}


def check_not_in_parts(project: "Project", options: Sequence[str]) -> None:
    """Raise InputError if the work is to be done in parts and an option was given that this would ignore."""
    use = settings_of(project).use
    if options and use != "plain":
        names = " and ".join(f"--{name.replace('_', '-')}" for name in options)
        raise InputError(
            f"{names} cannot be with --executor {use}, which searches in parts",
            hint=f"Leave {names} out: {' '.join(IN_PARTS[name] for name in options)} Or add --executor plain.",
        )


@contextmanager
def open_executor(project: "Project", name: str) -> "Iterator[Executor | None]":
    """Give the executor of the verb's work, in a folder of that name; None if the work is done in one piece.

    The parts are deleted after success. After a failure they stay, and the same verb resumes from them. In a bucket
    they always stay, because nothing is deleted there.
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


def _folder(project: "Project", setting: str, name: str) -> "Address":
    """The folder where only this project writes its parts of that name, so that all of it may be deleted."""
    from eds.io import is_remote, join, local_path

    root = project.root.resolve()
    if not setting:
        return root / ".eds" / "work" / name
    base = setting if is_remote(setting) else (root / local_path(setting)).resolve()
    return join(base, PARTS, f"{_identity(root)}-{name}")


def _identity(root: Path) -> str:
    """An identity that no other project has that writes below the same folder, nor a copy, nor one on another machine.

    It is made of a random number, drawn once and kept, and of the project's path.
    """
    kept = root / ".eds" / "identity"
    if not kept.exists():
        write_text(kept, secrets.token_hex(16))
    return hashlib.sha256(f"{kept.read_text(encoding='utf-8')} {root}".encode()).hexdigest()[:16]
