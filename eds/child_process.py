"""A child process of low priority that runs functions one after the other, and is replaced when it has died.

    child = ChildProcess(nice=10, seconds=60)
    child.call(abs, -7)                 # what the function returns or raises; or ChildEndedError
    child.close()

A thread of low priority would not do: while it holds Python's lock and gets no processor, everybody else in the process
waits for it. The function and its arguments are pickled, so the function must be one that can be imported by its name.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from eds.errors import EdsError

T = TypeVar("T")
GROUP_NICE = 5  # a third of a program's share: with much less, nobody could sign in while a machine is busy


class ChildEndedError(EdsError):
    """The process ended, or was ended, before it answered."""


class ChildProcess:
    """One process, started when it is first needed; threads may share it, it runs one function at a time."""

    def __init__(self, *, nice: int, seconds: float | None = None, one_core: bool = False) -> None:
        self.nice, self.seconds, self.one_core = nice, seconds, one_core
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        return None if self._process is None else self._process.pid

    def call(self, act: Callable[..., T], *given: Any, **named: Any) -> T:
        """Return what the function returns in the child, or raise its error; it may take `seconds`."""
        with self._lock:
            done, answer = self._answer((act, given, named))
        if not done:
            raise answer
        result: T = answer
        return result

    def close(self) -> None:
        """End the process at once, and for good: what it is at raises ChildEndedError."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()

    def _answer(self, task: object) -> tuple[bool, Any]:
        try:
            pipe = self._started()
            pipe.send(task)
            if not pipe.poll(self.seconds):
                self._end()
                raise ChildEndedError(f"takes longer than {self.seconds:.0f} s")
            answer: tuple[bool, Any] = pipe.recv()
        except (EOFError, OSError) as error:
            self._end()
            raise ChildEndedError("its process ended") from error
        return answer

    def _started(self) -> Connection:
        if self._pipe is None or self._process is None or self._process.poll() is not None:
            self._end()
            ours, theirs = socket.socketpair()
            with theirs:  # not multiprocessing's: its children load the main module, which is a page while one runs
                words = [sys.executable, "-m", "eds.child_process", str(theirs.fileno()), str(self.nice)]
                words += ["one-core"] * self.one_core
                paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
                self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                    words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=os.environ | paths
                )
            self._pipe = Connection(ours.detach())
            if self._closed:
                self._process.kill()
        return self._pipe

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._pipe = None


def yield_to_others(nice: int, *, one_core: bool = False) -> None:
    """Give this process a low priority, and on Linux a scheduling group of its own, and perhaps one core alone.

    Linux may share processors between sessions first (autogroup): in its parent's session a busy child would use up
    what the parent is due, whatever its own priority. On one core, its threads leave the others free at any moment.
    """
    if one_core:
        with suppress(OSError, AttributeError):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with suppress(OSError, AttributeError):
        os.setsid()
    with suppress(OSError, AttributeError):
        os.nice(nice)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(min(nice, GROUP_NICE)))


def serve(pipe: Connection, nice: int, *, one_core: bool = False) -> None:
    """Answer until the parent closes the pipe, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends us
    yield_to_others(nice, one_core=one_core)
    while True:
        try:
            act, given, named = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, act(*given, **named)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = False, error
        pipe.send(answer)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]), one_core="one-core" in sys.argv[3:])
