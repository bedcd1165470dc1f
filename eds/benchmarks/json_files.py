"""JSON that others wrote: read whole, or told where it ends, is damaged, or has other keys than it should."""

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eds.errors import InputError

SHOWN = 10  # faults of one file that are told


class Faults:
    """What is wrong with several files, told together: each fault with its file."""

    def __init__(self) -> None:
        self._told: dict[str, list[str]] = {}

    def add(self, file: Path, told: Iterable[str]) -> None:
        """Remember the faults of a file."""
        self._told.setdefault(str(file), []).extend(told)

    def any(self) -> bool:
        """Whether there are faults."""
        return any(self._told.values())

    def refuse(self, what: str, do: str) -> None:
        """Raise one error for all of them, or return when there are none."""
        lines = []
        for file, told in self._told.items():
            lines += [f"{file}: {fault}" for fault in told[:SHOWN]]
            lines += [f"{file}: and {len(told) - SHOWN:,} more"] if len(told) > SHOWN else []
        if lines:
            raise InputError(what, where=", ".join(file for file, told in self._told.items() if told), do=do,
                             faults=lines)  # fmt: skip


def read_json(file: Path, *, exact: bool = False) -> Any:
    """The content of a JSON file; a file that ends in the middle is told as such.

    `exact`: NaN and Infinity, which Python writes and JSON does not know, are refused: they would count as missing.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start:,})", where=str(file), do="Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})", where=str(file), do="Give a readable file."
        ) from error
    try:
        return json.loads(text, parse_constant=no_number if exact else None)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno:,}, column {error.colno:,}"
        if _ends_early(text, error):
            raise InputError(
                f"ends in the middle ({place}): it was written or copied in part",
                where=str(file),
                do="Get the whole file again; nothing was imported.",
            ) from error
        raise InputError(f"is no JSON ({error.msg}, {place})", where=str(file), do="Mend that place.") from error
    except (ValueError, RecursionError) as error:  # a constant, a number of too many digits, lists within lists
        raise InputError(f"is no JSON that can be read ({error})", where=str(file), do="Write it anew.") from error


def no_number(name: str) -> Any:
    """Refuse NaN and Infinity, as json's `parse_constant`."""
    raise ValueError(f"it holds {name}: give a number, or null")


def _ends_early(text: str, error: json.JSONDecodeError) -> bool:
    """Whether what is wrong is only that the text ends: behind its last value, within a text, within an escape."""
    rest = text[error.pos :].strip()
    return not rest or error.msg.startswith("Unterminated string") or ("escape" in error.msg and len(rest) < 6)


def wrong_keys(entry: dict[str, Any], needed: Iterable[str]) -> list[str]:
    """What an object lacks, each with the key that was perhaps meant.

    >>> wrong_keys({"vlaue": 1, "key": []}, ["key", "value"])
    ["no 'value' (it has vlaue, key; did you mean vlaue?)"]
    """
    told = []
    for name in needed:
        if name in entry:
            continue
        near = difflib.get_close_matches(name, [str(key) for key in entry], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        told.append(f"no {name!r} (it has {', '.join(map(str, entry)) or 'nothing'}{hint})")
    return told
