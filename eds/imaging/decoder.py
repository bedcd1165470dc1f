"""Pictures decoded in a child process, with a limit of memory and time: a hostile file ends the child at most.

    decoder = Decoder()
    data = decoder.webp(folder / "a.png", 1200, quality=88, pixels=12_000_000)     # or ImageError
    decoder.close()

A file of a few hundred bytes may stand for 100 million pixels, and a decoder written in C may crash. The child is of
low priority, holds no lock of Python that others wait for, and is replaced when it has died.
"""

import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from eds.errors import ImageError
from eds.imaging.decode import Box
from eds.imaging.locations import read_bytes
from eds.imaging.shrink import shrunk_rgb
from eds.io import Address

NICE = 10
SECONDS = 60.0  # that one picture may take
ROOM = 300 * 2**20  # bytes that a child may take beside the pixels: the file, the codec, the result
BYTES = 12  # of memory for each pixel: as stored, as the codec keeps it, and a copy


class _Task(NamedTuple):
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
        self._child: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._closed = False

    def webp(self, file: Address, longest: int, *, box: Box | None = None, quality: int, pixels: int) -> bytes:
        """The picture as WebP, no side longer than `longest`, decoded in the memory that `pixels` may need.

        Raises ImageError where the file is not a picture. Codecs call a lack of memory a damage, too: only what is
        refused with the room of MAX_PIXELS is refused for good.
        """
        with self._lock:
            answer = self._asked(_Task(file, box, longest, quality, pixels))
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

    def _asked(self, task: _Task) -> bytes | str:
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
        if self._pipe is None or self._child is None or not self._child.is_alive():
            self._ended()
            context = multiprocessing.get_context("spawn")  # a fork would inherit locks that other threads hold
            self._pipe, theirs = context.Pipe()
            self._child = context.Process(target=_serve, args=(theirs,), name="pictures", daemon=True)
            self._child.start()
            theirs.close()
            if self._closed:
                self._child.kill()
        return self._pipe

    def _ended(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._child.close()
        self._pipe = self._child = None


def _serve(pipe: Connection) -> None:
    """The child: answer until the parent closes the pipe, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends us
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    while True:
        try:
            task: _Task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            with memory_limit(ROOM + BYTES * task.pixels):
                answer: bytes | str = _webp(task)
        except ImageError as error:
            answer = error.what
        except MemoryError:
            answer = "decoding it needs too much memory"
        pipe.send(answer)


def _webp(task: _Task) -> bytes:
    shrunk = shrunk_rgb(read_bytes(task.file), task.longest, where=str(task.file), box=task.box)
    memory = io.BytesIO()
    shrunk.save(memory, "WEBP", quality=task.quality, method=4)
    return memory.getvalue()


@contextmanager
def memory_limit(size: int) -> Iterator[None]:
    """Raise MemoryError in the block when this process needs more than `size` bytes beyond what it has (Linux)."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + size
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
