"""The universe of pairs against its definition by loops, and against the lists that mining makes."""

from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.neighbors.rules import Rules, list_lengths
from eds.universe import ALL_PAIRS, PairRules, Universe, choose

RULES = st.builds(PairRules, st.booleans(), st.booleans(), st.sampled_from(["any", "same", "other"]))
Pair = tuple[str, str]


@st.composite
def catalogues(draw: st.DrawFn) -> pd.DataFrame:
    """Images of few products and categories, in any role."""
    n = draw(st.integers(1, 12))
    products = draw(st.lists(st.sampled_from("uvwxyz"), min_size=n, max_size=n))
    category = draw(st.booleans())  # of the product, or of each image
    kinds = [{"u": "a", "v": "a"}.get(name, "b") for name in products]
    if category:
        kinds = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    role = draw(st.lists(st.sampled_from(["query", "candidate", "both"]), min_size=n, max_size=n))
    names = draw(st.permutations([f"i{number:02}" for number in range(n)]))
    return pd.DataFrame({"image_id": names, "product_id": products, "category": kinds, "role": role})


def image_pairs(images: pd.DataFrame, rules: PairRules) -> Iterator[tuple[Pair, Pair]]:
    """Every pair of images that the rules allow, and its unit."""
    rows = list(images[["image_id", "product_id", "category", "role"]].itertuples(index=False, name=None))
    for query, own, kind, asks in rows:
        for candidate, product, other, offers in rows:
            if asks == "candidate" or offers == "query" or query == candidate:
                continue
            if rules.exclude_product and own == product:
                continue
            if rules.category != "any" and (kind == other) != (rules.category == "same"):
                continue
            yield (query, candidate), (query, product if rules.one_per_product else candidate)


def frame(pairs: list[Pair]) -> pd.DataFrame:
    return pd.DataFrame(pairs, columns=["query_id", "candidate_id"], dtype="str")


