"""How the work is cut up; none of it changes a result."""

from dataclasses import dataclass

from eds.engines.cores import cores
from eds.errors import InputError

MOST_THREADS = 8


@dataclass(frozen=True)
class Pace:
    """Vectors in a block, and threads beside those of the matrix products."""

    block: int
    threads: int

    @classmethod
    def of(cls, block: int, threads: int | None) -> "Pace":
        """Checked; threads None: one per core, at most 8."""
        pace = cls(block, min(MOST_THREADS, cores()) if threads is None else threads)
        if pace.block < 1 or pace.threads < 1:
            raise InputError(f"block is {pace.block}, threads {pace.threads}", do="Give numbers from 1 up.")
        return pace


def beside_products(threads: int) -> int:
    """How many of the threads may work between matrix products: those of the products spin for a while after each."""
    return max(1, threads // 2)
