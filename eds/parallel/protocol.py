"""What a backend is: it does many tasks somewhere and gives a receipt for each.

A task is an importable function and a spec. The spec is a small frozen dataclass (addresses, rows, digests, threads)
with an address `out`; it says everything that shapes the output and holds no data. The function writes its output to
`out`, whole or not at all, and returns a receipt. Where a task runs shows nowhere in its output.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Receipt:
    """What a task wrote: where, its digest, and how many rows."""

    url: str
    sha256: str
    rows: int


class Spec(Protocol):
    """What one task does; a frozen dataclass."""

    @property
    def out(self) -> str:
        """The address of the output."""


# A function, or a class whose instances are such functions: one is made in each worker and keeps what is
# expensive to make (a model). Both are pickled by name, so they are defined at the top of an importable module.
Work = Callable[[Any], Receipt] | type[Callable[[Any], Receipt]]


@dataclass(frozen=True)
class Resources:
    """What one task takes, and what happens if it does not return."""

    cpus: int = 1
    gpus: float = 0.0
    memory: int | None = None  # bytes
    deadline: float | None = None  # seconds after which it is started again elsewhere; the first to end counts
    retries: int = 3  # how often it is repeated after its worker died or was too slow, before the job fails


DEFAULT = Resources()


class Backend(Protocol):
    """Does tasks. Used as a context: leaving it ends every process that it started."""

    def map(self, fn: Work, specs: Iterable[Spec], need: Resources = DEFAULT) -> Iterator[Receipt]:
        """Do every task and give its receipt as it comes, in any order; a task whose valid output is there is not done.

        An error of the function is raised as it is, and ends all. Closing the iterator ends all, too.
        """

    def __enter__(self) -> Self:
        """Begin; processes start when they are needed."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every process that was started."""
