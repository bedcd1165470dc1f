"""The child process of a Decoder: decodes one picture after the other, with a limit of memory for each."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from eds.errors import ImageError
from eds.imaging.decoder import Task
from eds.imaging.locations import read_bytes
from eds.imaging.shrink import shrunk_rgb

NICE = 10
ROOM = 300 * 2**20  # bytes that a child may take beside the pixels: the file, the codec, the result
BYTES = 12  # of memory for each pixel: as stored, as the codec keeps it, and a copy


def serve(pipe: Connection) -> None:
    """Answer until the parent closes the pipe, or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends us
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    while True:
        try:
            task: Task = pipe.recv()
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


def _webp(task: Task) -> bytes:
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


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
