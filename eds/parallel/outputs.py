"""Outputs of tasks and their receipts: how one is written, and when one that stands there counts.

`<out>.receipt` is written after `<out>` and says which task made it and its sha256. An output counts if its receipt
tells this very task (function, spec, version of the program) and its bytes have that digest. Everything else
is made again, so no half, no stale and no foreign output is ever taken.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eds import io as storage
from eds.errors import EdsError
from eds.io import files
from eds.parallel.protocol import Receipt, Spec, Work

SUFFIX = ".receipt"


def deliver(address: str, rows: int, write: Callable[[Path], object]) -> Receipt:
    """Let `write` fill a temporary file, make that the output, and vouch for it."""
    with storage.replacing(address) as temporary:
        write(temporary)
        sha256 = files.digest(temporary)
    return Receipt(address, sha256, rows)


def perform(work: Work, function: Callable[[Any], Receipt], spec: Spec) -> Receipt:
    """Do one task where we are, unless its output is there; `function` is `work`, or an instance of it."""
    key = task_key(work, spec)
    found = standing(spec.out, key)
    if found is not None:
        return found
    try:
        made = function(spec)
    except OSError as error:
        raise EdsError(f"a task failed ({error.strerror or error})", where=spec.out, do="Look at its disk.") from error
    storage.put(spec.out + SUFFIX, json.dumps({"task": key, "sha256": made.sha256, "rows": made.rows}).encode())
    return made


def standing(address: str, key: str) -> Receipt | None:
    """The receipt of an output that this task has written; None where there is none that is whole."""
    try:
        told = _told(address)
        good = told["task"] == key and storage.digest(address) == told["sha256"]
        return Receipt(address, told["sha256"], int(told["rows"])) if good else None
    except (storage.AbsentError, ValueError, KeyError, TypeError):
        return None


def vouched(work: Work, spec: Spec) -> bool:
    """Whether a receipt tells this very task; its output is not looked at."""
    try:
        return bool(_told(spec.out)["task"] == task_key(work, spec))
    except (storage.AbsentError, ValueError, KeyError, TypeError):
        return False


def disown(address: str) -> None:
    """Let an output count no more, so that its task is done again; it stays for whoever reads it now."""
    storage.put(address + SUFFIX, b"{}")


def task_key(work: Work, spec: Spec) -> str:
    """What tells this task from every other one: the function, all of its spec but where it writes, the program."""
    told = {key: value for key, value in asdict(spec).items() if key != "out"}  # type: ignore[call-overload]
    name = f"{work.__module__}:{work.__qualname__}"
    text = json.dumps([name, version("eds"), told], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def made(work: Work) -> Callable[[Any], Receipt]:
    """The function that does the work: `work` itself, or a fresh instance of it."""
    return work() if isinstance(work, type) else work


def sweep(address: str, *, everywhere: bool = False) -> None:
    """Remove what killed processes of this machine left of an output; buckets keep nothing of the kind.

    Or what any process of any machine has begun of it: for outputs that nobody shall go on with.
    """
    if not storage.is_remote(address):
        paths = [storage.local_path(part) for part in (address, address + SUFFIX)]
        for path in paths:
            begun = path.parent.glob(f".{escape(path.name)}.*.tmp")
            for leftover in begun if everywhere else files.abandoned(path):
                leftover.unlink(missing_ok=True)


def _told(address: str) -> Any:
    return json.loads(storage.read(address + SUFFIX))
