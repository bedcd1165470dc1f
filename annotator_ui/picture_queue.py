"""Who decodes a picture next: people before preparation, and among people who has the fewest under way.

    async with queue.turn("ann", pixels) as decoder:       # waits without a thread
        ...

What is decoded at a time has a budget in pixels, which stand for memory: one picture of 100 million, or eight of 12
million if there are as many decoders. Who goes away while waiting (the page was left) gives their place up.
"""

import heapq
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import anyio

from eds.errors import EdsError
from eds.imaging import MAX_PIXELS, Decoder

MOST_WAITING = 60  # pictures of one person; a page asks for 4 at a time, a list of pairs for what is in sight
PREPARATION = ""  # the viewer of pictures that nobody asked for yet
LAST = 1_000_000


class BusyError(EdsError):
    """One person waits for too many pictures."""


@dataclass(order=True)
class _Waiting:
    rank: int
    number: int
    viewer: str = field(compare=False)
    pixels: int = field(compare=False)
    granted: anyio.Event = field(compare=False)
    decoder: Decoder | None = field(compare=False, default=None)


class PictureQueue:
    """The decoders of a server, and who waits for them; all in one event loop."""

    def __init__(self, decoders: int | None = None, pixels: int = MAX_PIXELS) -> None:
        size = decoders or max(1, (os.cpu_count() or 2) - 1)
        self.threads = anyio.CapacityLimiter(size)  # each waits for its decoder's child
        self._decoders = [Decoder() for _ in range(size)]
        self._free = list(self._decoders)
        self._pixels, self._taken = pixels, 0
        self._line: list[_Waiting] = []
        self._of_viewer: Counter[str] = Counter()
        self._numbers = count()

    @asynccontextmanager
    async def turn(self, viewer: str, pixels: int) -> AsyncIterator[Decoder]:
        """A decoder for one picture of so many pixels; BusyError if this viewer waits for MOST_WAITING already."""
        pixels = min(pixels, self._pixels)
        under_way = self._of_viewer[viewer]
        if under_way >= MOST_WAITING:
            raise BusyError("too many pictures at once", hint="Try again in a few seconds.")
        rank = under_way if viewer != PREPARATION else LAST
        entry = _Waiting(rank, next(self._numbers), viewer, pixels, anyio.Event())
        self._of_viewer[viewer] += 1
        heapq.heappush(self._line, entry)
        try:
            self._grant()
            await entry.granted.wait()
            if entry.decoder is not None:
                yield entry.decoder
        finally:
            self._of_viewer[viewer] -= 1
            self._of_viewer += Counter()  # forgets who waits for nothing
            if entry.decoder is None:
                self._line.remove(entry)
                heapq.heapify(self._line)
            else:
                self._free.append(entry.decoder)
                self._taken -= pixels
            self._grant()

    def _grant(self) -> None:
        """Let the next ones begin, as far as decoders and the budget go; a large picture waits for the others."""
        while self._line and self._free and self._taken + self._line[0].pixels <= self._pixels:
            entry = heapq.heappop(self._line)
            entry.decoder = self._free.pop()
            self._taken += entry.pixels
            entry.granted.set()

    def close(self) -> None:
        """End the decoders; what they are at is refused."""
        for decoder in self._decoders:
            decoder.close()
