"""The universe of pairs that a project is about: its unit, its size, which pairs are in it, and uniform draws of it.

Its rules decide it once: roles, `exclude_product`, `one_per_product` and `category`, as the models' lists follow them.
Random draws, prevalence, gain, pool recall, Chao2, cost and the known truth of simulations all use it. It is never
listed: units are numbers of a grid (query, target), from which the targets of the query's own product are barred.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from eds import choices
from eds.errors import InputError
from eds.pairs import Flags, Integers, decode, encode, in_sorted, sort_unique, unique_ids

Unit = Literal["image", "product"]
UNIT_NAMES: dict[Unit, str] = {
    "image": "pairs of a query and a candidate image",
    "product": "pairs of a query and a candidate product",
}


@dataclass(frozen=True)
class PairRules:
    """Which candidates a query's list may hold; never the query image itself."""

    exclude_product: bool = True  # no image of the query's own product
    one_per_product: bool = True  # one image of each product
    category: choices.CategoryRule = "any"

    @property
    def unit(self) -> Unit:
        """What a list holds one of: a candidate image, or a candidate product, which one image stands for."""
        return "product" if self.one_per_product else "image"

    @property
    def images(self) -> "PairRules":
        """The same rules for pairs of images."""
        return replace(self, one_per_product=False)


ALL_PAIRS = PairRules(exclude_product=False, one_per_product=False)  # A of specification 1.3: the paper's universe


@dataclass(frozen=True)
class UniverseSize:
    """How large a universe is, and of what."""

    unit: Unit
    size: int  # units
    image_pairs: int  # pairs of images that the units consist of
    rules: PairRules

    @property
    def text(self) -> str:
        """Size and unit in words.

        >>> UniverseSize("product", 1200, 3600, PairRules()).text
        '1,200 pairs of a query and a candidate product'
        """
        return f"{self.size:,} {UNIT_NAMES[self.unit]}"


