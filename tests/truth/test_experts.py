import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import truth
from eds.errors import InputError
from eds.intervals import FEW, UNDEFINED
from tests.reference import truth as reference
from tests.reference.intervals import rate_interval
from tests.truth.acts import PAIRS, act, campaigns, frame


def row(found: pd.DataFrame, expert: str) -> dict[str, Any]:
    chosen = found[found["expert_id"] == expert]
    assert len(chosen) == 1
    return {str(name): value for name, value in chosen.iloc[0].items()}


@given(campaigns(), st.sampled_from([("normal",), ("normal", "gold")]), st.randoms(use_true_random=False))
def test_profiles_are_those_of_plain_loops(acts: list[dict[str, Any]], voting: tuple[str, ...], random: Any) -> None:
    found = truth.expert_profiles(frame(acts), voting=voting)
    assert found["expert_id"].tolist() == sorted({one["expert_id"] for one in reference.current(acts).values()})
    for name in found["expert_id"]:
        mine, expected = row(found, name), reference.profile(acts, name, voting)
        assert {key: mine[key] for key in expected} == expected
        if expected["judged"]:
            assert mine["no_interval"] == FEW
            assert mine["positive_rate"] == expected["positive"] / expected["judged"]
        else:
            assert math.isnan(mine["positive_rate"])
            assert mine["no_interval"] == UNDEFINED
        assert math.isnan(mine["low"])
        assert math.isnan(mine["high"])
    again = truth.expert_profiles(frame(random.sample(acts, len(acts))), voting=voting)
    pd.testing.assert_frame_equal(found, again)


@given(campaigns())
def test_halves_and_seconds_are_those_of_plain_loops(acts: list[dict[str, Any]]) -> None:
    found = truth.expert_profiles(frame(acts))
    for name in found["expert_id"]:
        mine = [one for key, one in reference.current(acts).items() if key[2:] == (name, "normal")]
        told = [one["value"] for one in sorted(mine, key=lambda one: one["created_at"]) if one["value"] is not None]
        first, second = told[: len(told) // 2], told[len(told) // 2 :]
        expected = [sum(half) / len(half) if half else math.nan for half in (first, second)]
        expected += [expected[1] - expected[0]]
        seconds = [one["seconds"] for one in mine if one["seconds"] is not None]
        expected += [float(np.median(seconds)) if seconds else math.nan]
        columns = ["first_half_rate", "second_half_rate", "drift", "median_seconds"]
        assert [row(found, name)[column] for column in columns] == pytest.approx(expected, nan_ok=True)


def test_the_interval_of_an_experts_rate_is_over_queries() -> None:
    answers = {f"q{n:02d}": [int((n * m) % 5 < 2) for m in range(n % 3 + 1)] for n in range(12)}
    acts = [
        act(10 * n + m, query_id=query, candidate_id=f"c{m}", value=value)
        for n, (query, values) in enumerate(answers.items())
        for m, value in enumerate(values)
    ]
    mine = row(truth.expert_profiles(frame(acts)), acts[0]["expert_id"])
    expected = rate_interval([(sum(values), len(values)) for values in answers.values()], 0.95)
    assert (mine["low"], mine["high"]) == pytest.approx(expected, abs=1e-12)


def test_a_fading_expert_drifts() -> None:
    acts = [act(n, candidate_id=f"c{n}", value=int(n < 10)) for n in range(20)]
    acts += [
        act(100 + 2 * n + place, candidate_id=f"c{n}", expert_id=name)
        for n in range(20)
        for place, name in enumerate(("bo", "cy"))
    ]
    ada = row(truth.expert_profiles(frame(acts)), "ada")
    assert (ada["first_half_rate"], ada["second_half_rate"], ada["drift"]) == (1.0, 0.0, -1.0)
    assert (ada["drift_with_others"], ada["with_others"]) == (-1.0, 0.5)


@given(campaigns(), st.lists(st.sampled_from(PAIRS), unique=True))
def test_gold_is_held_against_the_known_answers(acts: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
    known = {pair: place % 2 for place, pair in enumerate(pairs)}
    rows = [(*pair, value) for pair, value in known.items()]
    gold = pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"])
    found = truth.expert_profiles(frame(acts), gold=gold)
    for name in found["expert_id"]:
        mine = [
            (key[:2], one["value"])
            for key, one in reference.current(acts).items()
            if key[2:] == (name, "gold") and key[:2] in known and one["value"] is not None
        ]
        right = sum(known[pair] == value for pair, value in mine)
        assert (row(found, name)["gold_judged"], row(found, name)["gold_right"]) == (len(mine), right)


def test_without_known_answers_there_is_no_gold_score() -> None:
    found = truth.expert_profiles(frame([act(1, kind="gold")]))
    assert found["gold_score"].isna().all()
    assert found["answers"].tolist() == [0]
    bad = pd.DataFrame({"query_id": ["q1"], "candidate_id": ["9"], "value": [2]})
    with pytest.raises(InputError, match="1 values are neither 1 nor 0"):
        truth.expert_profiles(frame([act(1)]), gold=bad)
    assert truth.expert_profiles(frame([])).empty
