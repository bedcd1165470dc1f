"""Whoever shares out cores counts those that this process may use, not those of the machine."""

import os

import pytest

from eds.embeddings.pipeline import threads
from eds.neighbors.blocking import Blocking
from eds.parallel.cores import cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system lets nobody choose cores")
def test_a_process_that_may_use_one_core_uses_one() -> None:
    before = os.sched_getaffinity(0)
    assert cores() == len(before)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert (cores(), threads(0), Blocking.of(10, None).threads) == (1, 1, 1)
    finally:
        os.sched_setaffinity(0, before)
    assert (threads(3), Blocking.of(10, 3).threads) == (3, 3)
