"""Every engine that does tasks, once for all suites: processes and a cluster are slow to begin."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from eds.config import EngineSettings
from eds.engines import ENGINES, Engine, start
from tests.engines.elsewhere import Elsewhere


@pytest.fixture(scope="session")
def engines() -> Iterator[dict[str, Engine]]:
    """By name; Ray in a network namespace of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root may make the network namespace that Ray runs in")
    with ExitStack() as stack:
        settings = {name: EngineSettings(use=name, workers=2) for name in ENGINES.entries()}
        yield {
            name: stack.enter_context(Elsewhere(given) if name == "ray" else start(given))
            for name, given in settings.items()
        }
