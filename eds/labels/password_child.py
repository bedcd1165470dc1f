"""The child process of password_hashing.py: computes one hash after the other, with the lowest priority."""

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

NICE = 19


def serve(pipe: Connection) -> None:
    """Answer until the parent closes the pipe, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends us
    with suppress(OSError, AttributeError):
        os.nice(NICE)
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
    serve(Connection(int(sys.argv[1])))
