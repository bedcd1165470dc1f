"""Every backend, once for all suites: processes and a cluster are slow to begin."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from eds.parallel import Backend
from eds.registry import EXECUTORS
from tests.parallel.isolated import begun


@pytest.fixture(scope="session")
def engines() -> Iterator[dict[str, Backend]]:
    """By name; Ray in a network namespace of its own."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(begun(name)) for name in EXECUTORS}
