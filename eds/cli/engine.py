"""Where a command's work is done: option --engine, else EDS_ENGINE, else section [engine] of eds.toml.

The choice shapes no result, so it is kept beside the options (in click's context) and never in a table's provenance.
"""

import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.errors import InputError
from eds.files import write_text

if TYPE_CHECKING:
    from eds.config import EngineSettings
    from eds.engines import Site
    from eds.storage import Address
    from eds.workspace import Project

PLACES = ("plain", "serial", "pool", "ray")
CHOSEN = "eds.engine"
PARTS = ".eds-parts"  # below [engine] work, which others may use for whatever they like


def choose(name: str | None) -> None:
    """Let the rest of this command do its work there; None: where the settings say."""
    if name is not None:
        click.get_current_context().meta[CHOSEN] = name


def engine_option(function: Callable[..., None]) -> Callable[..., None]:
    """Option --engine of a command that does not search; the command's function never sees it."""
    return click.option(
        "--engine",
        type=click.Choice(PLACES),
        expose_value=False,
        callback=lambda context, parameter, value: choose(value),
        help="Where work is done: in one piece; in parts: serial, pool, ray (default: EDS_ENGINE, eds.toml).",
    )(function)


def settings_of(project: "Project") -> "EngineSettings":
    """Section [engine] as it holds for this command."""
    context = click.get_current_context(silent=True)
    asked = context.meta.get(CHOSEN) if context else None
    settings: Any = project.config.engine
    return replace(settings, use=asked) if asked else settings  # type: ignore[no-any-return]


def refuse_in_parts(project: "Project", options: Mapping[str, str]) -> None:
    """Raise InputError if the work is to be done in parts; `options` were typed, and there is none of them in parts.

    They are given with what to do instead.
    """
    use = settings_of(project).use
    if options and use != "plain":
        raise InputError(
            f"{' and '.join(options)} cannot be with --engine {use}, which searches in parts",
            do=f"{' '.join(options.values())} Or say --engine plain beside it.",
        )


@contextmanager
def site(project: "Project", name: str) -> "Iterator[Site | None]":
    """Where this command's work is done, in a folder of that name; None where it is done in one piece.

    Its parts are removed when all went well. Whatever went wrong, they stay: the same command goes on from them.
    In a bucket they always stay, as nothing is ever removed there.
    """
    settings = settings_of(project)
    if settings.use == "plain":
        yield None
        return
    from eds.engines import Site, start
    from eds.storage import is_remote, local_path

    work = _folder(project, settings.work, name)
    with start(settings) as engine:
        yield Site(engine, work, settings)
    if not is_remote(work):
        shutil.rmtree(local_path(work), ignore_errors=True)


def _folder(project: "Project", given: str, name: str) -> "Address":
    """Where this project alone writes its parts of that name, so that all that stands there may be removed."""
    from eds.storage import is_remote, join, local_path

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
