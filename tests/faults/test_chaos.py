"""The chaos run's short form; `python -m tests.faults.chaos` is the long one."""

import sys

import pytest

from tests.faults.chaos import run

SECONDS = 4  # in which each fault comes at most once
PRODUCTS = 21  # of 392 pairs, more than a client judges in that time


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_was_acknowledged_is_stored_whatever_breaks(kind: str) -> None:
    acknowledged, wrong = run(kind, SECONDS, seed=22, say=lambda text: sys.stdout.write(f"{text}\n"), products=PRODUCTS)
    assert wrong == []
    assert acknowledged > 8
