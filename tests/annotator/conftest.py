"""Sites for the tests; passwords are hashed fast, since these tests are not about the cost."""

import sys
from collections.abc import Iterator
from pathlib import Path

import argon2
import pytest

from annotator_ui.app_state import Site
from eds.labels import experts, sessions
from tests.annotator.sites import fresh_site


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    for module in (experts, sessions):
        monkeypatch.setattr(module, "hasher", lambda: cheap)
    sessions._nobody.cache_clear()
    yield
    sessions._nobody.cache_clear()


@pytest.fixture(autouse=True)
def _own_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest leaves its screen as the main module, which processes started later would run anew."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with fresh_site(tmp_path) as found:
        yield found
