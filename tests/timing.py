"""Timing for the speed scripts: the shortest of several runs, since noise only ever adds."""

import time
from collections.abc import Callable


def best(action: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
