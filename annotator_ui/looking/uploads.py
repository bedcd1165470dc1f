"""Pictures that leads search by: decoded in a child process, kept for their viewer while the server runs."""

import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from annotator_ui.picture_queue import PictureQueue
from eds.imaging import Decoder

MOST_PIXELS = 40_000_000  # they stand for the memory that the decoder's child may take
LONGEST = 2048  # pixels of a side; a larger picture is made smaller, others keep every pixel
KEPT = 20  # pictures on disk; the oldest goes


@dataclass(frozen=True)
class Upload:
    """A picture as it was decoded."""

    viewer: str
    name: str
    file: Path


class Uploads:
    """The uploaded pictures of a server."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="eds-uploads-"))
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._changing = threading.Lock()

    async def add(self, viewer: str, name: str, data: bytes, queue: PictureQueue) -> str:
        """Decode a picture and keep it; the token by which its viewer finds it. ImageError if it is none."""
        token = secrets.token_urlsafe(16)
        async with queue.turn(viewer, MOST_PIXELS) as decoder:
            made = await to_thread.run_sync(self._decoded, token, data, decoder, limiter=queue.threads)
        with self._changing:
            self._kept[token] = Upload(viewer, name, made)
            gone = [self._kept.popitem(last=False)[1] for _ in range(len(self._kept) - KEPT)]
        for upload in gone:
            upload.file.unlink(missing_ok=True)
        return token

    def find(self, viewer: str, token: str) -> Upload | None:
        """Return this viewer's picture; None if it is another's, or gone."""
        upload = self._kept.get(token)
        return upload if upload is not None and upload.viewer == viewer and upload.file.exists() else None

    def close(self) -> None:
        """Delete the pictures."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _decoded(self, token: str, data: bytes, decoder: Decoder) -> Path:
        sent, made = self._folder / f"{token}.sent", self._folder / f"{token}.webp"
        try:
            sent.write_bytes(data)
            made.write_bytes(decoder.webp(sent, LONGEST, quality=None, pixels=MOST_PIXELS))
        finally:
            sent.unlink(missing_ok=True)
        return made
