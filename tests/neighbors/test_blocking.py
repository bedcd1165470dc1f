"""Queries shared out to threads: the lists stay the same, and BLAS is left as it was found."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from eds.errors import InputError
from eds.neighbors import Rules, blocking, mine
from tests.neighbors.galleries import METRICS, catalogue, rows


@pytest.fixture(autouse=True)
def _small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "LEAST_SHARE", 1)
    monkeypatch.setattr(blocking, "_threads", lambda: 3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rule", [Rules(3), Rules(3, False, False, keep_ties=True), Rules(3, category="other")])
def test_shares_give_the_lists_of_one_thread(metric: str, rule: Rules) -> None:
    gallery = catalogue(300, 5, products=40, metric=metric, levels=2)
    before = [library["num_threads"] for library in threadpool_info()]
    shared = mine(gallery.vectors(shard=70), gallery.images, rule, block=50, threads=3)
    assert [library["num_threads"] for library in threadpool_info()] == before
    assert rows(shared) == rows(mine(gallery.vectors(), gallery.images, rule, threads=1)) == gallery.expected(rule)


def test_bad_vectors_of_all_shares_are_named_together() -> None:
    gallery = catalogue(60, 2, products=60)
    role = np.where(np.arange(60) % 2, "candidate", "query")
    gallery.values[[0, 3, 58]] = 0  # queries of the first and the last share, and a candidate
    with pytest.raises(InputError, match="3 vectors are zero or not finite"):
        mine(gallery.vectors(), gallery.images.assign(role=role), Rules(2), threads=3)
    assert len(blocking.shares(0, 30, 3)) == 3


def test_progress_is_told_once_for_all_shares() -> None:
    gallery = catalogue(50, 0, products=9)
    seen: list[tuple[int, int]] = []
    mine(gallery.vectors(), gallery.images, Rules(3), block=20, threads=3, progress=lambda *at: seen.append(at))
    assert seen == [(20, 50), (40, 50), (50, 50)]
