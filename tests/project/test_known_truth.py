"""On catalogues whose truth is known: every answer says one number, and its interval contains the truth.

The long form, with 100 catalogues for each world, is tests/speed/known_truth.py.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eds.analysis.analyses.prevalence import pool_report
from eds.analysis.known_truth import KnownTruth, check_estimates, is_judged
from eds.analysis.totals import Estimate
from eds.pairs import Reals
from eds.suspects import Batching, draw_random, pool
from eds.universe import ALL_PAIRS, PairRules, Universe
from tests.project.shops import PAIR, Design, Shop, draw_shop
from tests.project.truth_walk import (
    SHARES,
    World,
    said_by_command,
    said_by_page,
    said_by_report,
    said_by_status,
    walk,
)

SMALL = Design(products=90, queries=30, prevalence=0.04)


@pytest.mark.parametrize(
    "world",
    [
        World("products", SMALL, draws=300),
        World("images, half judged", SMALL, one_per_product=False, draws=300, judged=0.5, order="fusion"),
    ],
    ids=lambda world: world.name,
)
def test_status_page_report_and_command_say_one_number_that_fits_the_truth(world: World, tmp_path: Path) -> None:
    made = walk(world, 3, tmp_path)
    said, truth, project = said_by_status(made.project), made.truth(), made.project
    assert said_by_page(project) == said
    document, report = said_by_command(project), said_by_report(project)
    status = project.status()
    assert status.universe is not None
    assert status.universe.size == truth["universe"] == document["universe"]["size"]
    assert status.universe.unit == world.rules.unit == document["universe"]["unit"]
    for name in SHARES:
        estimate = said[name]
        told = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        typed = document[name] if name != "recall" else dict(zip(told, document["recall"].values(), strict=True))
        assert {part: typed[part] for part in told} == told
        assert report[name] == {part: told[part] for part in report[name]}
        assert estimate.low <= truth[name] <= estimate.high, name


def lists_of(shop: Shop, rules: PairRules, k: int) -> pd.DataFrame:
    """Each model's first k candidates of each query, by the cosine of its vectors."""
    role, product = shop.images["role"].to_numpy(), shop.product
    asked, offered = np.flatnonzero(role != "candidate"), np.flatnonzero(role != "query")
    names, parts = shop.images["image_id"].to_numpy(), []
    for model, vectors in shop.vectors.items():
        unit: Reals = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        score = unit[asked] @ unit[offered].T
        score[asked[:, None] == offered] = -np.inf
        if rules.exclude_product:
            score[product[asked][:, None] == product[offered]] = -np.inf
        ranked = np.argsort(-score, axis=1, kind="stable")
        query = np.repeat(asked, len(offered))
        rows = pd.DataFrame({"query": query, "candidate": offered[ranked].ravel()})
        rows = rows[np.isfinite(np.take_along_axis(score, ranked, axis=1).ravel())]
        if rules.one_per_product:
            rows = rows[~rows.assign(product=product[rows["candidate"]]).duplicated(["query", "product"])]
        rank = rows.groupby("query").cumcount()
        rows = rows.assign(rank=rank)[rank < k]
        ids = {"query_id": names[rows["query"]], "candidate_id": names[rows["candidate"]]}
        parts.append(pd.DataFrame({"model": model, **ids, "rank": rows["rank"].to_numpy(), "score": 0.5}))
    return pd.concat(parts, ignore_index=True)


