"""The pool's report against loops over all pairs: which units count, whatever roles, products and draws there are."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from eds.analysis.analyses.prevalence import Prevalence, pool_report
from eds.errors import InputError
from eds.intervals import clopper_pearson_interval
from eds.suspects import draw_random, pool
from eds.tables import TRUTH
from eds.universe import ALL_PAIRS, PairRules, Universe
from tests.metrics.projects import catalogue

IMAGES = catalogue(3)
PRODUCT = dict(IMAGES[["image_id", "product_id"]].itertuples(index=False, name=None))
RULES = [PairRules(), PairRules(one_per_product=False), PairRules(exclude_product=False), ALL_PAIRS]
PAIR = ["query_id", "candidate_id"]
Pair = tuple[str, str]


def unit_of(rules: PairRules) -> Callable[[Pair], Pair]:
    return lambda pair: (pair[0], PRODUCT[pair[1]]) if rules.one_per_product else pair


def every_pair(rules: PairRules) -> set[Pair]:
    """All pairs of images of the universe, by its definition."""
    rows = [tuple(map(str, row)) for row in IMAGES[["image_id", "product_id", "role"]].to_numpy()]
    return {
        (query, candidate)
        for (query, own, asks), (candidate, product, offers) in itertools.product(rows, rows)
        if asks != "candidate" and offers != "query" and query != candidate
        if not (rules.exclude_product and own == product)
    }


def lists(of: list[Pair]) -> pd.DataFrame:
    rows = pd.DataFrame(of, columns=PAIR).assign(model="m", score=0.5)
    return rows.assign(rank=rows.groupby("query_id").cumcount())


def value_of(pair: Pair) -> int:
    """One in three products is similar to a query; and one in five images, whatever its product."""
    return int((int(pair[0][1:]) + int(PRODUCT[pair[1]][1:])) % 3 == 0 or int(pair[1][1:]) % 5 == 0)


def judged(pairs: pd.DataFrame) -> pd.DataFrame:
    rows = pairs[PAIR].drop_duplicates()
    value = [value_of(pair) for pair in rows.itertuples(index=False, name=None)]
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    return rows.assign(value=value, **votes, tie=False, rule="majority")[TRUTH.names]


def pairs_of(frame: pd.DataFrame) -> set[Pair]:
    return set(frame[PAIR].itertuples(index=False, name=None))


def made_pool(rules: PairRules) -> pd.DataFrame:
    """It holds wild queries as candidates (i12 and i13), a candidate as a query (i20), and pairs of one product."""
    one_product = sorted(every_pair(ALL_PAIRS) - every_pair(PairRules()))[:5]
    strange = [("i00", "i12"), ("i00", "i13"), ("i01", "i12"), ("i20", "i21")]
    return pool(lists(list(dict.fromkeys([*sorted(every_pair(rules))[:40:2], *one_product, *strange]))), 100)


def report_of(rules: PairRules, suspects: pd.DataFrame, truth: pd.DataFrame) -> Prevalence:
    return pool_report(Universe(IMAGES, rules), suspects, truth)


def test_draws_of_probability_0_are_refused() -> None:
    suspects = draw_random(Universe(IMAGES, PairRules()), 30, 5, suspects=made_pool(PairRules()))
    suspects["probability"] = suspects["probability"].where(suspects["origin"] != "random", 0.0)
    with pytest.raises(InputError, match="30 random pairs have probability 0"):
        report_of(PairRules(), suspects, judged(suspects))


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("stratum", ["all", "outside"])
def test_only_units_of_the_universe_count(rules: PairRules, stratum: str) -> None:
    universe, unit = Universe(IMAGES, rules), unit_of(rules)
    suspects = draw_random(universe, 120, 5, stratum=stratum, suspects=made_pool(rules))
    truth = judged(suspects)
    found = report_of(rules, suspects, truth)
    everything = {unit(pair) for pair in every_pair(rules)}
    positive: dict[Pair, int] = {}
    for pair in pairs_of(truth) & every_pair(rules):
        positive[unit(pair)] = max(positive.get(unit(pair), 0), value_of(pair))
    held = {unit(pair) for pair in pairs_of(made_pool(rules)) & every_pair(rules)}
    assert found.universe.size == len(everything)
    assert found.universe.unit == ("product" if rules.one_per_product else "image")
    assert found.pool.left_out == len(pairs_of(made_pool(rules)) - every_pair(rules))
    assert (found.pool.rate.pairs, found.pool.rate.labelled) == (len(held), len(held))
    assert found.pool.rate.positive == sum(positive[one] for one in held) == found.pool.positives.value
    assert [row.rate.pairs for row in found.models] == [len(held)]
    assert found.known == sum(positive.values())
    assert found.p_lower_bound == pytest.approx(sum(positive.values()) / len(everything))
    drawn = [unit(pair) for pair in pairs_of(suspects[suspects["origin"] == "random"])]
    beyond = [positive[one] for one in drawn if one not in held]
    (outside,) = found.strata  # nothing is left that no stratum covers, so that the recall is known
    assert (outside.size, outside.labelled, outside.positive) == (len(everything) - len(held), len(beyond), sum(beyond))
    missed = (len(everything) - len(held)) * sum(beyond) / len(beyond)
    assert found.recall is not None
    assert found.recall.value == pytest.approx(found.pool.rate.positive / (found.pool.rate.positive + missed))
    assert found.total is not None
    assert found.total.value == pytest.approx(found.pool.rate.positive + missed)
    if stratum == "all":
        assert found.random is not None
        assert found.p is not None
        rate = sum(positive[one] for one in drawn) / len(drawn)
        assert found.p.value == pytest.approx(max(rate, found.p_lower_bound))
        assert found.p.high == pytest.approx(clopper_pearson_interval(found.random.positive, 120)[1])
    else:
        assert found.random is None
        assert found.p is not None
        assert found.p.value == pytest.approx(found.total.value / len(everything))


@pytest.mark.parametrize("rules", RULES[:3])
def test_draws_of_an_older_version_are_restricted_and_weighted(rules: PairRules) -> None:
    """Older versions drew pairs of images from all of A; a product with two images was drawn twice as often."""
    universe, unit = Universe(IMAGES, rules), unit_of(rules)
    suspects = draw_random(Universe(IMAGES, ALL_PAIRS), 300, 5, suspects=made_pool(rules))
    found = report_of(rules, suspects, judged(suspects))
    everything = every_pair(rules)
    draws = pairs_of(suspects[suspects["origin"] == "random"])
    inside = sorted(draws & everything)
    assert found.draws_left_out == len(draws) - len(inside)
    images: dict[Pair, int] = {}
    for pair in everything:
        images[unit(pair)] = images.get(unit(pair), 0) + 1
    value: dict[Pair, int] = {}
    for pair in pairs_of(suspects) & everything:
        value[unit(pair)] = max(value.get(unit(pair), 0), value_of(pair))
    weight = [1 / images[unit(pair)] for pair in inside]
    rate = sum(w * value[unit(pair)] for w, pair in zip(weight, inside, strict=True)) / sum(weight)
    assert found.random is not None
    assert found.random.rate == pytest.approx(rate)
    assert found.random.drawn == len(inside)
    assert found.random.effective == pytest.approx(sum(weight) ** 2 / sum(w * w for w in weight))
    assert found.random.size == universe.size


def test_the_papers_p_is_that_of_pairs_of_images() -> None:
    universe = Universe(IMAGES, PairRules())
    suspects = draw_random(universe, universe.size - 10, 5, suspects=made_pool(PairRules()))
    found = report_of(PairRules(), suspects, judged(suspects))
    assert found.p is not None
    assert found.p_of_image_pairs is not None
    pairs = every_pair(PairRules())
    true = sum(map(value_of, pairs)) / len(pairs)
    assert found.p_of_image_pairs.low < true < found.p_of_image_pairs.high
    assert found.universe.image_pairs == len(pairs)


def test_draws_of_a_smaller_universe_do_not_speak_for_the_whole() -> None:
    suspects = draw_random(Universe(IMAGES, PairRules()), 100, 5, suspects=made_pool(PairRules()))
    found = report_of(ALL_PAIRS, suspects, judged(suspects))
    assert found.random is None
    assert found.recall is not None
    assert found.recall.value != found.recall.value
    assert found.strata[-1].stratum == "not drawn from"


def test_draws_without_a_label_widen_the_limits_by_the_worst_case() -> None:
    """They lie outside the pool, whose pairs are judged: leaving them out would call p too high."""
    rules = PairRules()
    suspects = draw_random(Universe(IMAGES, rules), 150, 5, suspects=made_pool(rules))
    whole = report_of(rules, suspects, judged(suspects))
    number = Universe(IMAGES, rules).numbers(suspects)
    held = set(number[(suspects["origin"] == "pool").to_numpy()].tolist())
    lost = suspects[[unit not in held for unit in number.tolist()]].head(40)
    kept = judged(suspects).merge(lost[PAIR], how="left", indicator=True).query("_merge == 'left_only'")
    some = report_of(rules, suspects, kept[TRUTH.names])
    assert whole.random is not None
    assert whole.random.enough
    assert some.random is not None
    assert not some.random.enough
    assert whole.p is not None
    assert some.p is not None
    assert some.p.low <= clopper_pearson_interval(some.random.positive, 150)[0] + 1e-12 or some.p.low == (
        some.p_lower_bound
    )
    assert some.p.high == pytest.approx(clopper_pearson_interval(some.random.positive + 40, 150)[1])
    assert some.recall is not None
    assert whole.recall is not None
    assert some.recall.low < whole.recall.low
    assert some.recall.high > whole.recall.high
    value: dict[int, int] = {}
    for unit, label in zip(Universe(IMAGES, rules).numbers(kept).tolist(), kept["value"], strict=True):
        value[unit] = max(value.get(unit, 0), label)
    sides: dict[bool, list[int | None]] = {True: [], False: []}
    for unit in number[(suspects["origin"] == "random").to_numpy()].tolist():
        sides[unit in held].append(value.get(unit))
    rates = [sum(filter(None, side)) / sum(one is not None for one in side) for side in sides.values()]
    expected = sum(len(side) * rate for side, rate in zip(sides.values(), rates, strict=True)) / 150
    assert some.random.rate == pytest.approx(expected)  # those outside stand for those without a label


def test_found_and_held_are_two_statements() -> None:
    """Half of the pool is judged: what was found is less than what the pool holds."""
    rules = PairRules()
    universe = Universe(IMAGES, rules)
    suspects = draw_random(universe, 150, 5, suspects=pool(lists(sorted(every_pair(rules))[::3]), 100))
    part = pd.concat([suspects[suspects["origin"] == "pool"].head(80), suspects[suspects["origin"] == "random"]])
    found, whole = (report_of(rules, suspects, judged(frame)) for frame in (part, suspects))
    assert found.found is not None
    assert found.recall is not None
    assert found.found.value < found.recall.value
    assert found.pool.positives.low < whole.pool.positives.value < found.pool.positives.high
    assert whole.pool.positives.low == whole.pool.positives.value == whole.pool.positives.high


def test_without_a_pool_there_is_no_recall() -> None:
    suspects = draw_random(Universe(IMAGES, PairRules()), 100, 5)
    found = report_of(PairRules(), suspects, judged(suspects))
    assert found.recall is None
    assert found.gain is None
    assert found.p is not None


def test_images_of_a_unit_that_disagree_are_counted() -> None:
    rules = PairRules(exclude_product=False)
    suspects = pool(lists(sorted(every_pair(rules))), 100)
    found = report_of(replace(rules), suspects, judged(suspects))
    values: dict[Pair, set[int]] = {}
    count: dict[Pair, int] = {}
    for pair in every_pair(rules):
        unit = unit_of(rules)(pair)
        values.setdefault(unit, set()).add(value_of(pair))
        count[unit] = count.get(unit, 0) + 1
    assert found.pool.several_images == sum(number > 1 for number in count.values())
    assert found.pool.disagreeing == sum(len(both) > 1 for both in values.values()) > 0
