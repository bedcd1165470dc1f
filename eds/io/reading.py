"""The boundary for files that others wrote: whatever their parsers raise becomes one clear error about the file.

    with reading(path):
        table = pq.read_table(path)                    # any complaint: an InputError that names the file
    header = shaped(Header, json.loads(text), path)    # a pydantic model, before any code touches the content

Parsers of foreign formats raise many kinds of exceptions on damaged files, in zipfile and numpy undocumented ones, so
no list of exceptions is complete.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from eds.errors import EdsError, InputError
from eds.io.files import forbidden

T = TypeVar("T")
AGAIN = "Get or write it again."
SHOWN = 10  # faults
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # in a name they break what shows it
LONGEST = 200  # characters of a parser's complaint


@contextmanager
def reading(path: Path | str, what: str = "cannot be read", hint: str = AGAIN) -> Iterator[None]:
    """Turn whatever is raised in the block, but errors of eds, into an InputError about this file."""
    try:
        yield
    except EdsError:
        raise
    except FileNotFoundError as error:
        raise InputError("there is no such file", where=str(path), hint="Correct the path.") from error
    except PermissionError as error:
        raise forbidden(Path(path)) from error
    except MemoryError as error:
        raise InputError("needs more memory than this machine has", where=str(path), hint=AGAIN) from error
    except Exception as error:
        raise InputError(f"{what} ({complaint(error)})", where=str(path), hint=hint) from error


def complaint(error: BaseException) -> str:
    """A parser's complaint in one printable line.

    >>> complaint(KeyError("shape"))
    "KeyError: 'shape'"
    """
    text = (str(error).splitlines() or [""])[0].rstrip(".")
    line = "".join(sign if sign.isprintable() else "?" for sign in text)[:LONGEST]
    return line if isinstance(error, (OSError, ValueError)) and line else f"{type(error).__name__}: {line}".rstrip(": ")


def shaped(shape: type[T] | TypeAdapter[T], content: Any, path: Path | str, hint: str = AGAIN) -> T:
    """The content in the shape of a pydantic model or type; or an InputError with every place that differs."""
    adapter = shape if isinstance(shape, TypeAdapter) else TypeAdapter(shape)
    try:
        return adapter.validate_python(content)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, entry['loc'])) or 'the whole'}: {entry['msg']}" for entry in error.errors()]
        more = [f"and {len(wrong) - SHOWN:,} more"] if len(wrong) > SHOWN else []
        faults = wrong[:SHOWN] + more
        raise InputError(
            faults[0] if len(faults) == 1 else "its content has another shape than it should",
            where=str(path),
            hint=hint,
            faults=faults if len(faults) > 1 else (),
        ) from error
