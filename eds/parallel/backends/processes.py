"""Several processes on this machine, each started by spawn, so that no lock or thread is inherited.

Every worker is a `ProcessPoolExecutor` of one process: one that dies or hangs breaks no other, costs its task one
attempt and is replaced. Ctrl-C reaches this process alone, which ends the workers; they remove what is half written.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from eds.config import ExecutorSettings
from eds.parallel.cores import cores
from eds.parallel.outputs import sweep
from eds.parallel.protocol import DEFAULT, Receipt, Resources, Spec, Work
from eds.parallel.scheduler import Scheduler
from eds.parallel.worker import attempt, prepare

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
        """See the protocol. What is shared out is the cores alone; GPUs and memory are not looked after."""
        scheduler = Scheduler(specs, need.deadline, need.retries)
        if need.cpus != self._cpus:
            self._drop(self._workers)
            self._cpus = need.cpus
        try:
            while scheduler.open:
                scheduler.refuse_hopeless()
                for worker in self._idle(scheduler):
                    number = scheduler.next()
                    if number is None:
                        break
                    worker.start(number, fn, scheduler.spec(number))
                    scheduler.begin(number, worker)
                busy = {worker.answer: worker for worker in self._workers if worker.answer is not None}
                for answer in wait(busy, scheduler.patience(), FIRST_COMPLETED).done:
                    yield from self._take(busy[answer], answer, scheduler)
        finally:
            self._drop([worker for worker in self._workers if worker.answer is not None])

    def _idle(self, scheduler: Scheduler) -> list["_Worker"]:
        """Workers without work; as many as are wanted are added first, not counting those that hang."""
        wanted = min(len(scheduler), self._wanted or max(1, cores() // self._cpus))
        at_work = [worker for worker in self._workers if worker.answer is not None]
        free = wanted - sum(not scheduler.hangs(worker.number, worker) for worker in at_work)
        while len(self._workers) < len(at_work) + free:
            self._workers.append(_Worker(self._cpus))
        return [worker for worker in self._workers if worker.answer is None][:free]

    def _take(
        self, worker: "_Worker", answer: "Future[Receipt | Exception]", scheduler: Scheduler
    ) -> Iterator[Receipt]:
        """The receipt of a worker, if its task was not done before; its error is raised."""
        worker.answer = None
        try:
            result = answer.result()
        except BrokenProcessPool:
            self._drop([worker])
            scheduler.lose(worker.number, worker, f"process ended with code {worker.exit_code}")
            return
        worker.spec = None
        if isinstance(result, Exception):
            raise result
        others = [other for other in scheduler.end(worker.number) if other is not worker]
        self._drop([other for other in self._workers if other in others and other.answer is not None])
        yield result

    def _drop(self, workers: list["_Worker"]) -> None:
        """End these, gently first; nothing half written stays."""
        self._workers = [worker for worker in self._workers if worker not in workers]
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop(self._workers)


class _Worker:
    """One process, started with its first task."""

    def __init__(self, cpus: int) -> None:
        self.number = -1  # of the task that it does, or did last
        self.spec: Spec | None = None  # of a task that has not ended
        self.answer: Future[Receipt | Exception] | None = None
        self._cpus = cpus
        self._pool = ProcessPoolExecutor(1, SPAWN, prepare)
        self._process: BaseProcess | None = None

    def start(self, number: int, fn: Work, spec: Spec) -> None:
        """Begin a task."""
        self.number, self.spec = number, spec
        before = multiprocessing.active_children()
        try:
            with _threads(self._cpus), _no_interrupts():
                self.answer = self._pool.submit(attempt, fn, spec)
        except BrokenProcessPool as error:  # it died while it had no task
            self.answer = Future()
            self.answer.set_exception(error)
        if self._process is None:
            self._process = next(child for child in multiprocessing.active_children() if child not in before)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, after it ended."""
        return self._process.exitcode if self._process else None

    def stop(self) -> None:
        """Ask the process to end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._process is not None and self.answer is not None:
            self._process.terminate()

    def join(self) -> None:
        """Wait until the process has ended; one that does not is killed."""
        if self._process is not None:
            self._process.join(GRACE)
            if self._process.exitcode is None:
                self._process.kill()
                self._process.join()
        if self.spec is not None:
            sweep(self.spec.out)


@contextmanager
def _threads(cpus: int) -> Iterator[None]:
    """Let the libraries of a process that starts now use so many threads, unless the user set another number."""
    added = {name: str(cpus) for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process that starts now never gets Ctrl-C: a mask of signals is inherited."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
