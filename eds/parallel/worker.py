"""The inside of a process of the pool: it takes tasks from a pipe and answers with receipts or errors."""

import os
import pickle
import signal
import sys
import threading
import traceback
from multiprocessing import connection, parent_process
from typing import Any

from eds.errors import EdsError
from eds.parallel.outputs import made, perform
from eds.parallel.protocol import Receipt, Spec, Work

Answer = Receipt | BaseException


def serve(pipe: "connection.Connection[Answer, tuple[Work, Spec]]") -> None:
    """Do tasks until the pipe closes. Being told to end removes what is half written, as any error does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_die_with_parent, daemon=True).start()
    work: Work | None = None
    function: Any = None
    while True:
        try:
            asked = pipe.recv_bytes()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return  # the parent has closed the pipe
        try:
            wanted, spec = pickle.loads(asked)  # noqa: S301 - from our parent
            if wanted is not work:
                work, function = wanted, made(wanted)  # one at a time: a model that is not asked for makes room
            answer: Answer = perform(wanted, function, spec)
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
            answer = portable(error)
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return


def portable(error: Exception) -> Exception:
    """The error as it can travel: ours as they are, others with the traceback that is lost on the way."""
    if isinstance(error, EdsError):
        return error
    told = "".join(traceback.format_exception(error))
    error.add_note(told)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - errors of other packages may refuse in any way
        return RuntimeError(told)
    return error


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
