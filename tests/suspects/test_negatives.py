import hashlib
from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.suspects import NegativeRule, WindowPairs, draw_negatives, draw_random, pool, sampled_negatives
from eds.tables import NEIGHBORS, SUSPECTS, Provenance, check, write
from eds.universe import ALL_PAIRS, Universe
from tests.suspects.lists import catalogue, drawn_lists, frame_of

QUERIES, CANDIDATES = [f"q{n:04}" for n in range(8)], [f"c{n:04}" for n in range(40)]
PRODUCTS = {"q0000": "P", "c0000": "P", "c0001": "P", "c0002": "P"}
IMAGES = catalogue(QUERIES, CANDIDATES, PRODUCTS)
LISTS = frame_of(drawn_lists(8, 3, 25, 40))
POOL = pool(LISTS, 4)


@pytest.mark.parametrize("exclude_top", [True, False])
def test_the_frame_form_is_the_plain_form_for_every_query(exclude_top: bool) -> None:
    labelled = pd.DataFrame({"query_id": ["q0003", "q0003"], "candidate_id": ["c0010", "c0011"]})
    found = draw_negatives(IMAGES, LISTS, POOL, labelled, NegativeRule(6, 20, 4, 9, exclude_top))
    check(found, SUSPECTS)
    negatives = found[found["origin"] == "negative"]
    ordered = LISTS.sort_values("rank")
    for query in QUERIES:
        mine = ordered[ordered["query_id"] == query]
        rankings = {str(model): part["candidate_id"].tolist() for model, part in mine.groupby("model")}
        judged = {*POOL.loc[POOL["query_id"] == query, "candidate_id"]}
        judged |= {*labelled.loc[labelled["query_id"] == query, "candidate_id"]}
        plain = sampled_negatives(query, rankings, NegativeRule(6, 20, 4, 9, exclude_top), judged, PRODUCTS)
        rows = negatives[negatives["query_id"] == query]
        assert rows["candidate_id"].tolist() == plain["sample"]
        assert rows["probability"].tolist() == [len(plain["sample"]) / len(plain["eligible"])] * len(rows)


def test_the_sample_is_the_smallest_hashes_and_nested() -> None:
    plain = sampled_negatives("q", {"m": CANDIDATES}, NegativeRule(5, 30, 7, 4))
    hashed = {c: hashlib.sha256(f"4\x1fq\x1f{c}".encode()).hexdigest() for c in plain["eligible"]}
    assert plain["sample"] == sorted(hashed, key=lambda c: hashed[c])[:7]
    assert sampled_negatives("q", {"m": CANDIDATES}, NegativeRule(5, 30, 3, 4))["sample"] == plain["sample"][:3]


def test_drawing_again_replaces_the_negatives_and_nothing_else() -> None:
    some = draw_random(Universe(IMAGES, ALL_PAIRS), 3, 0, suspects=POOL)
    once = draw_negatives(IMAGES, LISTS, some, rule=NegativeRule(6, 20, 2))
    more = draw_negatives(IMAGES, LISTS, once, rule=NegativeRule(6, 20, 3))
    pd.testing.assert_frame_equal(more.head(len(some)), some)
    assert len(more) > len(once)


@pytest.mark.parametrize(
    ("low", "high", "told"), [(25, 50, "end at depth 25"), (5, 5, "no ranks"), (-1, 5, "min_rank is -1")]
)
def test_a_window_that_cannot_be_is_told(low: int, high: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw_negatives(IMAGES, LISTS, rule=NegativeRule(low, high))


@pytest.mark.parametrize("exclude_top", [True, False])
def test_lists_read_from_files_in_parts_give_the_same_sample(exclude_top: bool, tmp_path: Path) -> None:
    files, rule = [], NegativeRule(6, 20, 4, 9, exclude_top)
    for model, part in LISTS.groupby("model"):
        files.append(tmp_path / f"{model}.parquet")
        write(part.assign(score=-part["rank"].astype(float)), NEIGHBORS, files[-1], Provenance("test"))
    read = WindowPairs.from_files(files, IMAGES, rule)
    assert read.deepest == 25
    pd.testing.assert_frame_equal(
        draw_negatives(IMAGES, read, POOL, rule=rule), draw_negatives(IMAGES, LISTS, POOL, rule=rule)
    )
    with pytest.raises(InputError, match="the catalogue lacks"):
        WindowPairs.from_files(files, IMAGES.iloc[1:], rule)
