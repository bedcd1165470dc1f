"""How often the interval of weighted draws covers the truth, and its width: `python -m tests.speed.weighted_draws`.

The long form of tests/suspects/test_weighted_pairs.py and of the widths: 500 catalogues for each guess of the relevance
model (right, useless, inverted). Beside them as many draws spread over strata, near and rest. `--learned N`: instead
N drawn shops, whose relevance model is learned from the labels of the pool and of uniform draws, as in a project.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from eds.analysis.analyses.prevalence import pool_report
from eds.analysis.planning import whole_allocation
from eds.analysis.totals import Sampled, outside_total
from eds.analysis.unit_labels import UnitLabels
from eds.intervals import wilson_interval
from eds.suspects import Batching, draw_random, draw_weighted, pool
from eds.universe import PairRules, Universe
from tests.project.shops import PAIR, Design, Shop, draw_shop
from tests.suspects.test_weighted_pairs import simulate


def by_strata(seed: int, n: int = 1800, *, uniform: bool = False) -> tuple[float, float, float]:
    """The truth of the catalogue of `right`, and its limits by near and rest, allocated by their true rates.

    `uniform`: by as many draws from all.
    """
    rng = np.random.default_rng([seed, len("right")])
    quality = rng.normal(size=12_000)
    near = rng.random(12_000) < 1 / (1 + np.exp(3.5 - 1.8 * quality))
    rest = rng.random(150_000) < 0.0002
    if uniform:
        every = rng.permutation(np.concatenate([near, rest]))
        total = outside_total([Sampled("all", len(every), n, n, int(every[:n].sum()))], 0.95, "squared")
        return float(every.sum()), total.low, total.high
    counts = whole_allocation([len(near), len(rest)], [near.mean(), rest.mean()], n)
    parts = [
        Sampled(name, len(value), count, count, int(value[rng.permutation(len(value))[:count]].sum()))
        for name, value, count in zip(("near", "rest"), (near, rest), counts, strict=True)
    ]
    total = outside_total(parts, 0.95, "squared")
    return float(near.sum() + rest.sum()), total.low, total.high


def by_learned(seed: int, design: Design, uniform: int, weighted: int) -> tuple[int, float, float, float]:
    """Similar units of a shop, their limits by uniform and then weighted draws, and the effective positives."""
    shop, rules = draw_shop(design, seed), PairRules(one_per_product=True)
    universe = Universe(shop.images, rules)
    lists = listed(shop, 20)
    suspects = draw_random(universe, uniform, seed, suspects=pool(lists, 5, Batching("random", 60, seed)))
    known = UnitLabels.of(universe, labels_of(shop, suspects))
    labels = known.unit, known.value
    suspects = draw_weighted(universe, weighted, seed, suspects=suspects, neighbors=lists, labels=labels).suspects
    found = pool_report(universe, suspects, labels_of(shop, suspects), image_pairs=False)
    assert found.total is not None
    return int(shop.units(rules)["value"].sum()), found.total.low, found.total.high, found.strata[0].positive


def listed(shop: Shop, k: int) -> pd.DataFrame:
    """Each model's first k candidates of every query, one of a product."""
    images, rows = shop.images, []
    query, candidate = (np.flatnonzero(images["role"] != other) for other in ("candidate", "query"))
    for model, vectors in shop.vectors.items():
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        score = unit[query] @ unit[candidate].T
        pairs = pd.DataFrame({"q": np.repeat(query, len(candidate)), "c": np.tile(candidate, len(query))})
        pairs = pairs.assign(model=model, score=score.ravel(), product=shop.product[pairs["c"]])
        pairs = pairs[shop.product[pairs["q"]] != pairs["product"]].sort_values(["q", "score"], ascending=[True, False])
        pairs = pairs.drop_duplicates(["q", "product"])
        rows.append(pairs.assign(rank=pairs.groupby("q").cumcount()).query("rank < @k"))
    every, names = pd.concat(rows, ignore_index=True), images["image_id"].to_numpy(str)
    every = every.assign(query_id=names[every["q"]], candidate_id=names[every["c"]])
    return pd.DataFrame(every, columns=["model", *PAIR, "rank", "score"])


def labels_of(shop: Shop, suspects: pd.DataFrame) -> pd.DataFrame:
    """What is true of every pair of a table."""
    pairs = suspects[PAIR].drop_duplicates()
    return pairs.assign(value=shop.value(pairs))


def show_learned(shops: int) -> None:
    """How often similar units are covered with a model that is learned, by rarity and number of draws."""
    for rate, draws in ((0.03, 300), (0.03, 100), (0.01, 300)):
        design = Design(products=170, queries=60, prevalence=rate)
        rows = [by_learned(seed, design, draws, draws) for seed in range(shops)]
        inside = sum(low <= truth <= high for truth, low, high, _ in rows)
        low, high = wilson_interval(inside, shops)
        print(
            f"p of {rate:.0%}, {draws} uniform and {draws} weighted draws: covered {inside / shops:.3f} "
            f"[{low:.3f}, {high:.3f}], {np.mean([row[3] for row in rows]):.1f} effective positives",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=500)
    parser.add_argument("--learned", type=int, help="Drawn shops with a model that is learned.")
    given = parser.parse_args(arguments)
    if given.learned:
        show_learned(given.learned)
        return
    catalogues = range(given.catalogues)
    strata = [by_strata(seed) for seed in catalogues]
    base = float(np.median([(high - low) / truth for truth, low, high in strata]))
    for kind in ("strata", "right", "useless", "inverted"):
        rows = strata
        if kind != "strata":
            drawn = [simulate(kind, seed) for seed in catalogues]
            rows = [(truth, *sample.limits(0.95)) for truth, sample in drawn]
        inside = sum(low <= truth <= high for truth, low, high in rows)
        width = float(np.median([(high - low) / truth for truth, low, high in rows]))
        low, high = wilson_interval(inside, len(rows))
        print(
            f"{kind:9} covered {inside / len(rows):.3f} [{low:.3f}, {high:.3f}], width {width:.3f} of the truth, "
            f"{width / base:.2f} of strata"
        )


if __name__ == "__main__":
    main()
