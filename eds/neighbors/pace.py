"""How the work is cut up; none of it changes a result."""

from dataclasses import dataclass

from eds.engines.cores import thread_count
from eds.errors import InputError


@dataclass(frozen=True)
class Pace:
    """Vectors in a block, and threads beside those of the matrix products."""

    block: int
    threads: int

    @classmethod
    def of(cls, block: int, threads: int | None) -> "Pace":
        """Checked; threads None: one per core, at most 8."""
        if block < 1:
            raise InputError(f"block is {block}", do="Give a number from 1 up.")
        return cls(block, thread_count(threads))


def beside_products(threads: int) -> int:
    """How many of the threads may work between matrix products: those of the products spin for a while after each."""
    return max(1, threads // 2)
