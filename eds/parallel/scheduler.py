"""Which tasks wait, which run since when and where, and how often each was lost; for processes and clusters alike."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from eds.errors import EdsError
from eds.parallel.protocol import Spec


@dataclass
class _Task:
    """One task and its runners."""

    spec: Spec
    runners: dict[Hashable, float] = field(default_factory=dict)  # who runs it, and since when
    since: float = 0.0  # when the first runner began; restarted once all of them are lost
    lost: int = 0
    over: bool = False

    @property
    def begun(self) -> float:
        """When the last runner began."""
        return max(self.runners.values())


class Scheduler:
    """The tasks of one call of `map`, by number. Runners are whatever the backend gives work to."""

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
                if self._may_begin_again(task) and self._overdue(task.begun):
                    return number
        return None

    def begin(self, number: int, runner: Hashable) -> None:
        """A runner begins a task, perhaps as the second one."""
        if self._waiting and self._waiting[0] == number:
            self._waiting.popleft()
        task = self._tasks[number]
        now = self._clock()
        task.since = task.since if task.runners else now
        task.runners[runner] = now
        self._running.pop(number, None)
        self._running[number] = None

    def end(self, number: int) -> set[Hashable]:
        """Mark a task as done; return its runners, the one that ended included, or none if it was done before."""
        task = self._tasks[number]
        if task.over:
            return set()
        task.over = True
        del self._running[number]
        return set(task.runners)

    def hangs(self, number: int | None, runner: Hashable) -> bool:
        """Whether the runner's task is overdue, so that the runner is not expected to take another one."""
        return number is not None and self._overdue(self._tasks[number].runners[runner])

    def lose(self, number: int, runner: Hashable, why: str) -> None:
        """A runner died; requeue its task unless it is done, another runner has it, or it was lost too often."""
        task = self._tasks[number]
        if task.over or runner not in task.runners:
            return
        del task.runners[runner]
        task.lost += 1
        if task.lost > self._retries:
            raise EdsError(
                f"a task was lost {task.lost} times ({why})",
                where=task.spec.out,
                hint="Give its worker more memory or make tasks smaller ([executor] rows, images), then run again:"
                " what is finished is kept.",
            )
        if not task.runners:
            del self._running[number]
            self._waiting.appendleft(number)

    def hanging(self) -> list[Hashable]:
        """The runners whose tasks are overdue."""
        tasks = [self._tasks[number] for number in self._running]
        return [runner for task in tasks for runner, begun in task.runners.items() if self._overdue(begun)]

    def refuse_hopeless(self) -> None:
        """Raise EdsError, naming the output, if a task has used the time of all its copies."""
        for task in (self._tasks[number] for number in self._running):
            if self._clock() >= self._end_of(task):
                raise EdsError(
                    f"a task did not end within {self._clock() - task.since:,.0f} s, though {len(task.runners)} "
                    "are at it",
                    where=task.spec.out,
                    hint="A process, disk or network hangs: look at its machine. If it only takes long, raise "
                    "[executor]"
                    " deadline, or make tasks smaller (rows, images). Then run again: what is finished is kept.",
                )

    def patience(self) -> float | None:
        """Seconds until the next task is overdue; None if none can be."""
        tasks = [self._tasks[number] for number in self._running]
        if self._deadline is None or not tasks:
            return None
        due = [task.begun + self._deadline if self._may_begin_again(task) else self._end_of(task) for task in tasks]
        return max(0.0, min(due) - self._clock())

    def unfinished(self) -> list[Spec]:
        """What runs now."""
        return [self._tasks[number].spec for number in self._running]

    def _may_begin_again(self, task: _Task) -> bool:
        return len(task.runners) <= self._retries

    def _overdue(self, begun: float) -> bool:
        return self._deadline is not None and self._clock() - begun >= self._deadline

    def _end_of(self, task: _Task) -> float:
        """When a task is given up: every copy may take as long as the first."""
        return float("inf") if self._deadline is None else task.since + self._deadline * (self._retries + 1)
