"""One suite for every database that can hold labels: SQLite, and a real PostgreSQL that the tests start."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eds.labels.store import Store
from tests.labels.stores import BACKENDS, fresh_store


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made
