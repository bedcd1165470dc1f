"""How the work is cut into blocks and shared among threads; none of it changes a result.

Matrix products run in threads of our own: each does all of a share of the work, and none waits for another's. BLAS's
threads work on one product at a time and spin, without use, while what is between two products is done.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from os import cpu_count
from threading import Lock

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from eds.errors import InputError
from eds.parallel.cores import thread_count

BLOCK = 2048  # vectors in a block: the tiles of scores of all threads stay near the processor
RANK_BLOCK = 8192  # the same where ranks are counted
LEAST_SHARE = 128  # queries; with fewer, making the gallery ready takes longer than the products
_LIMITED = Lock()  # the limit holds for the whole process


@dataclass(frozen=True)
class Blocking:
    """Vectors in a block, and threads beside those of the matrix products."""

    block: int
    threads: int

    @classmethod
    def of(cls, block: int, threads: int | None) -> "Blocking":
        """Checked; threads None: one per core, at most 8."""
        if block < 1:
            raise InputError(f"block is {block}", hint="Give a number from 1 up.")
        return cls(block, thread_count(threads))


def threads_beside_products(threads: int) -> int:
    """How many of the threads may work between matrix products: those of the products spin for a while after each."""
    return max(1, threads // 2)


def shares(first: int, last: int, threads: int) -> list[tuple[int, int]]:
    """Queries first..last-1 in a share for each thread that BLAS would use; in one if no thread is wanted beside it.

    >>> shares(3, 100, 8), shares(0, 1000, 1)
    ([(3, 100)], [(0, 1000)])
    """
    number = 1 if threads == 1 else max(1, min(_threads(), (last - first) // LEAST_SHARE))
    cuts = [first + (last - first) * share // number for share in range(number + 1)]
    return list(pairwise(cuts))


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let every product be computed by the thread that asks for it."""
    with _LIMITED, _libraries().limit(limits=1):
        yield


def _threads() -> int:
    """How many threads BLAS would use for a product."""
    with _LIMITED:
        return max((library["num_threads"] for library in _libraries().info()), default=cpu_count() or 1)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
