"""`eds benchmarks`: import published benchmarks, export your own, reproduce the paper; one command per format."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from eds.cli.addresses import ADDRESS
from eds.cli.benchmarks_reproduce import reproduce
from eds.cli.console import Console, command
from eds.cli.options import confidence, plugin_option, resamples_option
from eds.cli.render import count, format_share, format_table

if TYPE_CHECKING:
    from eds.project.exchange import ExportResult, ImportResult
    from eds.project.hub import PushResult
    from eds.project.leaderboard import LeaderboardResult

CARD = {
    "name": "Name of the benchmark (default: the project's name).",
    "licence": "Licence, as cc-by-4.0.",
    "release": "Version (default: 1.0.0).",
    "motivation": "Purpose of the benchmark.",
    "collection": "How the pictures were collected.",
    "address": "Where it is published.",
    "citation": "How to cite it.",
}


class Formats(click.Group):
    """A command for each format that can be read or written, made from the format's own options."""

    verb: Literal["read", "write"]
    make: Callable[[str], click.Command]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the formats."""
        from eds.project.exchange import format_names

        return format_names(self.verb)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a format, with the format's options first."""
        if cmd_name not in self.list_commands(ctx):
            return None
        from eds.project.exchange import FORMATS, format_options

        made = type(self).make(cmd_name)
        made.help = f"{FORMATS.help(cmd_name)}\n\n{made.help}"
        first = next(i for i, parameter in enumerate(made.params) if isinstance(parameter, click.Argument)) + 1
        made.params[first:first] = [plugin_option(option) for option in format_options(cmd_name, self.verb)]
        return made

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the formats without importing them."""
        from eds.project.exchange import FORMATS

        with formatter.section("Formats"):
            formatter.write_dl([(name, FORMATS.help(name)) for name in self.list_commands(ctx)])


def _export_command(name: str) -> click.Command:
    @command(None, name, example=f"eds benchmarks export {name} out/{name} --licence cc-by-4.0")
    @click.argument("to", metavar="FOLDER|URL")
    @click.option("--no-lists", is_flag=True, help="Leave out the models' lists.")
    @click.option("--hide-experts", is_flag=True, help="Name experts expert-1, expert-2, ...")
    @click.option("--with-random", is_flag=True, help="Include labels of random pairs, though unmarked.")
    @click.option("--replace", is_flag=True, help="Replace an earlier export.")
    def export(console: Console, to: str, no_lists: bool, **options: Any) -> None:
        """Writes a folder with a card and checksums: complete or not at all."""
        from eds.project.exchange import CardText

        card = CardText(**{name: options.pop(name) for name in CARD})
        console.show(console.project.export(name, to, card=card, lists=not no_lists, **options), render_export)

    export.params += [
        click.Option([f"--{word}"], default="", show_default=False, help=text) for word, text in CARD.items()
    ]
    return export


def _import_command(name: str) -> click.Command:
    from eds.project.exchange import source_required

    metavar = "SOURCE" if source_required(name) else "[SOURCE]"

    @command(None, name, example=f"eds benchmarks import {name} exported/{name} --project new")
    @click.argument("source", metavar=metavar, type=click.Path(path_type=Path, exists=True), required=False)
    @click.option("--campaign", metavar="NAME", help="Campaign of all votes (default: as the file says).")
    @click.option("--separate", is_flag=True, help="Keep products of queries and candidates apart.")
    @click.option("--replace", is_flag=True, help="Replace tables that other commands made.")
    def import_(console: Console, source: Path | None, **options: Any) -> None:
        """Imports tables, votes and pictures: all of them or none."""
        result = console.project.import_benchmark(name, source, **options)
        console.show(result, render_import)
        for note in result.notes:
            console.say(f"Note: {note}.")

    return import_


class ExportFormats(Formats):
    """`eds benchmarks export FORMAT`."""

    verb, make = "write", staticmethod(_export_command)


class ImportFormats(Formats):
    """`eds benchmarks import FORMAT`."""

    verb, make = "read", staticmethod(_import_command)


@click.group()
def benchmarks() -> None:
    """Import published benchmarks, export your own."""


@benchmarks.group("export", cls=ExportFormats)
def export() -> None:
    """Export the project's benchmark in a format of other tools."""


@benchmarks.group("import", cls=ImportFormats)
def import_() -> None:
    """Import a benchmark: its catalogue, labels, votes and lists."""


benchmarks.add_command(reproduce)


