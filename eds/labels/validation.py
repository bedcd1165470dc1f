"""Which texts may enter the store: names, ids, reasons. Errors say where and why."""

from collections.abc import Iterable

from eds.errors import InputError
from eds.labels.schema import LONGEST_ID, LONGEST_TEXT

LONGEST_NAME = 100
SHOWN = 40
MOST_SECONDS = 1e9  # of one judgement
FORMULAS = ("=", "+", "-", "@")  # a spreadsheet takes what begins with one of these for a formula


def fault_of(text: object, longest: int = LONGEST_ID, *, empty: bool = False) -> str:
    """What keeps a text out of the store; nothing if it may come in."""
    if not isinstance(text, str):
        return f"is {type(text).__name__}, not text"
    if not text and not empty:
        return "is empty"
    if "\0" in text:
        return f"{short(text)} holds the character NUL"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return f"{short(text)} holds half a character (a lone surrogate)"
    return f"{short(text)} has {size:,} bytes, more than {longest:,}" if size > longest else ""


def check(text: object, where: str, longest: int = LONGEST_ID, *, empty: bool = False) -> str:
    """The text, if it may enter the store; else InputError."""
    fault = fault_of(text, longest, empty=empty)
    if fault or not isinstance(text, str):
        raise InputError(fault, where=where, hint="Give another text.")
    return text


def check_long(text: object, where: str) -> str:
    """A reason or a guideline: longer than a name, and possibly empty."""
    return check(text, where, LONGEST_TEXT, empty=True)


def check_name(name: object, where: str) -> str:
    """A name of an expert or a campaign: short, printable, no blanks at its ends."""
    result = check(name, where, 4 * LONGEST_NAME)
    if len(result) > LONGEST_NAME or not result.isprintable() or result != result.strip():
        raise InputError(
            f"{short(result)} cannot be a name",
            where=where,
            hint=f"Use at most {LONGEST_NAME} printable characters, with no blank at either end.",
        )
    return result


def check_new_name(name: object, where: str) -> str:
    """The same for a name that is given now: a spreadsheet must not take it for a formula when it is exported."""
    result = check_name(name, where)
    if result.startswith(FORMULAS):
        raise InputError(
            f"{short(result)} begins with {result[0]}, which spreadsheets take for a formula",
            where=where,
            hint="Begin it with a letter or a digit.",
        )
    return result


def short(text: str) -> str:
    """The text as a message shows it."""
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}… ({len(text):,} characters)"


def refuse(faults: Iterable[str], what: str, where: str, hint: str, kind: type[InputError] = InputError) -> None:
    """Raise one error of this kind with all faults, if there are any."""
    result = list(faults)
    if result:
        shown = [*result[:20], *([f"and {len(result) - 20:,} more"] if len(result) > 20 else [])]
        raise kind(
            shown[0] if len(shown) == 1 else f"{len(result):,} {what}",
            where=where,
            hint=hint,
            faults=shown if len(shown) > 1 else (),
        )
