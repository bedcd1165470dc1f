"""What draws are parametrised with: pairs, whole numbers, and random numbers for one purpose."""

import numpy as np

from eds.errors import InputError
from eds.schema import Table
from eds.tables import CANDIDATE, QUERY

PAIRS = Table("pairs", "a pair", ("query_id", "candidate_id"), (QUERY, CANDIDATE), further=True)


def whole(value: object, name: str, low: int) -> int:
    """The value as a whole number of at least `low`, or InputError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise InputError(f"{name} is {value!r}", hint=f"Give a whole number from {low} up.")
    return int(value)


def generator(seed: int, purpose: str, step: int = 0) -> np.random.Generator:
    """Random numbers for one purpose: other purposes and steps of the same seed are independent of it."""
    return np.random.Generator(np.random.PCG64([whole(seed, "seed", 0), step, *purpose.encode()]))
