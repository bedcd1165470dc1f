"""Which tasks wait, which run since when and where, and how often each was lost: what pool and cluster both keep."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from eds.engines.protocol import Spec
from eds.errors import EdsError


@dataclass
class _Task:
    """One task on its way."""

    spec: Spec
    runners: set[Hashable] = field(default_factory=set)  # who is at it
    begun: float = 0.0  # when the last of them began
    lost: int = 0
    over: bool = False


class Board:
    """The tasks of one call of `map`, by number. Runners are whatever the engine gives work to."""

    def __init__(
        self,
        specs: Iterable[Spec],
        deadline: float | None,
        retries: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tasks = [_Task(spec) for spec in specs]
        self._waiting = deque(range(len(self._tasks)))
        self._running: dict[int, None] = {}  # numbers, in the order in which they began
        self._deadline, self._retries, self._clock = deadline, retries, clock

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def open(self) -> bool:
        """Whether anything waits or runs."""
        return bool(self._waiting or self._running)

    def spec(self, number: int) -> Spec:
        """What a task does."""
        return self._tasks[number].spec

    def next(self) -> int | None:
        """The task to begin now: one that waits, else one that is overdue; None if there is neither."""
        if self._waiting:
            return self._waiting[0]
        if self._deadline is not None:
            for number in self._running:
                task = self._tasks[number]
                if self._may_begin_again(task) and self._clock() - task.begun >= self._deadline:
                    return number
        return None

    def begin(self, number: int, runner: Hashable) -> None:
        """Somebody begins a task, perhaps as the second one."""
        if self._waiting and self._waiting[0] == number:
            self._waiting.popleft()
        task = self._tasks[number]
        task.runners.add(runner)
        task.begun = self._clock()
        self._running.pop(number, None)
        self._running[number] = None

    def end(self, number: int) -> set[Hashable]:
        """A task is done; gives who was at it, the one that has ended among them, and nobody if it was done before."""
        task = self._tasks[number]
        if task.over:
            return set()
        task.over = True
        del self._running[number]
        return task.runners

    def lose(self, number: int, runner: Hashable, why: str) -> None:
        """Somebody died at a task: it waits again, unless it is done, another is at it, or it was lost too often."""
        task = self._tasks[number]
        if task.over or runner not in task.runners:
            return
        task.runners.discard(runner)
        task.lost += 1
        if task.lost > self._retries:
            raise EdsError(
                f"a task was lost {task.lost} times ({why})", where=task.spec.out,
                do="Give its worker more memory or make tasks smaller ([engine] rows, images), then run again:"
                " what is finished is kept.",
            )  # fmt: skip
        if not task.runners:
            del self._running[number]
            self._waiting.appendleft(number)

    def patience(self) -> float | None:
        """Seconds until the next task is overdue; None if none can be."""
        tasks = [self._tasks[number] for number in self._running]
        begun = [task.begun for task in tasks if self._may_begin_again(task)]
        if self._deadline is None or not begun:
            return None
        return max(0.0, min(begun) + self._deadline - self._clock())

    def unfinished(self) -> list[Spec]:
        """What runs now."""
        return [self._tasks[number].spec for number in self._running]

    def _may_begin_again(self, task: _Task) -> bool:
        return len(task.runners) <= self._retries
