"""Threads that cannot starve each other: each kind of work has its own, and waits for them without holding any.

    result = await in_lane("judging", submit, ...)

Starlette's own threads are shared by everything that is not asynchronous; 90 pictures would take all of them.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, ParamSpec, TypeVar

import anyio
from anyio import to_thread

P = ParamSpec("P")
T = TypeVar("T")
Lane = Literal[
    "gate", "sessions", "judging", "tasks", "pictures", "accounts", "api", "health", "background", "webhooks"
]
THREADS: dict[Lane, int] = {
    "gate": 8,  # whose session it is: one short question to the database, never a write, which may have to wait
    "sessions": 4,  # renewing and ending them, and those that a proxy opens
    "judging": 40,  # judgements; they wait for the disk together (group commit)
    "tasks": 8,  # what is to be judged next
    "pictures": 4,  # prepared pictures, from disk; decoding has the picture queue
    "accounts": 4,  # signing in
    "api": 2,  # programs: long answers, that may wait
    "health": 2,
    "background": 2,
    "webhooks": 1,  # waits for other servers
}
_limiters: dict[Lane, anyio.CapacityLimiter] = {}


def limiter(lane: Lane) -> anyio.CapacityLimiter:
    """The lane's threads."""
    if lane not in _limiters:
        _limiters[lane] = anyio.CapacityLimiter(THREADS[lane])
    return _limiters[lane]


def waiting_in(lane: Lane) -> int:
    """How many wait for one of the lane's threads."""
    return limiter(lane).statistics().tasks_waiting


async def in_lane(lane: Lane, act: "Callable[P, T]", *given: "P.args", **named: "P.kwargs") -> T:
    """Run a function in one of the lane's threads, and return its result."""
    return await to_thread.run_sync(partial(act, *given, **named), limiter=limiter(lane))
