"""Cores and threads of this process."""

import os

from eds.errors import InputError

MOST_THREADS = 8


def cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """The number of threads, checked; None: one per core, at most 8."""
    if threads is None:
        return min(MOST_THREADS, cores())
    if threads < 1:
        raise InputError(f"threads is {threads}", hint="Give a number from 1 up.")
    return threads
