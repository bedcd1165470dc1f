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
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal

from eds.errors import InputError
from eds.registry import Plugins

FORMATS = Plugins("eds.benchmarks.formats", "format")


@dataclass(frozen=True)
class Option:
    """A keyword parameter of `read` or `write`; `choices` where it is a Literal."""

    name: str
    help: str
    type: Any
    default: Any
    choices: tuple[str, ...] = ()
    multiple: bool = False


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
        raise InputError(f"format {name} can only be {'written' if verb == 'read' else 'read'}", do=f"Use {known}.")
    return function


def format_options(name: str, verb: Literal["read", "write"]) -> list[Option]:
    """Return the options of a format's function, from its signature."""
    function = load_format(name, verb)
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return [_option(one, hints[one.name]) for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


def source_required(name: str) -> bool:
    """Return whether a format's `read` needs a source, or can be given its files by options."""
    first = next(iter(inspect.signature(load_format(name, "read")).parameters.values()))
    return first.default is inspect.Parameter.empty


def convert_options(name: str, verb: Literal["read", "write"], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with paths and tuples as the format declares them; refuse unknown options and missing files."""
    known = {option.name: option for option in format_options(name, verb)}
    values, faults = {}, []
    for key, value in options.items():
        if key not in known:
            faults.append(f"unknown option {key}")
            continue
        option = known[key]
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if option.type is Path:
            items = [None if item is None else Path(item) for item in items]
            faults += [f"{key}: no file {str(item)!r}" for item in items if item is not None and not item.is_file()]
        if option.choices:
            faults += [
                f"{key}: {item!r} is not one of {', '.join(option.choices)}"
                for item in items
                if item not in option.choices
            ]
        values[key] = tuple(items) if option.multiple else items[0]
    if faults:
        do = f"Format {name} has the options: {', '.join(known) or 'none'}."
        raise InputError("invalid options", where=f"format {name}", do=do, faults=faults)
    return values


def _option(parameter: inspect.Parameter, hint: Any) -> Option:
    text = ""
    if typing.get_origin(hint) is typing.Annotated:
        hint, text = typing.get_args(hint)[:2]
    if typing.get_origin(hint) in (typing.Union, UnionType):
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return Option(parameter.name, text, str, parameter.default, choices=parts)
    if origin is tuple:
        return Option(parameter.name, text, parts[0], parameter.default, multiple=True)
    return Option(parameter.name, text, hint, parameter.default)
