import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.suspects import RankWindow, draw_random, pool
from eds.suspects.random_pairs import strata
from eds.tables import SUSPECTS, check
from eds.universe import ALL_PAIRS, PairRules, Universe
from tests.reference import suspects as slow
from tests.suspects.lists import catalogue, drawn_lists, frame_of


def pairs_of(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["query_id"], frame["candidate_id"], strict=True))


QUERIES, CANDIDATES = [f"q{n:04}" for n in range(12)], [f"c{n:04}" for n in range(40)]
LISTS = frame_of(drawn_lists(12, 2, 20, 40))
IMAGES = catalogue(QUERIES, CANDIDATES, {"q0000": "P", "c0000": "P", "c0001": "P"})
POOL = pool(LISTS, 4)
EVERY = Universe(IMAGES, ALL_PAIRS)
APART = Universe(IMAGES, PairRules(one_per_product=False))


@pytest.mark.parametrize("stratum", ["all", "outside", "near", "rest"])
def test_every_pair_of_a_stratum_is_drawn_and_no_other(stratum: str) -> None:
    pooled = set(pairs_of(POOL))
    near = set(slow.pooled(LISTS[["model", "query_id", "candidate_id", "rank"]].itertuples(index=False), 10)) - pooled
    everything = set(slow.all_pairs(QUERIES, CANDIDATES)) - {("q0000", "c0000"), ("q0000", "c0001")}
    outside = everything - pooled
    expected = {"all": everything, "outside": outside, "near": near & everything, "rest": outside - near}[stratum]
    options = {"suspects": POOL, "neighbors": LISTS, "window": RankWindow(4, 10)}
    sizes = strata(APART, POOL, LISTS, window=RankWindow(4, 10))
    assert sizes[stratum].size == len(expected)
    some = draw_random(APART, 17, 3, stratum=stratum, **options)  # type: ignore[arg-type]
    check(some, SUSPECTS)
    pd.testing.assert_frame_equal(some.head(len(POOL)), POOL)
    drawn = some.iloc[len(POOL) :]
    assert set(pairs_of(drawn)) <= expected
    assert drawn["probability"].tolist() == pytest.approx([17 / len(expected)] * 17)
    full = draw_random(
        APART,
        len(expected) - 17,
        3,
        stratum=stratum,
        **{**options, "suspects": some},  # type: ignore[arg-type]
    )
    assert set(pairs_of(full.iloc[len(POOL) :])) == expected
    assert (full.iloc[len(POOL) :]["probability"] == 1).all(), "drawn on, the probability counts all draws"


@pytest.mark.parametrize("stratum", ["all", "near", "rest"])
def test_pairs_are_drawn_uniformly(stratum: str) -> None:
    """Each pair's count over many seeds is binomial: the largest deviation stays within 4.5 errors."""
    images, lists = (
        catalogue(["a", "b", "q"], ["a", "b", "c", "d", "e"]),
        frame_of([("m", "a", c, r) for r, c in enumerate("bcde")] + [("m", "b", c, r) for r, c in enumerate("cdea")]),
    )
    suspects, seeds, n = pool(lists, 1), 120, 2
    universe = Universe(images, ALL_PAIRS)
    size = strata(universe, suspects, lists, window=RankWindow(1, 3))[stratum].size
    counts: dict[tuple[str, str], int] = {}
    for seed in range(seeds):
        found = draw_random(
            universe, n, seed, stratum=stratum, suspects=suspects, neighbors=lists, window=RankWindow(1, 3)
        )
        for pair in pairs_of(found[found["origin"] == "random"]):
            counts[pair] = counts.get(pair, 0) + 1
    assert len(counts) == size
    chance = n / size
    error = np.sqrt(chance * (1 - chance) / seeds)
    assert max(abs(count / seeds - chance) for count in counts.values()) < 4.5 * error


def test_millions_of_pairs_are_drawn_from_without_listing_them() -> None:
    wide = catalogue([f"q{n}" for n in range(1000)], [f"c{n}" for n in range(3000)])
    universe = Universe(wide, ALL_PAIRS)
    assert universe.size == 3_000_000
    found = draw_random(universe, 5000, 1)
    assert len(set(pairs_of(found))) == 5000
    assert found["query_id"].nunique() > 950


