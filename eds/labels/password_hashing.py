"""Password hashes one at a time, at low priority: strangers who sign in slow each other down, not those who judge.

A hash takes 64 MiB and all cores for a moment, by design. So one child process computes them, on one core, with the
lowest share of it, and a few may wait for it; more are refused.
"""

import atexit
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from eds.child_process import ChildEndedError, ChildProcess
from eds.errors import EdsError

P = ParamSpec("P")
T = TypeVar("T")
MOST_WAITING = 12
RETRY = 3.0  # seconds
NICE = 19


class HashingBusyError(EdsError):
    """Too many passwords wait to be looked at."""


_waiting = threading.BoundedSemaphore(MOST_WAITING)
_child = ChildProcess(nice=NICE, one_core=True)


def at_low_priority(act: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What a function that hashes a password returns or raises; HashingBusyError when too many wait already."""
    if not _waiting.acquire(blocking=False):
        raise _busy()
    try:
        return _child.call(act, *given, **named)
    except ChildEndedError as error:
        raise _busy() from error
    finally:
        _waiting.release()


def _busy() -> HashingBusyError:
    return HashingBusyError("many people sign in just now", hint=f"Try again in {RETRY:.0f} s.")


@atexit.register
def _end() -> None:
    with suppress(OSError):
        _child.close()
