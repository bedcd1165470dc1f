"""The exact engine where much passes at once: the lists stay those of a full sort."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds.neighbors import Rules, mine, mine_with_recall, pair_scores
from eds.neighbors.search import exact
from eds.neighbors.search.exact import Search
from tests.neighbors.galleries import METRICS, Gallery, catalogue, rows
from tests.privileges import needed


def ascending(metric: str, images: int = 4000) -> Gallery:
    """Candidates that come ever nearer to all queries, so that each block betters what the ones before it gave."""
    gallery = catalogue(images, 2, products=images // 3, metric=metric, dimension=16)
    centre = gallery.values[0] * 2
    values = gallery.values if metric == "hamming" else gallery.values + centre
    order = np.argsort(values @ centre / (np.linalg.norm(values, axis=1) if metric == "cosine" else 1))
    role = np.where(np.arange(images) >= images - 30, "query", "candidate")
    return Gallery(gallery.turned(order).images.assign(role=role), values[order], metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "rule",
    [
        Rules(3),
        Rules(3, one_per_product=False),
        Rules(3, False, False, keep_ties=True),
        Rules(3, category="same"),
        Rules(3, category="other"),
    ],
)
def test_a_crowded_tile_is_thinned_out_and_loses_nothing(
    metric: str, rule: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = ascending(metric)
    plain, thinned = Search._floors, []

    def counting(self: Search, query: Any, candidate: Any, scores: Any) -> Any:
        floors = plain(self, query, candidate, scores)
        thinned.append((scores.size, int((scores >= floors[:, None]).sum())))
        return floors

    monkeypatch.setattr(Search, "_floors", counting)
    monkeypatch.setattr(exact, "SAMPLE", len(gallery.images))  # too few candidates for first floors
    found = mine(gallery.vectors(shard=2000), gallery.images, rule)
    assert len(thinned) == 2
    assert all(offered > exact.CROWD and offered > 2 * kept for offered, kept in thinned)
    monkeypatch.setattr(exact, "CROWD", 1 << 40)
    assert rows(found) == rows(mine(gallery.vectors(), gallery.images, rule, block=300))
    few = gallery.images["image_id"].iloc[-2:]
    images = gallery.images.assign(role=gallery.images["role"].where(gallery.images["role"] != "query", "other"))
    images.loc[images["image_id"].isin(few), "role"] = "query"
    expected = Gallery(images[images["role"] != "other"], gallery.values[images["role"] != "other"], metric)
    some = found[found["query_id"].isin(few)]
    assert [row[:3] for row in rows(some)] == [row[:3] for row in expected.expected(rule)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("category", ["any", "same", "other"])
@pytest.mark.parametrize("plain", [True, False])
def test_first_floors_leave_nobody_out(
    metric: str, category: Any, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = catalogue(700, 4, products=60, metric=metric, levels=2)
    product = gallery.images["product_id"].str[1:].astype(int).to_numpy()
    values = gallery.values + 4 * np.random.default_rng(0).standard_normal((60, 8))[product]  # its product is nearest
    values = np.where(values > 0, 1.0, -1.0) if metric == "hamming" else values.astype(np.float32).astype(np.float64)
    gallery = Gallery(gallery.images, values, metric)
    rule = Rules(4, not plain, not plain, category=category)
    monkeypatch.setattr(exact, "SAMPLE", 1 << 20)  # the gallery is too small for that
    expected = rows(mine(gallery.vectors(), gallery.images, rule))
    monkeypatch.setattr(exact, "SAMPLE", 100)
    floors, first = [], Search._first_floors

    def kept(self: Search, shortlist: Any, tile: Any) -> None:
        first(self, shortlist, tile)
        floors.append(shortlist.kth.copy())

    monkeypatch.setattr(Search, "_first_floors", kept)
    assert rows(mine(gallery.vectors(), gallery.images, rule)) == expected
    assert np.isfinite(np.concatenate(floors)).mean() > 0.9


def test_floors_are_raised_before_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = ascending("cosine", 1500)
    expected = rows(mine(gallery.vectors(), gallery.images, Rules(4)))
    monkeypatch.setattr(exact, "WAITING", 10)
    assert rows(mine(gallery.vectors(), gallery.images, Rules(4), block=100)) == expected


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("engine", ["exact", "faiss"])
@pytest.mark.parametrize("rule", [Rules(500), Rules(500, False, False), Rules(500, keep_ties=True, category="same")])
def test_k_above_what_is_left_lists_all_that_is_left(metric: str, engine: str, rule: Rules) -> None:
    if engine == "faiss":
        needed("faiss")
    gallery = catalogue(120, 9, products=25, metric=metric)
    mined = mine_with_recall(gallery.vectors(), gallery.images, rule, search=engine)
    expected = gallery.expected(rule)
    assert [row[:3] for row in rows(mined.lists)] == [row[:3] for row in expected]
    assert mined.short == int((gallery.images["role"] != "candidate").sum())


@pytest.mark.parametrize("engine", ["exact", "faiss"])
def test_parallel_vectors_tie_in_lists_as_in_scores(engine: str) -> None:
    """Candidates are random multiples of five directions: within a direction the lower id comes first."""
    if engine == "faiss":
        needed("faiss")
    rng = np.random.default_rng(4)
    direction = np.arange(60) % 5
    values = rng.integers(-9, 10, (5, 17))[direction] * rng.integers(1, 50, (60, 1))  # whole, so exactly parallel
    names = [f"i{number:02d}" for number in rng.permutation(60)]
    images = pd.DataFrame({"image_id": names, "product_id": names, "category": "c", "role": "both"})
    vectors = Gallery(images, values.astype(np.float32), "cosine").vectors()
    lists = mine_with_recall(vectors, images, Rules(59, False, False), search=engine).lists
    group = dict(zip(names, direction.tolist(), strict=True))
    for query, part in lists.groupby("query_id"):
        ordered = part.sort_values("rank")
        tied = ordered.groupby(ordered["candidate_id"].map(group), sort=False)
        assert (tied["score"].nunique() == 1).all()
        assert all(ids.is_monotonic_increasing for _, ids in tied["candidate_id"])
        scores = pair_scores(vectors, part[["query_id", "candidate_id"]])
        assert scores.tolist() == part["score"].tolist(), query