@given(catalogues(), RULES, st.integers(0, 99))
def test_units_are_those_of_the_definition(images: pd.DataFrame, rules: PairRules, seed: int) -> None:
    universe, allowed = Universe(images, rules), dict(image_pairs(images, rules))
    units = sorted(set(allowed.values()))
    assert universe.size == len(units)
    assert universe.image_pairs == len(allowed) == universe.of_images.size
    assert universe.of_products.size == len({(q, images.set_index("image_id")["product_id"][c]) for q, c in allowed})
    every = [(q, c) for q in images["image_id"] for c in images["image_id"]]
    number = universe.numbers(frame(every))
    inside = dict(zip(every, number.tolist(), strict=True))
    assert {pair for pair, unit in inside.items() if unit >= 0} == set(allowed)
    assert len({(allowed[pair], inside[pair]) for pair in allowed}) == len(units)  # one number for each unit
    numbers = np.unique(number[number >= 0])
    members = [sum(unit == allowed[pair] for pair in allowed) for unit in map(_unit(inside, allowed), numbers.tolist())]
    assert universe.images_of(numbers).tolist() == members
    drawn = universe.draw(len(units), np.random.default_rng(seed), np.zeros(0, np.int64))
    assert np.sort(drawn).tolist() == numbers.tolist()
    shown = universe.pairs(drawn, np.random.default_rng(seed))
    assert universe.numbers(shown).tolist() == drawn.tolist()
    half = np.sort(drawn[: len(drawn) // 2])
    rest = universe.draw(len(units) - len(half), np.random.default_rng(seed), half)
    assert not set(rest.tolist()) & set(half.tolist())


def _unit(inside: dict[Pair, int], allowed: dict[Pair, Pair]):  # type: ignore[no-untyped-def]
    by_number = {inside[pair]: unit for pair, unit in allowed.items()}
    return by_number.__getitem__


@given(catalogues(), RULES)
def test_the_universe_is_what_full_lists_hold(images: pd.DataFrame, rules: PairRules) -> None:
    queries = images.loc[images["role"] != "candidate", "image_id"]
    lengths = list_lengths(images, queries, Rules(1, *astuple(rules)))
    universe = Universe(images, rules)
    assert universe.size == lengths.sum()
    assert dict(zip(queries, lengths.tolist(), strict=True)) == dict(
        zip(universe.queries.to_pylist(), universe.list_lengths.tolist(), strict=True)
    )


@given(catalogues(), RULES)
def test_units_of_products_are_those_of_all_their_images(images: pd.DataFrame, rules: PairRules) -> None:
    images = images.assign(category=images["product_id"].map({"u": "a", "v": "a"}).fillna("b"))
    universe = Universe(images, rules)
    asked, offered = (part.ravel() for part in np.indices((len(universe.products), len(universe.products))))
    assert len(universe.numbers_of_products(asked, offered)) == universe.size
    some = universe.numbers_of_products(asked[:3], offered[:3])
    names = universe.products.to_pylist()
    mine = {(names[q], names[c]) for q, c in zip(asked[:3], offered[:3], strict=True)}
    of = images.set_index("image_id")["product_id"]
    expected = {unit for (q, c), unit in image_pairs(images, rules) if (of[q], of[c]) in mine}
    assert len(some) == len(expected)


def test_without_rules_it_is_the_papers_universe() -> None:
    ids = [f"i{number}" for number in range(30)]
    roles = ["both"] * 5 + ["query"] * 5 + ["candidate"] * 20
    images = pd.DataFrame({"image_id": ids, "product_id": ["p"] * 30, "category": None, "role": roles})
    assert Universe(images, ALL_PAIRS).size == 10 * 25 - 5


@pytest.mark.parametrize("rules", [PairRules(), PairRules(category="same"), PairRules(False, True)])
def test_every_unit_and_every_image_of_it_is_drawn_as_often(rules: PairRules) -> None:
    """Each count over many seeds is binomial: the largest deviation stays within 4.5 standard errors."""
    images = pd.DataFrame(
        {
            "image_id": list("abcdefgh"),
            "product_id": list("uuvvvwxx"),
            "category": list("kkkkkmkk"),
            "role": ["both", "candidate", "both", "candidate", "candidate", "both", "query", "candidate"],
        }
    )
    universe, seeds = Universe(images, rules), 3000
    allowed = dict(image_pairs(images, rules))
    counts = dict.fromkeys(allowed, 0)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        shown = universe.pairs(universe.draw(2, rng, np.zeros(0, np.int64)), rng)
        for one in zip(shown["query_id"], shown["candidate_id"], strict=True):
            counts[one] += 1
    for pair, unit in allowed.items():
        chance = 2 / universe.size / sum(other == unit for other in allowed.values())
        assert abs(counts[pair] / seeds - chance) < 4.5 * np.sqrt(chance * (1 - chance) / seeds)


@pytest.mark.parametrize(("population", "n"), [(12, 4), (12, 2), (40, 3), (5, 5)])
def test_numbers_are_chosen_uniformly_without_replacement(population: int, n: int) -> None:
    counts, seeds = np.zeros((population, population)), 20_000
    rng = np.random.default_rng(0)
    for _ in range(seeds):
        chosen = choose(population, n, rng)
        assert len(set(chosen.tolist())) == n
        counts[np.ix_(chosen, chosen)] += 1
    pairs = counts[~np.eye(population, dtype=bool)] / seeds
    both = n * (n - 1) / (population * (population - 1))
    assert np.abs(np.diag(counts) / seeds - n / population).max() <= 4.5 * np.sqrt(n / population / seeds)
    assert np.abs(pairs - both).max() <= 5 * np.sqrt(both / seeds)


def test_numbers_beyond_thirty_two_bits_are_chosen() -> None:
    chosen = choose(10**12, 100_000, np.random.default_rng(0))
    assert len(np.unique(chosen)) == 100_000
    assert abs(chosen.mean() / 10**12 - 0.5) < 0.005
