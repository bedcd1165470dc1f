"""Pictures decoded in a child process, with a limit of memory and time: a hostile file ends the child at most.

    decoder = Decoder()
    data = decoder.webp(folder / "a.png", 1200, quality=88, pixels=12_000_000)     # or ImageError
    decoder.close()

A file of a few hundred bytes may stand for 100 million pixels, and a decoder written in C may crash.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eds.child_process import ChildEndedError, ChildProcess
from eds.errors import ImageError
from eds.imaging.decode import Box
from eds.imaging.locations import read_bytes
from eds.imaging.thumbnails import shrunk_rgb
from eds.io import Address

SECONDS = 60.0  # that one picture may take
NICE = 10
ROOM = 300 * 2**20  # bytes that a child may take beside the pixels: the file, the codec, the result
BYTES = 12  # of memory for each pixel: as stored, as the codec keeps it, and a copy


class Decoder:
    """One child process; one picture at a time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.child = ChildProcess(nice=NICE, seconds=seconds)

    def webp(self, file: Address, longest: int, *, box: Box | None = None, quality: int | None, pixels: int) -> bytes:
        """The picture as WebP, no side longer than `longest`, decoded in the memory that `pixels` may need.

        Without a quality no pixel is changed by the compression.

        Raises ImageError where the file is not a picture. Codecs call a lack of memory a damage, too: only what is
        refused with the room of MAX_PIXELS is refused for good.
        """
        try:
            return self.child.call(encoded, file, longest, box, quality, ROOM + BYTES * pixels)
        except ChildEndedError as error:
            raise ImageError(f"decoding it failed: {error.what}", where=str(file)) from error

    def close(self) -> None:
        """End the child at once; what it is at is refused."""
        self.child.close()


def encoded(file: Address, longest: int, box: Box | None, quality: int | None, memory: int) -> bytes:
    """The picture as WebP, made in so many bytes of memory beyond what the process has."""
    try:
        with memory_limit(memory):
            shrunk = shrunk_rgb(read_bytes(file), longest, where=str(file), box=box)
            stream = io.BytesIO()
            if quality is None:
                shrunk.save(stream, "WEBP", lossless=True, method=0)
            else:
                shrunk.save(stream, "WEBP", quality=quality, method=4)
            return stream.getvalue()
    except MemoryError as error:
        raise ImageError("decoding it needs too much memory", where=str(file)) from error


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
