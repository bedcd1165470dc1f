"""Where a command's work is done: option --engine, else EDS_ENGINE, else section [engine] of eds.toml.

The choice shapes no result, so it is kept beside the options (in click's context) and never in a table's provenance.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eds.engines import Site
    from eds.workspace import Project

PLACES = ("plain", "serial", "pool", "ray")
CHOSEN = "eds.engine"


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


@contextmanager
def site(project: "Project", name: str) -> "Iterator[Site | None]":
    """Where this command's work is done, in a folder of that name; None where it is done in one piece.

    Its parts are removed when all went well. Whatever went wrong, they stay: the same command goes on from them.
    """
    context = click.get_current_context(silent=True)
    asked = context.meta.get(CHOSEN) if context else None
    settings: Any = project.config.engine
    settings = replace(settings, use=asked) if asked else settings
    if settings.use == "plain":
        yield None
        return
    from eds.engines import Site, start
    from eds.storage import is_remote, join, local_path

    work = join(settings.work or (project.root / ".eds" / "work").resolve(), name)
    with start(settings) as engine:
        yield Site(engine, work, settings)
    if not is_remote(work):
        shutil.rmtree(local_path(work), ignore_errors=True)
