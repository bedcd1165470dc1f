"""The engine of several processes on this machine, each started anew (spawn), so that no lock or thread is inherited.

A worker that dies costs its task one attempt and is replaced. Ctrl-C reaches this process alone; it ends the workers,
which remove what they had half written.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection
from types import TracebackType
from typing import Any, Self

from eds.config import ExecutorSettings
from eds.parallel.cores import cores
from eds.parallel.outputs import sweep
from eds.parallel.protocol import DEFAULT, Receipt, Resources, Spec, Work
from eds.parallel.scheduler import Scheduler
from eds.parallel.worker import serve

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
GRACE = 3.0  # seconds in which a worker may end by itself
SPAWN = multiprocessing.get_context("spawn")


class Backend:
    """A fixed number of processes; they stay from one `map` to the next, so that only the first waits for them."""

    def __init__(self, settings: ExecutorSettings | None = None) -> None:
        """Take `workers`: how many processes; 0: as many as the cores allow."""
        self._wanted = (settings or ExecutorSettings()).workers
        self._workers: list[_Worker] = []
        self._cpus = 0

    def map(self, fn: Work, specs: Iterable[Spec], need: Resources = DEFAULT) -> Iterator[Receipt]:
        """See Backend.map. What is shared out is the cores alone; GPUs and memory are not looked after."""
        board = Scheduler(specs, need.deadline, need.retries)
        if need.cpus != self._cpus:
            self._end(self._workers)
            self._workers, self._cpus = [], need.cpus
        try:
            while board.open:
                board.refuse_hopeless()
                for worker in self._idle(board):
                    number = board.next()
                    if number is None:
                        break
                    worker.take(number, fn, board.spec(number))
                    board.begin(number, worker)
                busy = [worker for worker in self._workers if worker.number is not None]
                ready = connection.wait([worker.pipe for worker in busy], board.patience())
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    yield from self._answered(worker, board)
        finally:
            self._drop([worker for worker in self._workers if worker.number is not None])

    def _idle(self, board: Scheduler) -> list["_Worker"]:
        """Workers without work; as many as are wanted are started first, besides those that hang."""
        wanted = min(len(board), self._wanted or max(1, cores() // self._cpus))
        at_work = [worker for worker in self._workers if worker.number is not None]
        free = wanted - sum(not board.hangs(worker.number, worker) for worker in at_work)
        while len(self._workers) < len(at_work) + free:
            self._workers.append(_Worker(self._cpus))
        return [worker for worker in self._workers if worker.number is None][:free]

    def _answered(self, worker: "_Worker", board: Scheduler) -> Iterator[Receipt]:
        """The receipt of a worker, if its task was not done before; its error is raised."""
        number, answer = worker.give()
        if answer is None:
            self._drop([worker])
            board.lose(number, worker, f"process ended with code {worker.process.exitcode}")
            return
        if isinstance(answer, BaseException):
            raise answer
        others = [other for other in board.end(number) if other is not worker]
        self._drop([other for other in self._workers if other in others and other.number == number])
        yield answer

    def _drop(self, workers: list["_Worker"]) -> None:
        self._workers = [worker for worker in self._workers if worker not in workers]
        self._end(workers)

    def _end(self, workers: list["_Worker"]) -> None:
        """End these, gently first; nothing half written stays."""
        for worker in workers:
            worker.pipe.close()
            if worker.number is not None:
                worker.process.terminate()
        for worker in workers:
            worker.process.join(GRACE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            if worker.spec is not None:
                sweep(worker.spec.out)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop(self._workers)


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, cpus: int) -> None:
        self.number: int | None = None  # of the task it is at
        self.spec: Spec | None = None
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(theirs,), daemon=True)
        with _threads(cpus), _no_interrupts():
            self.process.start()
        theirs.close()

    def take(self, number: int, fn: Work, spec: Spec) -> None:
        """Begin a task."""
        self.number, self.spec = number, spec
        try:
            self.pipe.send((fn, spec))
        except OSError:
            return  # it is dead, which is noticed when its answer is awaited

    def give(self) -> tuple[int, Any]:
        """The number of the task, and its receipt, its error, or None if the process died."""
        number, self.number = self.number or 0, None
        try:
            answer = self.pipe.recv()
            self.spec = None
        except (EOFError, OSError):
            self.process.join(GRACE)
            return number, None
        return number, answer


@contextmanager
def _threads(cpus: int) -> Iterator[None]:
    """Let the libraries of a process that starts now use so many threads, unless the user said how many."""
    added = {name: str(cpus) for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process that starts now never sees Ctrl-C: a mask of signals is inherited."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
