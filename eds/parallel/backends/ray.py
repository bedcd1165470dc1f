"""A cluster: tasks, and actors for work that keeps something warm.

Ray says where things run and tells who died. Which task is done again, and when a second copy of an overdue one is
begun, is decided here (eds.parallel.scheduler), alike for tasks and actors. Nothing but specs and receipts travels.
"""

import importlib
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from eds.config import ExecutorSettings
from eds.errors import EdsError
from eds.parallel import cluster
from eds.parallel.outputs import sweep
from eds.parallel.protocol import DEFAULT, Receipt, Resources, Spec, Work
from eds.parallel.scheduler import Scheduler
from eds.parallel.worker import attempt

EXTRA = "scale"
LOOK = 1.0  # seconds between looks at the size of the cluster
AHEAD = 1  # tasks given out beyond those that can run: a cluster that grows by itself must see that more is wanted
GRACE = 3.0  # seconds that tasks are waited for when the work ends early


class Backend:
    """A cluster that is there (host:port), or one made for us on this machine (local)."""

    def __init__(self, settings: ExecutorSettings | None = None) -> None:
        """Take `cluster` and, for a local one, `workers`."""
        self._settings = settings or ExecutorSettings()
        self._ray: Any = None
        self._left: list[Spec] = []  # tasks that were not finished

    def map(self, fn: Work, specs: Iterable[Spec], need: Resources = DEFAULT) -> Iterator[Receipt]:
        """See Backend.map. A class becomes actors, each with one instance; a function becomes tasks.

        One task more is given out than can run: its deadline counts while it waits, too.
        """
        if self._ray is None:
            self._ray = cluster.connected(self._settings)
        taken = {"num_cpus": need.cpus, "num_gpus": need.gpus, **({"memory": need.memory} if need.memory else {})}
        cluster.refuse_too_small(self._ray, taken)
        scheduler, crew = Scheduler(specs, need.deadline, need.retries), _Crew(self._ray, fn, taken)
        try:
            while scheduler.open:
                scheduler.refuse_hopeless()
                while crew.free() and (number := scheduler.next()) is not None:
                    scheduler.begin(number, crew.take(number, scheduler.spec(number)))
                for number, runner, answer in crew.answers():
                    if isinstance(answer, _Lost):
                        scheduler.lose(number, runner, answer.why)
                    elif isinstance(answer, BaseException):
                        raise answer
                    else:
                        crew.stop(scheduler.end(number) - {runner})
                        yield answer
        finally:
            crew.stop(scheduler.hanging())  # they would hold their place beyond this job
            crew.end()
            self._left = scheduler.unfinished()
            self._sweep()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None
            self._sweep()

    def _sweep(self) -> None:
        """Remove what is half written; what a process of another machine leaves now is removed when work goes on."""
        for spec in self._left:
            sweep(spec.out, everywhere=True)


@dataclass(frozen=True)
class _Lost:
    """What came instead of an answer: the process, the node or the link has died."""

    why: str


class _Crew:
    """All that runs for one call of `map`. A runner is Ray's reference to the answer that it will give."""

    def __init__(self, ray: Any, fn: Work, need: Mapping[str, float]) -> None:
        self._ray, self._fn, self._need = ray, fn, need
        self._warm = isinstance(fn, type)  # then each runner has an actor behind it
        own: dict[str, Any] = {"max_restarts": 0, "max_task_retries": 0} if self._warm else {"max_retries": 0}
        self._remote = ray.remote(_Warm if self._warm else attempt_on_node).options(
            scheduling_strategy="SPREAD", **need, **own
        )
        self._running: dict[Any, tuple[int, Any]] = {}  # reference -> number of the task, actor
        self._idle: list[Any] = []
        self._looked, self._slots = float("-inf"), 0

    def free(self) -> bool:
        """Whether one more may be begun."""
        if time.monotonic() - self._looked > LOOK:
            self._looked, self._slots = time.monotonic(), max(1, cluster.slots(self._ray, self._need))
        return len(self._running) < self._slots + (0 if self._warm else AHEAD)

    def take(self, number: int, spec: Spec) -> Hashable:
        """Begin a task and return its runner."""
        actor = None
        if self._warm:
            actor = self._idle.pop() if self._idle else self._remote.remote()
            reference = actor.attempt.remote(self._fn, spec)
        else:
            reference = self._remote.remote(self._fn, spec)
        self._running[reference] = (number, actor)
        return reference  # type: ignore[no-any-return]

    def answers(self) -> Iterator[tuple[int, Any, Any]]:
        """What has come by now, waiting a little: number of the task, runner, and receipt, error or loss."""
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=LOOK)
        for reference in ready:
            number, actor = self._running.pop(reference)
            answer = self._got(reference)
            if actor is not None and not isinstance(answer, _Lost):
                self._idle.append(actor)
            yield number, reference, answer

    def _got(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:  # not the work's own error, which is an answer
            hint = "Install the same eds on every node."
            return EdsError(f"a node cannot do a task ({error.cause or error})", where="cluster", hint=hint)
        except (errors.RuntimeEnvSetupError, errors.TaskUnschedulableError, errors.ActorUnschedulableError) as error:
            return EdsError(f"the cluster cannot run a task ({error})", where="cluster", hint="See ray status.")
        except errors.RayError as error:
            return _Lost(type(error).__name__)

    def stop(self, runners: Iterable[Any]) -> None:
        """End runners whose task is done by another."""
        for reference in runners:
            _, actor = self._running.pop(reference, (0, None))
            if actor is not None:
                self._ray.kill(actor)
            else:
                self._ray.cancel(reference, force=True)

    def end(self) -> None:
        """End all actors, and wait a little for tasks.

        Longer ones end with the engine. To cancel a task that ends by itself at that moment takes Ray 2.60 down.
        """
        tasks = [reference for reference, (_, actor) in self._running.items() if actor is None]
        self.stop([reference for reference in self._running if reference not in tasks])
        for actor in self._idle:
            self._ray.kill(actor)
        if tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=GRACE)


def attempt_on_node(fn: Work, spec: Spec) -> Receipt | Exception:
    """Do a task on a node; an error is an answer, and says which node gave it."""
    answer = attempt(fn, spec)
    if isinstance(answer, EdsError):
        ray: Any = importlib.import_module("ray")
        answer.what = f"{answer.what.rstrip('.')} (on node {ray.util.get_node_ip_address()})"
    return answer


class _Warm:
    """An actor: a process that stays, and with it the instance of the work."""

    def attempt(self, fn: Work, spec: Spec) -> Receipt | Exception:
        """Do a task."""
        return attempt_on_node(fn, spec)
