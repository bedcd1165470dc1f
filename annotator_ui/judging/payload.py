"""What the judging page sends, checked before anything is stored; every fault is told at once."""

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from eds.errors import InputError
from eds.labels.judgements import Judgement

MOST_BYTES = 256 * 1024
MOST_ACTS = 200
MOST_SKIPPED = 1000
T = TypeVar("T")


@dataclass(frozen=True)
class Flag:
    """A task set aside with a reason."""

    token: str
    assignment: int
    reason: str


@dataclass(frozen=True)
class Withdrawal:
    """A flag that is undone."""

    token: str
    assignment: int
    flag: str  # its token


@dataclass(frozen=True)
class Delivery:
    """One POST of the page: what was judged, by whom, in which tab."""

    tab: str | None  # none where it is no judging page that sends what such a page left behind
    expert: str  # who judged; another may have signed in meanwhile in the same browser
    judgements: list[Judgement]
    flags: list[Flag]
    withdrawals: list[Withdrawal]


def parse_delivery(body: bytes) -> Delivery:
    """The delivery in a request's body; InputError with every fault."""
    held = parse_object(body)
    faults: list[str] = []
    judgements = [_judgement(one, f"judgement {place}", faults) for place, one in enumerate(_rows(held, "judgements"))]
    flags = [_flag(one, f"flag {place}", faults) for place, one in enumerate(_rows(held, "flags"))]
    undone = [_withdrawal(one, f"withdrawal {place}", faults) for place, one in enumerate(_rows(held, "withdrawals"))]
    acts = len(judgements) + len(flags) + len(undone)
    if acts > MOST_ACTS:
        faults.append(f"{acts} acts at once, more than {MOST_ACTS}")
    if faults:
        raise InputError("the judgements cannot be read", where="judgements", do="Reload the page.", faults=faults)
    tab = None if held.get("tab", "") is None else text(held, "tab")
    return Delivery(tab, text(held, "expert"), _read(judgements), _read(flags), _read(undone))


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a request's body."""
    try:
        held = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("this is no JSON", where="request", do="Reload the page.") from error
    if not isinstance(held, dict):
        raise InputError("this is no JSON object", where="request", do="Reload the page.")
    return held


def text(held: dict[str, Any], name: str) -> str:
    """A short text of the object."""
    value = held.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise InputError(f"{name} is missing or no text", where="request", do="Reload the page.")
    return value


def parse_numbers(listed: str) -> list[int]:
    """The numbers of a comma-separated list."""
    parts = [part for part in listed.split(",") if part]
    if len(parts) > MOST_SKIPPED or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        raise InputError("skip is no list of numbers", where="request", do="Reload the page.")
    return [int(part) for part in parts]


def parse_count(given: str, default: int, most: int) -> int:
    """A count of a query string, from 1 to `most`."""
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 9 and 1 <= int(given) <= most):
        raise InputError(f"a count must be from 1 to {most}", where="request", do="Reload the page.")
    return int(given)


def _rows(held: dict[str, Any], name: str) -> list[Any]:
    rows = held.get(name, [])
    if not isinstance(rows, list):
        raise InputError(f"{name} is no list", where="request", do="Reload the page.")
    return rows


def _read(acts: list[T | None]) -> list[T]:
    return [one for one in acts if one is not None]


def _judgement(one: Any, where: str, faults: list[str]) -> Judgement | None:
    """A judgement; what the fields may hold, `submit` says."""
    if not isinstance(one, dict) or "value" not in one:
        faults.append(f"{where} has no value")
        return None
    names = ("token", "assignment", "value", "seconds", "mode", "guideline")
    values: dict[str, Any] = {name: one.get(name) for name in names}
    wrong = [
        name
        for name, kinds in (
            ("token", (str,)),
            ("assignment", (int,)),
            ("value", (int, type(None))),
            ("seconds", (int, float, type(None))),
            ("mode", (str, type(None))),
            ("guideline", (str, type(None))),
        )
        if not isinstance(values[name], kinds) or isinstance(values[name], bool)
    ]
    faults += [f"{where}: {name} is of the wrong kind" for name in wrong]
    return None if wrong else Judgement(**values)


def _flag(one: Any, where: str, faults: list[str]) -> Flag | None:
    values = _named(one, "reason", where, faults)
    return None if values is None else Flag(*values)


def _withdrawal(one: Any, where: str, faults: list[str]) -> Withdrawal | None:
    values = _named(one, "flag", where, faults)
    return None if values is None else Withdrawal(*values)


def _named(one: Any, what: str, where: str, faults: list[str]) -> tuple[str, int, str] | None:
    """The token, the assignment and a text of that name; None, and a fault, where one of them is not there."""
    held: dict[str, Any] = one if isinstance(one, dict) else {}
    token, assignment, said = (held.get(name) for name in ("token", "assignment", what))
    if not isinstance(token, str) or not isinstance(said, str) or type(assignment) is not int:
        faults.append(f"{where} cannot be read")
        return None
    return token, assignment, said