class Universe:
    """All units of a catalogue by its rules: (query, candidate image), or (query, candidate product).

    Formula: U = {(q, c): the rules allow candidate c in the list of query q}; with `one_per_product` the units are
    {(q, product of c)}.
    Source: specification 18.1.
    Conventions: the query image is never its own candidate; an image without a product is its own product; without
    any rule (`ALL_PAIRS`) the size is |Q| |D| - |Q and D| of specification 1.3.
    Example, run by doctest:
    >>> images = pd.DataFrame({"image_id": list("abcd"), "product_id": list("xxyy"), "role": "both", "category": "k"})
    >>> [Universe(images, rules).size for rules in (PairRules(), PairRules(one_per_product=False), ALL_PAIRS)]
    [4, 8, 12]
    """

    def __init__(self, images: pd.DataFrame, rules: PairRules) -> None:
        choices.check(choices.CategoryRule, rules.category, "category")
        self.rules = rules
        self.images = images
        asks, offers = images["role"] != "candidate", images["role"] != "query"
        self.queries: pa.Array = unique_ids(images.loc[asks, "image_id"])
        self.candidates: pa.Array = unique_ids(images.loc[offers, "image_id"])
        product = images["product_id"].fillna(images["image_id"])
        self.products: pa.Array = unique_ids(product)
        code = encode(product, self.products)
        self._query_product = _aligned(images.loc[asks, "image_id"], self.queries, code[asks.to_numpy()])
        self._product = _aligned(images.loc[offers, "image_id"], self.candidates, code[offers.to_numpy()])
        own = encode(self.queries, self.candidates)
        self._own = own  # the query's number among the candidates, -1
        self._group = np.zeros(len(self.queries), np.int64)
        self._category = np.zeros(len(self.candidates), np.int64)
        if rules.category != "any":
            kinds = pd.factorize(images["category"])[0].astype(np.int64)
            self._group = _aligned(images.loc[asks, "image_id"], self.queries, kinds[asks.to_numpy()])
            self._category = _aligned(images.loc[offers, "image_id"], self.candidates, kinds[offers.to_numpy()])
        target = self._product if rules.one_per_product else np.arange(len(self.candidates))
        self._targets: dict[int, Integers] = {}
        self._counts: dict[int, Integers] = {}  # candidate images of each target
        for group in np.unique(self._group).tolist():
            self._targets[group], self._counts[group] = np.unique(target[self._offered(group)], return_counts=True)
        width = np.array([len(self._targets[group]) for group in self._group.tolist()], np.int64)
        self._first = np.append(0, np.cumsum(width)).astype(np.int64)
        self._barred = self._bar()
        self.size = int(self._first[-1]) - len(self._barred)

    @property
    def unit(self) -> Unit:
        """What the universe consists of."""
        return self.rules.unit

    @cached_property
    def image_pairs(self) -> int:
        """Pairs of images that the units consist of."""
        if self.unit == "image":
            return self.size
        totals = {group: int(counts.sum()) for group, counts in self._counts.items()}
        every = sum(totals[group] for group in self._group.tolist())
        if self.rules.exclude_product:
            local = self._local(self._group, self._query_product)
            own = sum(
                int(self._counts[group][place])
                for group, place in zip(self._group.tolist(), local.tolist(), strict=True)
                if place >= 0
            )
            return every - own
        return every - int(self._offers_itself().sum())

    @property
    def described(self) -> UniverseSize:
        """Size and unit."""
        return UniverseSize(self.unit, self.size, self.image_pairs, self.rules)

    @cached_property
    def of_images(self) -> "Universe":
        """The universe of the same rules whose units are pairs of images."""
        return self if self.unit == "image" else Universe(self.images, self.rules.images)

    @cached_property
    def of_products(self) -> "Universe":
        """The universe of the same rules whose units are pairs of a query and a product."""
        return self if self.unit == "product" else Universe(self.images, replace(self.rules, one_per_product=True))

    def numbers(self, pairs: pd.DataFrame) -> Integers:
        """The unit of every pair (query_id, candidate_id) of images; -1 for a pair that is not in the universe."""
        query, candidate = encode(pairs["query_id"], self.queries), encode(pairs["candidate_id"], self.candidates)
        result = np.full(len(pairs), -1, np.int64)
        rows = np.flatnonzero((query >= 0) & (candidate >= 0))
        query, candidate = query[rows], candidate[rows]
        allowed = candidate != self._own[query]
        if self.rules.exclude_product:
            allowed &= self._product[candidate] != self._query_product[query]
        if self.rules.category != "any":
            same = self._category[candidate] == self._group[query]
            allowed &= same if self.rules.category == "same" else ~same
        rows, query, candidate = rows[allowed], query[allowed], candidate[allowed]
        target = self._product[candidate] if self.unit == "product" else candidate
        result[rows] = self._first[query] + self._local(self._group[query], target)
        return result

    def numbers_of_products(self, asked: Integers, offered: Integers) -> Integers:
        """All units of a query of product `asked` and a candidate of product `offered` (codes in `products`).

        Ascending and distinct; the two have one entry for each pair of products.
        """
        query, row = _expanded(self._query_product, asked)
        target = offered[row]
        if self.unit == "image":
            target, again = _expanded(self._product, target)
            query = query[again]
        local = self._local(self._group[query], target)
        found = self._first[query[local >= 0]] + local[local >= 0]
        return sort_unique(found[~in_sorted(self._barred, found)])

    @property
    def list_lengths(self) -> Integers:
        """Length of each query's full list: its units."""
        return np.diff(self._first) - np.bincount(self.query_of(self._barred), minlength=len(self.queries))

    def query_of(self, numbers: Integers) -> Integers:
        """The query of each of these units, as its place in `queries`."""
        return np.searchsorted(self._first, numbers, side="right") - 1

    def images_of(self, numbers: Integers) -> Integers:
        """How many candidate images each of these units has."""
        query = self.query_of(numbers)
        local = numbers - self._first[query]
        result = np.zeros(len(numbers), np.int64)
        for group in np.unique(self._group[query]).tolist():
            mine = self._group[query] == group
            result[mine] = self._counts[group][local[mine]]
        if self.unit == "product" and not self.rules.exclude_product:
            result -= self._offers_itself()[query] & (self._target(query, local) == self._query_product[query])
        return result

    def same_category(self, numbers: Integers) -> Flags:
        """Which of these units join a query and a candidate of one category; an unknown category is the same as none.

        A product's category is that of its first candidate image.
        """
        images = self.images
        asks, offers = images["role"] != "candidate", images["role"] != "query"
        kinds = pd.factorize(images["category"])[0].astype(np.int64)
        of_query = _aligned(images.loc[asks, "image_id"], self.queries, kinds[asks.to_numpy()])
        of_target = _aligned(images.loc[offers, "image_id"], self.candidates, kinds[offers.to_numpy()])
        if self.unit == "product":
            product, first = np.unique(self._product, return_index=True)
            by_product = np.full(len(self.products), -1, np.int64)
            by_product[product] = of_target[first]
            of_target = by_product
        query = self.query_of(numbers)
        kind = of_query[query]
        return np.asarray((kind >= 0) & (kind == of_target[self._target(query, numbers - self._first[query])]))

    def draw(self, n: int, rng: np.random.Generator, without: Integers) -> Integers:
        """N further units, uniformly and without replacement; `without` are the units to leave out, ascending."""
        gaps = sort_unique(self._barred, without)
        free = int(self._first[-1]) - len(gaps)
        if n > free:
            raise InputError(f"{n:,} of {free:,} pairs cannot be drawn", where="random pairs", hint="Ask for fewer.")
        chosen = choose(free, n, rng)
        return chosen + np.searchsorted(gaps - np.arange(len(gaps)), chosen, side="right")

    def pairs(self, numbers: Integers, rng: np.random.Generator | None = None) -> pd.DataFrame:
        """Pairs of images (query_id, candidate_id) that stand for these units.

        Of a product one image is drawn uniformly with `rng`, which a universe of images does not need.
        """
        query = self.query_of(numbers)
        target = self._target(query, numbers - self._first[query])
        candidate = target
        if self.unit == "product":
            candidate = self._one_image(query, target, rng or np.random.Generator(np.random.PCG64(0)))
        return pd.DataFrame(
            {"query_id": decode(query, self.queries), "candidate_id": decode(candidate, self.candidates)}
        )

    def _one_image(self, query: Integers, product: Integers, rng: np.random.Generator) -> Integers:
        order = np.argsort(self._product, kind="stable")
        first = np.searchsorted(self._product[order], product)
        count = np.searchsorted(self._product[order], product, side="right") - first
        result = np.full(len(query), -1, np.int64)
        open_rows = np.arange(len(query))
        while len(open_rows):  # an image that the rules bar is drawn again: at least one is allowed
            drawn = order[first[open_rows] + (rng.random(len(open_rows)) * count[open_rows]).astype(np.int64)]
            allowed = drawn != self._own[query[open_rows]]
            if self.rules.category != "any":
                same = self._category[drawn] == self._group[query[open_rows]]
                allowed &= same if self.rules.category == "same" else ~same
            result[open_rows[allowed]] = drawn[allowed]
            open_rows = open_rows[~allowed]
        return result

    def _target(self, query: Integers, local: Integers) -> Integers:
        result = np.empty(len(query), np.int64)
        for group in np.unique(self._group[query]).tolist():
            mine = self._group[query] == group
            result[mine] = self._targets[group][local[mine]]
        return result

    def _offered(self, group: int) -> Integers:
        """The candidates that queries of the group may be offered."""
        if self.rules.category == "any":
            return np.arange(len(self.candidates))
        same = self._category == group
        return np.flatnonzero(same if self.rules.category == "same" else ~same)

    def _local(self, group: Integers, target: Integers) -> Integers:
        """The place of each target among those of the group, -1 where it is not among them."""
        result = np.full(len(target), -1, np.int64)
        for name in np.unique(group).tolist():
            known, mine = self._targets[name], np.flatnonzero(group == name)
            place = np.searchsorted(known, target[mine])
            there = place < len(known)
            there[there] = known[place[there]] == target[mine][there]
            result[mine[there]] = place[there]
        return result

    def _offers_itself(self) -> Flags:
        """Which queries are among the candidates that they may be offered."""
        itself = self._own >= 0
        if self.rules.category == "other":  # its own category is never offered
            itself = np.zeros_like(itself)
        return itself

    def _bar(self) -> Integers:
        """The numbers of the grid that are not units, ascending."""
        query = np.arange(len(self.queries))
        if self.unit == "product":
            target = self._query_product
            local = self._local(self._group, target)
            barred = local >= 0
            if not self.rules.exclude_product:  # only where the query is the only image of its product
                alone = np.zeros(len(query), np.bool_)
                for group in np.unique(self._group).tolist():
                    mine = np.flatnonzero((self._group == group) & barred)
                    alone[mine] = self._counts[group][local[mine]] == 1
                barred &= alone & self._offers_itself()
            return np.sort(self._first[query[barred]] + local[barred])
        if not self.rules.exclude_product:
            mine = np.flatnonzero(self._offers_itself())
            return np.sort(self._first[mine] + self._local(self._group[mine], self._own[mine]))
        candidate, query = _expanded(self._product, self._query_product)
        local = self._local(self._group[query], candidate)
        return np.sort(self._first[query[local >= 0]] + local[local >= 0])


def choose(population: int, n: int, rng: np.random.Generator) -> Integers:
    """The first n distinct numbers of a stream of uniform ones below `population`: without replacement."""
    if population <= 4 * n:
        return rng.permutation(population)[:n]
    result = np.zeros(0, np.int64)
    while len(result) < n:
        result = np.concatenate([result, rng.integers(0, population, n)])
        result = result[np.sort(np.unique(result, return_index=True)[1])]
    return result[:n]


def _expanded(values: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Every place at which each wanted value stands, and for each of them the place of that wanted value.

    >>> [part.tolist() for part in _expanded(np.array([5, 7, 5]), np.array([7, 5, 6]))]
    [[1, 0, 2], [0, 1, 1]]
    """
    order = np.argsort(values, kind="stable")
    start = np.searchsorted(values[order], wanted)
    count = np.searchsorted(values[order], wanted, side="right") - start
    row = np.repeat(np.arange(len(wanted)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return order[start[row] + within], row


def _aligned(ids: "pd.Series[str]", order: pa.Array, values: Integers) -> Integers:
    """The values in the order of the ids."""
    result = np.empty(len(order), np.int64)
    result[encode(ids, order)] = values
    return result
