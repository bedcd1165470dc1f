"""The command line: `eds <table> <verb>`, one file a group, loaded when it is used.

A command is options, one call of a verb of `eds.Project`, and a renderer. Exit codes: 0 done, 2 invalid input (one line
on stderr says what to do), 1 internal error (with its traceback), 130 interrupted.
"""

import importlib
import os
import sys
from typing import Any

import click

from eds.distribution import VERSION
from eds.errors import EdsError

# name -> (module, what `eds --help` says); in the order of the flow. Nothing here is imported before use.
GROUPS = {
    "init": ("eds.cli.project", "Create a project in a folder."),
    "status": ("eds.cli.project", "Show the status of every table."),
    "standing": ("eds.cli.project", "Show what the labels say so far, and what more would."),
    "run": ("eds.cli.project", "Make every table that is missing or stale, in order."),
    "demo": ("eds.cli.demo", "Run the whole flow on a drawn catalogue."),
    "images": ("eds.cli.images", "The catalogue: scan, import, check and view images."),
    "embeddings": ("eds.cli.embeddings", "Vectors of the images, by each model."),
    "models": ("eds.cli.models", "Models of the project: generators and evaluated ones."),
    "neighbors": ("eds.cli.neighbors", "Each model's nearest candidates of every query."),
    "suspects": ("eds.cli.suspects", "Pairs to judge: the pool, random and other draws."),
    "undo": ("eds.cli.undo", "Undo a pool, draw, campaign or import of votes."),
    "labels": ("eds.cli.labels", "Experts' judgements: accounts, campaigns, exchange."),
    "assistant": ("eds.cli.assistant", "A second judge that never votes, to save labels."),
    "truth": ("eds.cli.truth", "Labels decided from the votes; experts' agreement."),
    "metrics": ("eds.cli.metrics", "Score models against the labels."),
    "analysis": ("eds.cli.analysis", "Cost, prevalence, overlap, bias and robustness."),
    "training": ("eds.cli.training", "Hash heads and fine-tuned networks."),
    "reports": ("eds.cli.reports", "Write an HTML report."),
    "benchmarks": ("eds.cli.benchmarks", "Import, export and reproduce benchmarks."),
    "synthetic": ("eds.cli.synthetic", "Drawn catalogue and simulated experts: known truth."),
    "completion": ("eds.cli.project", "Print the completion script of a shell."),
}


class Lazy(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the flow."""
        return list(GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in GROUPS:
            return None
        module = importlib.import_module(GROUPS[cmd_name][0])
        command = getattr(module, cmd_name)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a mistyped one is answered with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=GROUPS, ctx=ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above, importing none of them."""
        with formatter.section("Commands, in the order of the flow"):
            formatter.write_dl([(name, text) for name, (_, text) in GROUPS.items()])


@click.group(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: eds demo; eds status --project demo",
)
@click.version_option(VERSION, prog_name="eds")
def cli() -> None:
    """Efficient discovery of visual similarities: spend expert time well, and know how far to trust the result."""


def main() -> None:
    """Run the command line and turn errors into one line and an exit code."""
    try:
        code = cli.main(prog_name="eds", standalone_mode=False)
    except EdsError as error:
        _answer_error(
            str(error), {"what": error.what, "where": error.where, "hint": error.hint, "faults": error.faults}
        )
        code = 2
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "eds"
        message, hint = error.format_message().rstrip("."), f"See {path} --help."
        if getattr(error, "option_name", "") == "--project":
            hint = "Write it behind the command: eds status --project DIR."
        if not message.endswith("?"):
            message += "."
        _answer_error(f"{message} {hint}", {"what": message, "where": path, "hint": hint, "faults": []}, path)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("eds: interrupted; what was finished is kept, the same command goes on from there.", err=True)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _answer_error(text: str, error: dict[str, Any], where: str = "eds") -> None:
    """Say on stderr what is wrong; with --json, answer on stdout with the same, so that a script gets one document."""
    click.echo(f"{where}: {text}", err=True)
    from eds.cli.console import answered

    if "--json" in sys.argv and not answered:
        import json  # here: eds --help starts without it

        click.echo(json.dumps({"error": {**error, "exit_code": 2}}, ensure_ascii=False, indent=2))
