"""The pool's report against loops over all pairs: which pairs count, whatever roles and products there are."""

import itertools

import pandas as pd
import pytest

from eds.analysis.analyses.prevalence import pool_report
from eds.cli.render_analyses import _left_out
from eds.errors import InputError
from eds.suspects import draw_random, pool
from eds.tables import TRUTH
from tests.metrics.projects import catalogue

IMAGES = catalogue(3)
Pairs = set[tuple[str, str]]


def every_pair(apart: bool) -> Pairs:
    """All of A by its definition; without pairs of one product where `apart`."""
    rows = [tuple(map(str, row)) for row in IMAGES[["image_id", "product_id", "role"]].to_numpy()]
    return {
        (query, candidate)
        for (query, own, asks), (candidate, product, offers) in itertools.product(rows, rows)
        if asks != "candidate" and offers != "query" and query != candidate and not (apart and own == product)
    }


def lists(of: list[tuple[str, str]]) -> pd.DataFrame:
    told = pd.DataFrame(of, columns=["query_id", "candidate_id"]).assign(model="m", score=0.5)
    return told.assign(rank=told.groupby("query_id").cumcount())


def judged(suspects: pd.DataFrame) -> pd.DataFrame:
    """Every pair is labelled, one in three similar."""
    pairs = suspects[["query_id", "candidate_id"]].drop_duplicates()
    pairs = pairs.assign(value=[int(number % 3 == 0) for number in range(len(pairs))])
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    return pairs.assign(**votes, tie=False, rule="majority")[TRUTH.names]


def pairs_of(frame: pd.DataFrame) -> Pairs:
    return set(frame[["query_id", "candidate_id"]].itertuples(index=False, name=None))


def test_draws_of_probability_0_are_refused() -> None:
    suspects = draw_random(IMAGES, 30, 5, suspects=pool(lists([("i00", "i20")]), 100)).assign(probability=0.0)
    with pytest.raises(InputError, match="30 random pairs have probability 0"):
        pool_report(IMAGES, suspects, judged(suspects))


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("stratum", ["all", "outside"])
def test_only_pairs_that_could_be_asked_count(apart: bool, stratum: str) -> None:
    """The pool holds wild queries as candidates (i12 and i13), a candidate as a query (i20), and pairs of products."""
    everything = every_pair(apart)
    one_product = sorted(every_pair(False) - every_pair(True))[:5]
    strange = [("i00", "i12"), ("i00", "i13"), ("i01", "i12"), ("i20", "i21")]
    made = pool(lists([*sorted(every_pair(True))[:40:2], *one_product, *strange]), 100)
    suspects = draw_random(IMAGES, 150, 5, stratum=stratum, suspects=made, exclude_product=apart)
    told = pool_report(IMAGES, suspects, judged(suspects))
    inside = pairs_of(made) & everything
    assert told["pairs"] == len(everything)
    assert told["product_pairs"] == ("left out" if apart else "counted")
    assert told["pool_pairs_left_out"] == len(pairs_of(made)) - len(inside)
    assert told["pool"]["pairs"] == told["pool"]["labelled"] == len(inside)
    assert [row["pairs"] for row in told["models"]] == [len(inside)]
    assert ("are of one product" in _left_out(told)) == apart
    truth = judged(suspects)
    value = dict(
        zip(truth[["query_id", "candidate_id"]].itertuples(index=False, name=None), truth["value"], strict=True)
    )
    positives = sum(value[pair] for pair in inside)
    assert told["pool"]["positive"] == positives
    assert told["p_lower_bound"] == pytest.approx(positives / len(everything))
    (outside,) = told["strata"]  # nothing is left that no stratum covers, so that the recall is known
    drawn = pairs_of(suspects[suspects["origin"] == "random"]) - inside
    missed = (len(everything) - len(inside)) * sum(value[pair] for pair in drawn) / len(drawn)
    assert outside["N"] == len(everything) - len(inside)
    assert told["recall"]["recall"] == pytest.approx(positives / (positives + missed))


def test_without_draws_pairs_of_one_product_count() -> None:
    one_product = sorted(every_pair(False) - every_pair(True))[:5]
    made = pool(lists(one_product), 100)
    told = pool_report(IMAGES, made, judged(made))
    assert (told["pool"]["pairs"], told["product_pairs"]) == (5, "counted")
    assert told["pairs"] == len(every_pair(False))
