"""Password hashes one at a time, at low priority: strangers who sign in slow each other down, not those who judge.

A hash takes 64 MiB and all cores for a moment, by design. So one thread computes them, with the lowest share of the
processor, and a few may wait for it; more are refused.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import TypeVar

from eds.errors import EdsError

T = TypeVar("T")
MOST_WAITING = 12
NICE = 19
RETRY = 3.0  # seconds


class HashingBusyError(EdsError):
    """Too many passwords wait to be looked at."""


_waiting = threading.BoundedSemaphore(MOST_WAITING)


def at_low_priority(act: Callable[[], T]) -> T:
    """The result of a function that hashes a password; HashingBusyError when too many wait already."""
    if not _waiting.acquire(blocking=False):
        raise HashingBusyError("many people sign in just now", hint=f"Try again in {RETRY:.0f} s.")
    try:
        return _thread().submit(act).result()
    finally:
        _waiting.release()


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "passwords", _be_nice)


def _be_nice() -> None:
    """Lower the priority of this thread, and so of those that argon2 starts from it (Linux: of a thread alone)."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
