"""Corrected rates: the formula, its edges, and that the limits hold what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.analysis.missed_positives import corrected_rate
from eds.errors import InputError

counts = st.integers(0, 60).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole)))


@given(counts, counts, counts)
def test_formula_limits_and_edges(draws: tuple[int, int], known: tuple[int, int], others: tuple[int, int]) -> None:
    found = corrected_rate(*draws, *known, *others)
    false = others[0] / others[1] if others[1] else 0.0
    if not draws[1] or not known[1] or known[0] / known[1] <= false:
        assert math.isnan(found.corrected)
        return
    exact = (draws[0] / draws[1] - false) / (known[0] / known[1] - false)
    assert found.corrected == pytest.approx(min(max(exact, 0), 1))
    assert 0 <= found.low <= found.corrected <= found.high <= 1


def test_the_limits_cover_the_truth() -> None:
    """Draws with p = 0.02 of which 65 % are found and 1 % of the others are called positive by mistake."""
    rng = np.random.default_rng(7)
    p, s, f = 0.02, 0.65, 0.01
    a, found, alarms = rng.binomial(2000, p * s + (1 - p) * f, 400), rng.binomial(80, s, 400), rng.binomial(300, f, 400)
    held = [corrected_rate(int(x), 2000, int(y), 80, int(z), 300) for x, y, z in zip(a, found, alarms, strict=True)]
    assert np.mean([one.low <= p <= one.high for one in held]) >= 0.95
    assert np.mean([one.corrected for one in held]) == pytest.approx(p, abs=0.002)
    assert np.mean([one.raw for one in held]) == pytest.approx(p * s + (1 - p) * f, abs=0.001)


def test_nonsense_is_refused() -> None:
    for counts_ in ((3, 2, 1, 1), (0, 1, 2, 1), (0, 1, 0, 1, 2, 1)):
        with pytest.raises(InputError, match="part <= all"):
            corrected_rate(*counts_)
