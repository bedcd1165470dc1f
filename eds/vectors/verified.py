"""Shards held against their digests: once for each state of a file, which is remembered.

A state is size, time of change and inode. Hashing costs less than any product with the vectors, and damage that nobody
looks for changes scores in silence. The memory is the project's `.eds/verified/MODEL.json`, and this process.
"""

import json
from contextlib import suppress
from pathlib import Path

from eds.errors import EdsError
from eds.io.files import digest, write_text
from eds.vectors.model import Model

State = tuple[int, int, int, str]  # size, time of change in ns, inode, sha256

_seen: dict[Path, State] = {}


def altered_shards(folder: Path, model: Model) -> dict[int, str]:
    """Map each altered shard's number to what is wrong with it; missing shards are left out."""
    memory = _memory(folder)
    remembered = _read(memory)
    found, new = {}, False
    for shard in model.shards:
        path = (folder / shard.file).resolve()
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        state = status.st_size, status.st_mtime_ns, status.st_ino, shard.sha256
        if state in (_seen.get(path), remembered.get(shard.file)):
            continue
        if digest(path) != shard.sha256:
            found[shard.number] = f"{shard.file} is not the file that was written (its sha256 differs)"
        else:
            _seen[path] = remembered[shard.file] = state
            new = True
    if new and memory is not None:
        files = {shard.file for shard in model.shards}
        kept = {file: state for file, state in remembered.items() if file in files}
        with suppress(EdsError, OSError):  # of a folder that may only be read: hashed again next time
            write_text(memory, json.dumps(kept))
    return found


def _memory(folder: Path) -> Path | None:
    """Where a project remembers; None for a folder of vectors outside of projects."""
    own = folder.resolve().parent.parent / ".eds"
    return own / "verified" / f"{folder.name}.json" if own.is_dir() else None


def _read(memory: Path | None) -> dict[str, State]:
    if memory is None:
        return {}
    try:
        content = json.loads(memory.read_text(encoding="utf-8"))
        return {
            str(file): (int(size), int(time), int(node), str(sha)) for file, (size, time, node, sha) in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
