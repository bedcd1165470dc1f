"""The promise of recall: kept as often as promised. Long form: tests/speed/stopping.py."""

import numpy as np
import pytest

from eds.analysis.stopping import recall_by_depth
from eds.analysis.totals import Estimate
from eds.analysis.weighted_draws import Draw
from eds.errors import InputError
from tests.speed.stopping import promised


def test_the_promise_is_kept_in_95_percent_of_the_catalogues() -> None:
    rows = [promised(seed) for seed in range(60)]
    assert np.mean([row.kept for row in rows]) >= 0.9
    assert np.mean([row.narrowly for row in rows]) >= 0.88, "also of a share that a depth narrowly fails to hold"
    assert sum(row.promised for row in rows) > 50, "a promise is made"
    assert np.median([row.pools for row in rows]) >= 1.0, "who promises less than is needed breaks the promise"
    assert np.mean([row.every for row in rows]) <= 1.4, "the draw's labels included"


def test_without_a_labelled_draw_nothing_is_promised() -> None:
    nothing = np.zeros(0, np.int64)
    with pytest.raises(InputError, match="no random pair"):
        recall_by_depth(Estimate(5, 5, 5), np.arange(10), [(1, nothing)], 1000, [])
    with pytest.raises(InputError, match="confidence"):
        recall_by_depth(Estimate(5, 5, 5), np.arange(10), [(1, nothing)], 1000, [], 0.4)


def test_a_pool_of_all_units_holds_all_similar_ones() -> None:
    pool, rest = np.arange(10), np.arange(10, 40)
    draw = Draw(np.full(10, 3.0), np.zeros(10, np.int64), np.ones(10, bool), np.arange(10, 20))
    some, every = recall_by_depth(Estimate(5, 5, 5), pool, [(1, rest[:25]), (2, rest[25:])], 40, [draw])
    assert some.low < 1
    assert (every.recall, every.low) == (1, 1)
