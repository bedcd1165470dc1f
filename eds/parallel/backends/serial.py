"""One task after the other, in this process: the reference of all others."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from eds.config import ExecutorSettings
from eds.parallel.outputs import made, perform
from eds.parallel.protocol import DEFAULT, Receipt, Resources, Spec, Work


class Backend:
    """One task after the other. It has no other process, so a deadline or a retry cannot be."""

    def __init__(self, settings: ExecutorSettings | None = None) -> None:
        """Take no settings: there is nothing to set."""

    def map(self, fn: Work, specs: Iterable[Spec], need: Resources = DEFAULT) -> Iterator[Receipt]:
        """See Backend.map."""
        function = made(fn)
        for spec in specs:
            yield perform(fn, function, spec)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return
