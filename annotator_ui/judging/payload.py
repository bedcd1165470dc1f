"""What the judging page sends, checked before anything is stored; every fault is told at once."""

import json
from dataclasses import dataclass
from typing import Any

from eds.errors import InputError
from eds.labels.events import Judgement

MOST_BYTES = 256 * 1024
MOST_ACTS = 200
MOST_SKIPPED = 1000


@dataclass(frozen=True)
class Flag:
    """A task set aside with a reason."""

    token: str
    assignment: int
    reason: str


@dataclass(frozen=True)
class Delivery:
    """One POST of the page: what was judged, by whom, in which tab."""

    tab: str | None  # none where it is no judging page that sends what such a page left behind
    expert: str  # who judged; another may have signed in meanwhile in the same browser
    judgements: list[Judgement]
    flags: list[Flag]


def parse_delivery(body: bytes) -> Delivery:
    """The delivery in a request's body; InputError with every fault."""
    held = parse_object(body)
    faults: list[str] = []
    judgements = [_judgement(one, f"judgement {place}", faults) for place, one in enumerate(_rows(held, "judgements"))]
    flags = [_flag(one, f"flag {place}", faults) for place, one in enumerate(_rows(held, "flags"))]
    if len(judgements) + len(flags) > MOST_ACTS:
        faults.append(f"{len(judgements) + len(flags)} acts at once, more than {MOST_ACTS}")
    if faults:
        raise InputError("the judgements cannot be read", where="judgements", do="Reload the page.", faults=faults)
    kept = [one for one in judgements if one is not None]
    tab = None if held.get("tab", "") is None else text(held, "tab")
    return Delivery(tab, text(held, "expert"), kept, [one for one in flags if one is not None])


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
    names = ("token", "assignment", "reason")
    values: dict[str, Any] = {name: one.get(name) if isinstance(one, dict) else None for name in names}
    right = isinstance(values["token"], str) and isinstance(values["reason"], str)
    if not right or type(values["assignment"]) is not int:
        faults.append(f"{where} cannot be read")
        return None
    return Flag(**values)