def estimated(world: World, seed: int, drawn_from: PairRules) -> dict[str, tuple[float, Estimate | None]]:
    """Truth and estimate of each share of one catalogue, without the verbs."""
    rules, shop = world.rules, draw_shop(world.design, seed)
    suspects = pool(lists_of(shop, rules, world.k), world.k, Batching(world.order, 40, seed))
    seen = suspects.sort_values("position").head(round(world.judged * len(suspects)))
    suspects = draw_random(Universe(shop.images, drawn_from), world.draws, seed, suspects=suspects)
    pairs = pd.concat([seen, suspects[suspects["origin"] == "random"]])[PAIR].drop_duplicates()
    found = pool_report(Universe(shop.images, rules), suspects, pairs.assign(value=shop.value(pairs)))
    units, product = shop.units(rules), shop.images.set_index("image_id")["product_id"]
    held = suspects[suspects["origin"] == "pool"]
    held = held.assign(unit=held["candidate_id"].map(product) if rules.one_per_product else held["candidate_id"])
    value = held[["query_id", "unit"]].drop_duplicates().merge(units)["value"]
    p, positives = float(units["value"].mean()), int(units["value"].sum())
    return {
        "p": (p, found.p),
        "gain": (float(value.mean()) / p, found.gain),
        "found": (found.known / positives, found.found),
        "recall": (int(value.sum()) / positives, found.recall),
    }


@pytest.mark.parametrize(
    ("world", "drawn_from"),
    [
        (World("products", Design(110, 40, prevalence=0.04), draws=300), PairRules()),
        (World("draws of an older version", Design(110, 40, prevalence=0.04), draws=350), ALL_PAIRS),
        (World("half judged", Design(110, 40, prevalence=0.04), draws=300, judged=0.5, order="fusion"), PairRules()),
    ],
    ids=lambda part: part.name if isinstance(part, World) else "",
)
def test_intervals_contain_the_truth_of_drawn_catalogues(world: World, drawn_from: PairRules) -> None:
    """12 catalogues: of intervals that cover 95 %, 3 or more misses have a chance of 2 %."""
    values = [estimated(world, seed, drawn_from) for seed in range(12)]
    for name in SHARES:
        parts = [(truth, estimate) for truth, estimate in (one[name] for one in values) if estimate]
        missed = [truth for truth, estimate in parts if not estimate.low - 1e-12 <= truth <= estimate.high + 1e-12]
        assert len(missed) < 3, name
        error = [estimate.value - truth for truth, estimate in parts if not math.isnan(estimate.value)]
        if name == "p":
            assert abs(np.mean(error)) < 4 * np.std(error) / np.sqrt(len(error))


def test_the_intervals_are_not_wider_than_they_need_to_be() -> None:
    """Twice as many draws narrow the interval of the recall by about the root of 2."""
    world = World("products", Design(110, 40, prevalence=0.04), draws=300)
    widths = []
    for draws in (300, 1200):
        made = [estimated(replace(world, draws=draws), seed, PairRules())["recall"][1] for seed in range(2)]
        widths.append(np.mean([one.high - one.low for one in made if one]))
    assert widths[1] < 0.75 * widths[0]


def test_a_pool_whose_likeliest_half_is_judged_is_checked_against_its_whole_rate() -> None:
    """The judged half holds nearly all similar pairs, so that its own rate is far from that of the pool."""
    shop, rules = draw_shop(Design(110, 40, prevalence=0.04), 4), PairRules()
    suspects = pool(lists_of(shop, rules, 5), 5, Batching("fusion", 40, 4))
    seen = suspects.sort_values("position").head(len(suspects) // 2)[PAIR]
    found = pool_report(Universe(shop.images, rules), suspects, seen.assign(value=shop.value(seen)))
    units = shop.units(rules)
    held = suspects.assign(unit=suspects["candidate_id"].map(shop.images.set_index("image_id")["product_id"]))
    rate = float(held[["query_id", "unit"]].drop_duplicates().merge(units)["value"].mean())
    truth = KnownTruth(
        universe=found.universe,
        positives=int(units["value"].sum()),
        prevalence=float(units["value"].mean()),
        pool_units=found.pool.rate.pairs,
        pool_positives=round(rate * found.pool.rate.pairs),
        pool_rate=rate,
        pool_recall=None,
        gain=None,
        image_pair_prevalence=0.04,
    )
    assert found.pool.rate.interval.low > rate
    assert not is_judged(found)
    check = check_estimates(found, truth)[0]
    assert check.estimate == found.pool.whole_rate
    assert check.contained