@command(benchmarks, "leaderboard", example="eds benchmarks leaderboard --fail-below ours:ROC-AUC=0.8")
@click.option("--out", "to", type=ADDRESS, help="The page: a path or an s3:// address (default: leaderboard.html).")
@click.option("-M", "--measures", multiple=True, metavar="MEASURE", help="A measure, as RR@10, or a preset.")
@click.option("-m", "--models", multiple=True, metavar="MODEL", help="A model beside those of the pool (default: all).")
@click.option("--fail-below", multiple=True, metavar="[MODEL:]MEASURE=VALUE", help="Fail if a value is lower.")
@click.option(
    "--compare",
    metavar="BASELINE",
    type=click.Path(exists=True, dir_okay=False),
    help="Fail if a value is below its interval in this leaderboard.json.",
)
@resamples_option
@confidence
def leaderboard(console: Console, **options: Any) -> None:
    """Write a static leaderboard: page, Markdown and JSON.

    Models have intervals and significance groups; further rows are the experts, each against the majority of the
    others, and chance. For continuous integration, --fail-below and --compare end with exit code 2.
    """
    result = console.project.leaderboard(**options)
    console.show(result, render_leaderboard)
    result.raise_failures()


ENDPOINT = click.option(
    "--endpoint", metavar="URL", help="Address of the hub (default: HF_ENDPOINT, or the public one)."
)


@command(benchmarks, "push", example="eds benchmarks push example/garments --token-env HF_TOKEN --licence cc-by-4.0")
@click.argument("repository", metavar="ORG/NAME")
@click.option("--token-env", required=True, metavar="VARIABLE", help="Environment variable that holds the token.")
@click.option("--public", is_flag=True, help="Everybody may read it (default: private).")
@ENDPOINT
@click.option("--no-images", is_flag=True, help="Write paths instead of pictures.")
@click.option("--no-lists", is_flag=True, help="Leave out the models' lists.")
@click.option("--hide-experts", is_flag=True, help="Name experts expert-1, expert-2, ...")
def push(console: Console, no_lists: bool, **options: Any) -> None:
    """Put the benchmark on the hub as a data set in MTEB's layout.

    It is what `eds benchmarks export hf` writes, as one commit. Only the token of the variable is used, never one that
    another program keeps.
    """
    from eds.project.exchange import CardText

    card = CardText(**{name: options.pop(name) for name in CARD})
    console.show(console.project.push(card=card, lists=not no_lists, **options), render_push)


push.params += [click.Option([f"--{word}"], default="", show_default=False, help=text) for word, text in CARD.items()]


@command(benchmarks, "pull", example="eds benchmarks pull example/garments --project new")
@click.argument("repository", metavar="ORG/NAME")
@click.option("--revision", metavar="NAME", help="Branch, tag or commit (default: main).")
@click.option("--token-env", metavar="VARIABLE", help="Environment variable that holds the token, for a private one.")
@ENDPOINT
@click.option("--separate", is_flag=True, help="Keep products of queries and candidates apart.")
@click.option("--replace", is_flag=True, help="Replace tables that other commands made.")
def pull(console: Console, **options: Any) -> None:
    """Download a benchmark from the hub and import it."""
    result = console.project.pull(**options)
    console.show(result, render_import)
    for note in result.notes:
        console.say(f"Note: {note}.")


def render_push(result: "PushResult") -> str:
    """Render what was pushed."""
    kind = "public" if result.public else "private"
    lines = [f"{result.address} ({kind}) has {result.export.files:,} files; commit {result.commit[:12]}."]
    if result.export.not_held:
        lines += ["It does not hold:", *(f"  - {text}" for text in result.export.not_held)]
    return "\n".join(lines)


def render_leaderboard(result: "LeaderboardResult") -> str:
    """Render the rows, what to know of them, and the changes since the baseline."""
    lines = [format_table(["model", *result.headings], result.table()), *result.notes]
    lines += [
        f"{change['model']}: {change['measure']} was {change['before']:.4g}, is {change['value']:.4g}."
        for change in result.changes
        if change["value"] is not None and change["value"] != change["before"]
    ]
    return "\n".join([*lines, f"Wrote {', '.join(result.files)}."])


def render_export(result: "ExportResult") -> str:
    """Render an export as text."""
    lines = [f"Wrote {count(result.files, 'file')} to {result.folder}: {', '.join(result.listed)}."]
    if result.not_held:
        lines += ["This format does not hold:", *(f"  - {text}" for text in result.not_held)]
    return "\n".join(lines)


def render_import(result: "ImportResult") -> str:
    """Render an import as text."""
    share = f" ({format_share(result.positives / result.pairs)})" if result.pairs else ""
    kept = ", the project's own catalogue" if result.kept_catalogue else ""
    lines = [
        f"{result.images:,} images of {result.products:,} products{kept}: {result.queries:,} queries,"
        f" {result.candidates:,} candidates.",
        f"{result.pairs:,} labelled pairs, {result.positives:,} of them similar{share}; {result.suspects:,} suspects;"
        f" {result.votes:,} new votes.",
    ]
    if result.runs:
        lines.append(f"Lists of {', '.join(result.runs)}.")
    if result.excluded:
        lines.append(f"{result.excluded:,} images of the source are neither queries nor candidates: excluded.")
    if result.pictures:
        lines.append(f"{result.pictures:,} pictures were unpacked below the image root.")
    if result.votes and not result.pairs:
        lines.append("Next: eds truth decide.")
    return "\n".join(lines)
