"""The server's secret: made once, kept in the project readable by its owner only; and keys derived from it."""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from eds.errors import ProjectError

LENGTH = 32


def read_secret(root: Path) -> bytes:
    """Return the project's secret, created at the first call; safe with several processes."""
    path = root / ".eds" / "annotator.key"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        _make(path)
    result = path.read_bytes()
    if len(result) != LENGTH:
        raise ProjectError(
            "the server's secret is damaged", where=str(path), hint="Remove the file: a new one is made."
        )
    return result


def derived(secret: bytes, purpose: str) -> bytes:
    """A key of its own for each purpose."""
    return hmac.digest(secret, purpose.encode(), "sha256")


def _make(path: Path) -> None:
    """Write it whole under another name, then link it into place: the first one stays."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, secrets.token_bytes(LENGTH))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
