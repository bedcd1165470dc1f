"""Password hashes one at a time, at low priority: strangers who sign in slow each other down, not those who judge.

A hash takes 64 MiB and all cores for a moment, by design. So one child process computes them, with the lowest share of
the processor, and a few may wait for it; more are refused. A thread of low priority would not do: while it holds
Python's lock and gets no processor, everybody else of the process waits for it.
"""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from eds.errors import EdsError

P = ParamSpec("P")
T = TypeVar("T")
MOST_WAITING = 12
RETRY = 3.0  # seconds


class HashingBusyError(EdsError):
    """Too many passwords wait to be looked at."""


_waiting = threading.BoundedSemaphore(MOST_WAITING)


def at_low_priority(act: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What a function that hashes a password returns or raises; HashingBusyError when too many wait already.

    The function and what it is given are sent to another process, so they must be such as pickle knows.
    """
    if not _waiting.acquire(blocking=False):
        raise _busy()
    try:
        done, result = _CHILD.ask((act, given, named))
    finally:
        _waiting.release()
    if not done:
        raise result
    answer: T = result
    return answer


class _Child:
    """The process that hashes, started when it is first needed, and again if it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    def ask(self, task: object) -> tuple[bool, Any]:
        """Whether the task was done, and its result; or its error."""
        with self._lock:
            for _ in range(2):  # one that died while nobody asked is noticed when it is asked
                try:
                    pipe = self._started()
                    pipe.send(task)
                    answer: tuple[bool, Any] = pipe.recv()
                except (EOFError, OSError):
                    self.close()
                else:
                    return answer
        return False, _busy()

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._pipe = None

    def _started(self) -> Connection:
        if self._pipe is None:
            ours, theirs = socket.socketpair()
            with theirs:  # not multiprocessing's: its children load the main module, which is a page while one runs
                words = [sys.executable, "-m", "eds.labels.password_child", str(theirs.fileno())]
                paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
                self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                    words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=os.environ | paths
                )
            self._pipe = Connection(ours.detach())
        return self._pipe


def _busy() -> HashingBusyError:
    return HashingBusyError("many people sign in just now", hint=f"Try again in {RETRY:.0f} s.")


_CHILD = _Child()


@atexit.register
def _end() -> None:
    with suppress(OSError):
        _CHILD.close()
