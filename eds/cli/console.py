"""What every command shares: its options, the project it works on, how it answers and shows progress.

Answers go to stdout: for reading, or as one JSON document with --json. Everything else (messages,
progress, warnings) goes to stderr; progress is a bar on a terminal, elsewhere a line every half minute.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.errors import DeclinedError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project, Result
    from eds.project.price import Price
    from eds.project.rehearsal import Action, Change

Progress = Callable[[int, int], None]
answered: list[Any] = []  # the JSON documents of this process: an error after an answer is said on stderr alone
SECONDS = 30  # between lines of progress where stderr is not a terminal
EXECUTOR, YES = "eds.executor", "eds.yes"  # in click's context: what shared options say


@dataclass(frozen=True)
class Console:
    """One call of a command: where it works and how it speaks."""

    folder: Path
    as_json: bool = False
    verbosity: int = 0
    dry_run: bool = False
    plan: "list[Change]" = field(default_factory=list)  # what a dry run would change
    answers: list[tuple[Any, Any]] = field(default_factory=list)  # those of a dry run, which are given in the end

    @cached_property
    def project(self) -> "Project":
        """The project of this call."""
        from eds.project import Project

        opened = Project.open(self.folder, reporter=self)
        opened.actor = "command line"
        context = click.get_current_context(silent=True)
        said: dict[str, Any] = context.meta if context else {}
        opened.executor = said.get(EXECUTOR)
        opened.approve = partial(_ask, yes=bool(said.get(YES)))
        rehearsal = opened.rehearsal(self.dry_run)
        if self.dry_run:
            rehearsal.planned = self.plan
        return rehearsal

    @property
    def project_here(self) -> "Project | None":
        """The project of this call, if its folder holds one."""
        return self.project if (self.folder / "eds.toml").is_file() else None

    def say(self, message: str) -> None:
        """Tell something by the way, on stderr; -q silences it."""
        if self.verbosity >= 0:
            click.echo(message, err=True)

    def show(self, result: "Result", text: "Callable[[Any], str]") -> None:
        """Give a verb's result on stdout: as one JSON document, or as `text` renders it."""
        self.answer(result.to_dict(), lambda: text(result))

    def show_table(self, frame: "pd.DataFrame", if_empty: str) -> None:
        """Give a frame on stdout, or a sentence if it has no rows."""
        from eds.cli.render import format_frame

        self.answer(frame, lambda: format_frame(frame) if len(frame) else if_empty)

    def answer(self, document: Any, text: str | Callable[[], str]) -> None:
        """Give the command's answer on stdout: the JSON document, or the text."""
        if self.dry_run:
            self.answers.append((document, text))
        elif self.as_json:
            from eds.project.results import to_jsonable

            click.echo(json.dumps(to_jsonable(document), ensure_ascii=False, allow_nan=False, indent=2))
            answered.append(document)
        else:
            click.echo(text() if callable(text) else text)

    def would_begin(self, action: "Action", what: str, detail: str = "") -> None:
        """Say what a command without a project makes; a dry run ends here."""
        if self.dry_run:
            from eds.project.rehearsal import Change, RehearsedError

            self.plan.append(Change(action, what, detail))
            raise RehearsedError

    def rehearse(self, command: Callable[[], None]) -> None:
        """Run a command in a dry run: give its answer, if it comes to one, and what it would change."""
        from eds.project.rehearsal import Plan, RehearsedError

        with suppress(RehearsedError):
            command()
        plan, real = Plan(tuple(self.plan)), replace(self, dry_run=False)
        for document, text in self.answers[-1:]:
            from eds.project.results import to_jsonable

            known = to_jsonable(document)
            merged = known if isinstance(known, dict) else {"answer": known}
            shown = text() if callable(text) else text
            said = f"Dry run, nothing is written. The answer would be:\n\n{shown}\n\nIt would:\n{plan.text}"
            real.answer({**merged, "dry_run": plan}, said)
        if not self.answers:
            real.answer({"dry_run": plan}, f"Dry run, nothing is written. It would:\n{plan.text}")

    @contextmanager
    def progress(self, label: str, unit: str = "") -> Iterator[Progress]:
        """Give a function (done, total) that moves a bar, or where there is no terminal writes a line now and then."""
        if self.verbosity < 0:
            yield lambda done, total: None
            return
        if not sys.stderr.isatty():
            last = time.monotonic()

            def write(done: int, total: int) -> None:
                nonlocal last
                if time.monotonic() - last >= SECONDS:
                    last = time.monotonic()
                    self.say(f"{label}: {done:,} of {total:,} {unit}".rstrip())

            yield write
            return
        from rich import progress
        from rich.console import Console as Terminal

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn(f"{{task.fields[rate]}} {unit}/s" if unit else ""),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None, rate="")

            def show(done: int, total: int) -> None:
                elapsed = bar.tasks[0].elapsed or 0.0
                rate = f"{done / elapsed:,.0f}" if elapsed else ""
                bar.update(task, completed=done, total=total, rate=rate)

            yield show


def _ask(price: "Price", *, yes: bool) -> None:
    """Ask whether judgements may be added, where somebody can answer; --yes answers for scripts."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise DeclinedError(f"this {price.text}", hint="Nothing was added; --yes adds them.")
    if not click.confirm(f"This {price.text}. Go on?", err=True):
        raise DeclinedError("nothing was added")


class ProjectFolder(click.Path):
    """The folder of a project; an address is refused, for taken as a path it would name a folder `s3:`."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if "://" in os.fspath(value):
            raise InputError(
                "a project is a folder of this machine",
                where=os.fspath(value),
                hint="Name a folder; its pictures and vectors may lie elsewhere: eds/io/README.md.",
            )
        return super().convert(value, param, ctx)


FOLDER = ProjectFolder()


def command(
    group: click.Group | None, name: str, *, example: str, reads: bool = False
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command: it gets a Console first, then its own options by name.

    A command that only `reads` has no --dry-run.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def call(
            project_folder: Path, as_json: bool, verbose: int, quiet: bool, dry_run: bool = False, **options: Any
        ) -> None:
            verbosity = -1 if quiet else verbose
            logging.basicConfig(level=logging.DEBUG if verbosity > 0 else logging.WARNING, stream=sys.stderr)
            try:
                console = Console(project_folder, as_json, verbosity, dry_run)
                run = partial(function, console, **options)
                console.rehearse(run) if dry_run else run()
            except PermissionError as error:  # of a file that no reader or writer of ours speaks for
                if error.filename is None:
                    raise
                reason, where = error.strerror, os.fsdecode(error.filename)
                hint = "Ask its owner for the right to read and write it."
                raise InputError(f"cannot be used ({reason})", where=where, hint=hint) from error

        if not reads:
            call = click.option("--dry-run", is_flag=True, help="Say what it would change, and write nothing.")(call)
        for add in (
            click.option("-q", "--quiet", is_flag=True, help="Say nothing but the answer and errors."),
            click.option("-v", "--verbose", count=True, show_default=False, help="Say more."),
            click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document on stdout."),
            click.option(
                "-p",
                "--project",
                "project_folder",
                type=FOLDER,
                default=Path(),
                show_default=False,
                envvar="EDS_PROJECT",
                help="The project's folder (default: here).",
            ),
        ):
            call = add(call)
        context = {"show_default": True, "help_option_names": ["-h", "--help"]}
        settings: dict[str, Any] = {"context_settings": context, "epilog": f"Example: {example}"}
        attach: Any = group.command if group else click.command
        made: click.Command = attach(name, **settings)(call)
        return made

    return decorate
