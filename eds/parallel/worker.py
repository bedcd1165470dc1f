"""The inside of a worker process: it does tasks, and an error is an answer."""

import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import Any

from eds.errors import EdsError
from eds.parallel.outputs import made, perform
from eds.parallel.protocol import Receipt, Spec, Work

_warm: dict[Work, Callable[[Any], Receipt]] = {}  # one at a time: a model that is no longer used makes room


def prepare() -> None:
    """Let a process end with its parent, and remove what is half written when it is terminated, as any error does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def attempt(work: Work, spec: Spec) -> Receipt | Exception:
    """Do a task; the instance of a class is made for the first one, so that its errors are answers too."""
    try:
        if work not in _warm:
            _warm.clear()
            _warm[work] = made(work)
        return perform(work, _warm[work], spec)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
        return portable(error)


def portable(error: Exception) -> Exception:
    """The error as it can be pickled: our own as they are, others with the traceback that is lost on the way."""
    if isinstance(error, EdsError):
        return error
    text = "".join(traceback.format_exception(error))
    error.add_note(text)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - errors of other packages may refuse in any way
        return RuntimeError(text)
    return error


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
