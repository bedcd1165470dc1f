"""Benchmark formats: one file each, with a function `write`, `read` or both.

A format's name is its file name with hyphens, its help the first line of its docstring:

    def write(benchmark: Benchmark, folder: Path, *, option: Annotated[type, "help"] = default) -> list[str]
    def read(source: Path, *, option: Annotated[type, "help"] = default) -> Benchmark

`write` returns what the format cannot hold. Keyword parameters are the format's options: `project.export` and
`project.import_benchmark` pass them through, the command line shows them with their help. A README.md that `write`
leaves in the folder precedes the card. `MARKS_RANDOM = False` says that a format cannot mark labels of random pairs, on
which its readers would measure models: an export leaves them out unless asked.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from eds.errors import InputError
from eds.plugin_options import Option, convert, read_parameters
from eds.registry import Plugins

FORMATS = Plugins("eds.benchmarks.formats", "format")


def format_names(verb: Literal["read", "write"]) -> list[str]:
    """Return the formats that can be read or written; imports none of this folder."""
    names = []
    for name in FORMATS.names():
        file = Path(__file__).with_name(f"{name.replace('-', '_')}.py")
        defined = re.search(rf"^def {verb}\(", file.read_text(encoding="utf-8"), re.MULTILINE) if file.exists() else ""
        if defined or (not file.exists() and hasattr(FORMATS.load(name), verb)):
            names.append(name)
    return names


def load_format(name: str, verb: Literal["read", "write"]) -> Callable[..., Any]:
    """Return the function of a format that reads or writes."""
    function: Callable[..., Any] | None = getattr(FORMATS.load(name), verb, None)
    if function is None:
        known = ", ".join(format_names(verb))
        raise InputError(f"format {name} can only be {'written' if verb == 'read' else 'read'}", hint=f"Use {known}.")
    return function


def format_options(name: str, verb: Literal["read", "write"]) -> list[Option]:
    """Return the options of a format's function, from its signature."""
    return read_parameters(load_format(name, verb))


def source_required(name: str) -> bool:
    """Return whether a format's `read` needs a source, or can be given its files by options."""
    first = next(iter(inspect.signature(load_format(name, "read")).parameters.values()))
    return first.default is inspect.Parameter.empty


def convert_options(name: str, verb: Literal["read", "write"], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with paths and tuples as the format declares them; refuse unknown options and missing files."""
    return convert(format_options(name, verb), options, f"format {name}")
