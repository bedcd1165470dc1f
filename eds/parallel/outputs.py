"""Outputs of tasks and their receipts: how an output is written, and when an existing one counts.

`<out>.receipt` is written after `<out>` and holds the task that made it and its sha256. An output counts if its receipt
names this very task (function, spec, version of eds) and its bytes have that digest. Everything else is made again, so
no partial, stale or foreign output is ever used.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from glob import escape
from pathlib import Path
from typing import Any

from eds import io as storage
from eds.distribution import VERSION
from eds.errors import EdsError
from eds.io import files
from eds.parallel.protocol import Receipt, Spec, Work

SUFFIX = ".receipt"


def deliver(address: str, rows: int, write: Callable[[Path], object]) -> Receipt:
    """Let `write` fill a temporary file and make that the output; return its receipt."""
    with storage.replacing(address) as temporary:
        write(temporary)
        sha256 = files.digest(temporary)
    return Receipt(address, sha256, rows)


def perform(work: Work, function: Callable[[Any], Receipt], spec: Spec) -> Receipt:
    """Do one task in this process, unless its output exists; `function` is `work`, or an instance of it."""
    key = task_key(work, spec)
    existing = find_output(spec.out, key)
    if existing is not None:
        return existing
    try:
        made = function(spec)
    except OSError as error:
        raise EdsError(
            f"a task failed ({error.strerror or error})", where=spec.out, hint="Look at its disk."
        ) from error
    storage.put(spec.out + SUFFIX, json.dumps({"task": key, "sha256": made.sha256, "rows": made.rows}).encode())
    return made


def find_output(address: str, key: str) -> Receipt | None:
    """The receipt of an output that this task has written; None if there is none or it is not whole."""
    try:
        receipt = _read_receipt(address)
        good = receipt["task"] == key and storage.digest(address) == receipt["sha256"]
        return Receipt(address, receipt["sha256"], int(receipt["rows"])) if good else None
    except (storage.AbsentError, ValueError, KeyError, TypeError):
        return None


def vouched(work: Work, spec: Spec) -> bool:
    """Whether a receipt names this very task; its output is not read."""
    try:
        return bool(_read_receipt(spec.out)["task"] == task_key(work, spec))
    except (storage.AbsentError, ValueError, KeyError, TypeError):
        return False


def disown(address: str) -> None:
    """Invalidate an output, so that its task is done again; the file stays for those that read it now."""
    storage.put(address + SUFFIX, b"{}")


def task_key(work: Work, spec: Spec) -> str:
    """The identity of a task: the function, the whole spec but the output's address, and the version of eds."""
    values = {key: value for key, value in asdict(spec).items() if key != "out"}  # type: ignore[call-overload]
    name = f"{work.__module__}:{work.__qualname__}"
    text = json.dumps([name, VERSION, values], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def made(work: Work) -> Callable[[Any], Receipt]:
    """The function that does the work: `work` itself, or a fresh instance of it."""
    return work() if isinstance(work, type) else work


def sweep(address: str, *, everywhere: bool = False) -> None:
    """Remove what killed processes of this machine left of an output; buckets keep no partial objects.

    With `everywhere`, remove what any process of any machine has begun of it.
    """
    if not storage.is_remote(address):
        paths = [storage.local_path(part) for part in (address, address + SUFFIX)]
        for path in paths:
            begun = path.parent.glob(f".{escape(path.name)}.*.tmp")
            for leftover in begun if everywhere else files.abandoned(path):
                leftover.unlink(missing_ok=True)


def _read_receipt(address: str) -> Any:
    return json.loads(storage.read(address + SUFFIX))
