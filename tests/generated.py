"""The generated parts of the documentation: `make docs` writes them, a test holds them against the code.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->` in a README.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from eds import registry
from eds.benchmarks.formats import FORMATS, format_names
from eds.cli import cli
from eds.schema import Table
from eds.tables import DECLARED, TABLES

ROOT = Path(__file__).parents[1]
PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def flow() -> str:
    """The seven tables in short."""
    lines = ["| table | one row is | key |", "|---|---|---|"]
    lines += [
        f"| `{table.name}` | {table.row} | {', '.join(f'`{k}`' for k in table.key)} |" for table in TABLES.values()
    ]
    return "\n".join(lines)


def columns() -> str:
    """Every column of every table."""
    return "\n\n".join(_columns(table) for table in DECLARED.values())


def _columns(table: Table) -> str:
    lines = [f"### {table.name}", "", f"One row is {table.row}. Key: {', '.join(table.key)}.", ""]
    lines += ["| column | kind | meaning |", "|---|---|---|"]
    for column in table.columns:
        options = f" ({', '.join(map(str, column.allowed))})" if column.allowed else ""
        kind = f"{column.kind}, may be empty" if column.nullable else column.kind
        lines.append(f"| `{column.name}` | {kind} | {column.meaning}{options} |")
    if table.further:
        lines.append("\nFurther columns of your own pass through.")
    return "\n".join(lines)


def commands() -> str:
    """The command line's reference, from its own help."""
    parts = []
    for words, command in every_command(cli, ["eds"]):
        context = click.Context(command, info_name=" ".join(words), terminal_width=100, **command.context_settings)
        parts.append(f"### {' '.join(words)}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


def every_command(command: click.Command, words: list[str]) -> Iterator[tuple[list[str], click.Command]]:
    """Each command that does something, with the words that call it."""
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None:
            yield from every_command(found, [*words, name])


def plugins() -> str:
    """Every family of plug-ins with its members and what they are."""
    families = {name: value for name, value in vars(registry).items() if isinstance(value, registry.Plugins)}
    parts = []
    for family in [*families.values(), FORMATS]:
        lines = [f"### {family.noun}", "", f"One file each in `{family.package.replace('.', '/')}/`.", ""]
        lines += ["| name | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {family.help(name).replace('|', chr(92) + '|')} |" for name in family]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def formats() -> str:
    """The formats of benchmarks, with the commands that read and write them."""
    read, written = format_names("read"), format_names("write")
    lines = ["| format | what it is | commands |", "|---|---|---|"]
    for name in FORMATS:
        commands = [f"`eds benchmarks import {name}`"] * (name in read) + [f"`eds benchmarks export {name}`"] * (
            name in written
        )
        lines.append(f"| `{name}` | {FORMATS.help(name)} | {', '.join(commands)} |")
    return "\n".join(lines)


PARTS = {"flow": flow, "columns": columns, "commands": commands, "plugins": plugins, "formats": formats}


def renewed(text: str) -> str:
    """The text with every generated part made anew."""
    return PART.sub(lambda found: f"{found.group(1)}{PARTS[found.group('name')]()}\n{found.group(3)}", text)


def readmes() -> list[Path]:
    """Every README of the project."""
    return [
        path
        for path in sorted(ROOT.rglob("*.md"))
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]


if __name__ == "__main__":
    for path in readmes():
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
