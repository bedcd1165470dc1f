"""The sample of queries: its size, its strata, and that only ids, categories and seed decide."""

from fractions import Fraction
from math import floor

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.images.roles import assign_roles

CATALOGUES = st.lists(st.sampled_from(["shirt", "dress", "bag", None]), min_size=1, max_size=60)


def catalogue(categories: list[str | None]) -> pd.DataFrame:
    ids = [f"image {number}" for number in range(len(categories))]
    frame = pd.DataFrame({"image_id": ids, "category": pd.Series(categories, dtype=object), "phase": None})
    return frame.assign(role="both")


@given(CATALOGUES, st.data())
def test_quotas_are_proportional(categories: list[str | None], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, len(categories)))
    images = assign_roles(catalogue(categories), queries=wanted, seed=3)
    drawn = images[images["role"] == "both"]
    assert len(drawn) == wanted
    assert set(images["role"]) <= {"both", "candidate"}
    for category in set(categories):
        share = Fraction(wanted * categories.count(category), len(categories))
        got = int((drawn["category"].isna() if category is None else drawn["category"] == category).sum())
        assert floor(share) <= got <= floor(share) + 1


@given(CATALOGUES, st.randoms(use_true_random=False), st.data())
def test_the_order_of_rows_is_nothing(categories: list[str | None], chance: object, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(1, len(categories)))
    images = catalogue(categories)
    order = list(range(len(images)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    one = assign_roles(images, queries=wanted, seed=1).set_index("image_id")["role"].to_dict()
    other = assign_roles(images.iloc[order], queries=wanted, seed=1).set_index("image_id")["role"].to_dict()
    assert one == other


def test_the_seed_matters_and_the_sample_is_even() -> None:
    images = catalogue(["a"] * 40)
    drawn = [
        set(found[found["role"] == "both"]["image_id"])
        for found in (assign_roles(images, queries=10, seed=seed) for seed in range(200))
    ]
    assert len(set(map(frozenset, drawn))) == 200
    times = [sum(name in one for one in drawn) for name in images["image_id"]]
    assert 25 <= min(times) <= max(times) <= 75  # expected 50, standard deviation 6.1


def test_all_share_and_wild() -> None:
    images = catalogue(["a"] * 8).assign(phase=["shop"] * 5 + ["street"] * 3)
    assert set(assign_roles(images, queries="all")["role"]) == {"both"}
    assert (assign_roles(images, queries=0.25)["role"] == "both").sum() == 2
    wild = assign_roles(images, wild_phases=["street"])
    assert wild["role"].tolist() == ["candidate"] * 5 + ["query"] * 3
    some = assign_roles(images, queries=1, wild_phases=["street"])
    assert sorted(some["role"]) == ["candidate"] * 5 + ["query"]


@pytest.mark.parametrize("queries", [0, 9, -1, 1.0, 0.0, True, "some"])
def test_what_cannot_be_drawn_is_refused(queries: object) -> None:
    with pytest.raises(InputError, match="queries is"):
        assign_roles(catalogue(["a"] * 8), queries=queries)  # type: ignore[arg-type]


def test_unknown_or_total_phases_are_refused() -> None:
    images = catalogue(["a", "b"]).assign(phase="shop")
    with pytest.raises(InputError, match="street"):
        assign_roles(images, wild_phases=["street"])
    with pytest.raises(InputError, match="none a candidate"):
        assign_roles(images, wild_phases=["shop"])
