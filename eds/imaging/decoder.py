"""Pictures decoded in a child process, with a limit of memory and time: a hostile file ends the child at most.

    decoder = Decoder()
    data = decoder.webp(folder / "a.png", 1200, quality=88, pixels=12_000_000)     # or ImageError
    decoder.close()

A file of a few hundred bytes may stand for 100 million pixels, and a decoder written in C may crash. The child is of
low priority, holds no lock of Python that others wait for, and is replaced when it has died.
"""

import os
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from typing import NamedTuple

from eds.errors import ImageError
from eds.imaging.decode import Box
from eds.io import Address

SECONDS = 60.0  # that one picture may take


class Task(NamedTuple):
    """What a child is asked for."""

    file: Address
    box: Box | None
    longest: int
    quality: int
    pixels: int


class Decoder:
    """One child process, started when it is first needed; one picture at a time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._closed = False

    def webp(self, file: Address, longest: int, *, box: Box | None = None, quality: int, pixels: int) -> bytes:
        """The picture as WebP, no side longer than `longest`, decoded in the memory that `pixels` may need.

        Raises ImageError where the file is not a picture. Codecs call a lack of memory a damage, too: only what is
        refused with the room of MAX_PIXELS is refused for good.
        """
        with self._lock:
            answer = self._asked(Task(file, box, longest, quality, pixels))
        if isinstance(answer, str):
            raise ImageError(answer, where=str(file))
        return answer

    def close(self) -> None:
        """End the child at once; what it was at is refused."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        with self._lock:
            self._ended()

    def _asked(self, task: Task) -> bytes | str:
        """What the child answers: the picture's bytes, or why there are none."""
        pipe = self._started()
        try:
            pipe.send(task)
            if not pipe.poll(self.seconds):
                self._ended()
                return f"decoding it takes longer than {self.seconds:.0f} s"
            answer: bytes | str = pipe.recv()
        except (EOFError, OSError):
            self._ended()
            return "decoding it failed: the decoder ended"
        return answer

    def _started(self) -> Connection:
        if self._pipe is None or self._child is None or self._child.poll() is not None:
            self._ended()
            ours, theirs = socket.socketpair()
            with theirs:  # not multiprocessing's: its children load the main module, which is a page while one runs
                words = [sys.executable, "-m", "eds.imaging.decoder_child", str(theirs.fileno())]
                paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
                self._child = subprocess.Popen(  # noqa: S603 - our own module, no shell
                    words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=os.environ | paths
                )
            self._pipe = Connection(ours.detach())
            if self._closed:
                self._child.kill()
        return self._pipe

    def _ended(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._pipe = self._child = None