def test_row_order_does_not_matter_and_seeds_do() -> None:
    shuffled = IMAGES.sample(frac=1, random_state=2), LISTS.sample(frac=1, random_state=3)

    def drawn(images: pd.DataFrame, lists: pd.DataFrame, seed: int) -> pd.DataFrame:
        near = RankWindow(4, 12)
        return draw_random(
            Universe(images, ALL_PAIRS), 9, seed, stratum="near", suspects=POOL, neighbors=lists, window=near
        )

    one, two = drawn(IMAGES, LISTS, 1), drawn(*shuffled, 1)
    pd.testing.assert_frame_equal(one, two)
    assert pairs_of(one) != pairs_of(drawn(IMAGES, LISTS, 2))


def test_a_stratum_that_changed_is_not_drawn_from_again() -> None:
    some = draw_random(EVERY, 5, 0, stratum="outside", suspects=POOL)
    grown = pool(LISTS, 6, previous=some)
    with pytest.raises(InputError, match=r"had 4\d\d pairs when it was drawn from, now it has"):
        draw_random(EVERY, 5, 0, stratum="outside", suspects=grown)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 10_000}, "10,000 pairs of 480 cannot be drawn"),
        ({"stratum": "far"}, "stratum is 'far'"),
        ({"stratum": "near"}, "needs the models' lists"),
        ({"stratum": "near", "neighbors": LISTS, "window": RankWindow(20)}, "the lists end at depth 20"),
        ({"stratum": "near", "neighbors": LISTS, "window": RankWindow(4, 4)}, "no ranks from 4 to below 4"),
    ],
)
def test_what_cannot_be_drawn_is_told(options: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw_random(EVERY, **{"n": 1, "seed": 0, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("first", ["all", "outside", "near", "rest"])
@pytest.mark.parametrize("second", ["all", "outside", "near", "rest"])
def test_strata_that_overlap_never_share_a_table(first: str, second: str) -> None:
    """Also where the two draws of one pair hit different ones."""
    some = draw_random(EVERY, 1, 0, stratum=first, suspects=POOL, neighbors=LISTS, window=RankWindow(4, 12))
    options = {"stratum": second, "suspects": some, "neighbors": LISTS, "window": RankWindow(4, 12)}
    if first == second or {first, second} == {"near", "rest"}:
        draw_random(EVERY, 1, 0, **options)  # type: ignore[arg-type]
        return
    for seed in range(3):
        with pytest.raises(InputError, match=f"pairs of stratum {first} were drawn before, and it overlaps"):
            draw_random(EVERY, 1, seed, **options)  # type: ignore[arg-type]


def test_near_and_rest_are_cut_at_the_same_ranks() -> None:
    some = draw_random(EVERY, 1, 0, stratum="near", suspects=POOL, neighbors=LISTS, window=RankWindow(4, 12))
    with pytest.raises(InputError, match="stratum near: the stratum had"):
        draw_random(EVERY, 1, 0, stratum="rest", suspects=some, neighbors=LISTS, window=RankWindow(4, 8))


def test_a_product_is_drawn_once_and_shown_by_one_of_its_images() -> None:
    products = {name: f"P{number // 4}" for number, name in enumerate(CANDIDATES)}
    universe = Universe(catalogue(QUERIES, CANDIDATES, products), PairRules())
    assert universe.size == 12 * 10
    some = draw_random(universe, 50, 1, stratum="outside", suspects=POOL)
    drawn = some.iloc[len(POOL) :]
    assert set(drawn["stratum"]) == {"outside@product"}
    units = universe.numbers(drawn)
    held = set(universe.numbers(POOL).tolist())
    assert len(set(units.tolist())) == 50
    assert not held & set(units.tolist())
    assert drawn["probability"].tolist() == pytest.approx([50 / (120 - len(held))] * 50)
    assert drawn["candidate_id"].nunique() > 15


def test_draws_of_an_older_version_are_not_drawn_again() -> None:
    """They were pairs of images from all of A; drawing goes on with units of the project's universe."""
    universe = Universe(IMAGES, PairRules())
    old = draw_random(EVERY, 40, 1, suspects=POOL)
    there = {unit for unit in universe.numbers(old.iloc[len(POOL) :]).tolist() if unit >= 0}
    new = draw_random(universe, universe.size - len(there), 1, suspects=old)
    fresh = new[new["stratum"] == "all@product"]
    assert not there & set(universe.numbers(fresh).tolist())
    assert len(fresh) + len(there) == universe.size
