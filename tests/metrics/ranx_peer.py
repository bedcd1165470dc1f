"""ranx as plain Python: numba would compile its loops for a minute before a test of a second."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch


@contextmanager
def interpreted_ranx() -> Iterator[Any]:
    with warnings.catch_warnings(), patch.object(import_module("numba").config, "DISABLE_JIT", True):
        warnings.simplefilter("ignore")  # ranx casts in ways that numba and numpy warn of
        yield import_module("ranx")
