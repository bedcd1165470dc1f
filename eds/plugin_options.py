"""Options of plug-ins, read from what they declare: Python passes them by name, the command line as options.

A plug-in declares them as keyword parameters (`Annotated[type, "help"] = default`) or as a dataclass whose fields carry
`metadata={"help": ...}`.
"""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal

from eds.errors import InputError


@dataclass(frozen=True)
class Option:
    """An option of a plug-in; `choices` where it is a Literal, `multiple` where it is a tuple."""

    name: str
    help: str
    type: Any
    default: Any
    choices: tuple[str, ...] = ()
    multiple: bool = False


def read_parameters(function: Callable[..., Any]) -> list[Option]:
    """Return the keyword-only parameters of a function as options."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return [
        make_option(parameter.name, hints[parameter.name], parameter.default)
        for parameter in parameters
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def read_fields(kind: type[Any]) -> list[Option]:
    """Return the fields of a dataclass as options."""
    hints = typing.get_type_hints(kind)
    return [
        make_option(
            field.name,
            hints[field.name],
            None if field.default is MISSING else field.default,
            field.metadata.get("help", ""),
        )
        for field in fields(kind)
    ]


def make_option(name: str, hint: Any, default: Any, help_text: str = "") -> Option:
    """Return the option that a type hint declares.

    >>> make_option("k", int | None, None, "Depth.")
    Option(name='k', help='Depth.', type=<class 'int'>, default=None, choices=(), multiple=False)
    >>> make_option("modes", tuple[Literal["a", "b"], ...], ("a",)).choices
    ('a', 'b')
    """
    if typing.get_origin(hint) is typing.Annotated:
        hint, help_text = typing.get_args(hint)[:2]
    if typing.get_origin(hint) in (typing.Union, UnionType):
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
    multiple = typing.get_origin(hint) is tuple
    kind = typing.get_args(hint)[0] if multiple else hint
    choices: tuple[str, ...] = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
    return Option(name, help_text, str if choices else kind, default, choices, multiple)


def convert(options: Sequence[Option], given: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Return the given values as the options declare them: paths, tuples, and what a type parses from text.

    Refuses unknown options, missing files and values that are not among the choices, all at once.
    """
    known = {option.name: option for option in options}
    values, faults = {}, []
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            faults.append(f"unknown option {name}")
            continue
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if parse := getattr(option.type, "parse", None):
            items = [parse(item) if isinstance(item, str) else item for item in items]
        if option.type is Path:
            items = [None if item is None else Path(item) for item in items]
            faults += [f"{name}: no file {str(item)!r}" for item in items if item is not None and not item.is_file()]
        if option.choices:
            choices = ", ".join(option.choices)
            allowed = (*option.choices, option.default)
            faults += [f"{name}: {item!r} is not one of {choices}" for item in items if item not in allowed]
        values[name] = tuple(items) if option.multiple else items[0]
    if faults:
        hint = f"{owner[:1].upper()}{owner[1:]} has the options: {', '.join(known) or 'none'}."
        raise InputError("invalid options", where=owner, hint=hint, faults=faults)
    return values
