import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds import truth
from eds.errors import InputError
from eds.truth.current_votes import current_acts
from eds.truth.majority import NO_LABEL
from eds.truth.rules import weighted
from eds.truth.rules.weighted import earned_weights
from eds.truth.votes import votes_of
from tests import recipes
from tests.reference import truth as reference
from tests.truth.acts import act, campaigns, frame


def labels_by(rule: str, acts: list[dict[str, Any]], panel: int = 3) -> dict[tuple[str, str], int]:
    table = truth.decide(frame(acts), panel, rule=rule).truth
    return {(q, c): int(v) for q, c, v in zip(table["query_id"], table["candidate_id"], table["value"], strict=True)}


@given(campaigns())
def test_unanimity_is_certain_when_it_decides(acts: list[dict[str, Any]]) -> None:
    expected = {}
    for pair, by in reference.votes(acts, ("normal",)).items():
        values = list(by.values())
        if 0 in values:
            expected[pair] = 0
        elif len(values) == 3 and 1 in values:
            expected[pair] = 1
    assert labels_by("unanimity", acts) == expected


@pytest.mark.parametrize("rule", ["weighted", "dawid-skene"])
@settings(max_examples=15)
@given(campaigns())
def test_second_opinions_label_the_pairs_that_the_majority_labels(rule: str, acts: list[dict[str, Any]]) -> None:
    assert labels_by(rule, acts).keys() == labels_by("majority", acts).keys()


@given(campaigns(), st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0]), min_size=3, max_size=3))
def test_weighted_is_the_sum_of_weights(acts: list[dict[str, Any]], weights: list[float]) -> None:
    given_weights = dict(zip(("ada", "bo", "cy"), weights, strict=True))
    votes = votes_of(current_acts(frame(acts)))
    _, label = weighted.decide(votes, np.full(votes.n_pairs, 3), given_weights)
    pairs = votes.acts.frame(np.arange(votes.n_pairs))
    found = {
        (q, c): int(one)
        for q, c, one in zip(pairs["query_id"], pairs["candidate_id"], label, strict=True)
        if one != NO_LABEL
    }
    cast = reference.votes(acts, ("normal",))
    for pair, one in found.items():
        yes, no = (math.fsum(given_weights[name] for name, v in cast[pair].items() if v == side) for side in (1, 0))
        assert one == int(round(yes - no, 12) > 0)


def test_equal_weights_are_the_majority() -> None:
    acts = [act(n, candidate_id=f"c{n // 3}", expert_id=("ada", "bo", "cy")[n % 3], value=n * 7 % 2) for n in range(30)]
    votes = votes_of(current_acts(frame(acts)))
    _, label = weighted.decide(votes, np.full(votes.n_pairs, 3), {"ada": 0.1, "bo": 0.1, "cy": 0.1})
    assert label.tolist() == list(labels_by("majority", acts).values())


def test_a_contrary_expert_earns_no_weight() -> None:
    acts = [
        act(4 * n + place, candidate_id=f"c{n}", expert_id=name, value=(n + (name == "dee")) % 2)
        for n in range(12)
        for place, name in enumerate(("ada", "bo", "cy", "dee"))
    ]
    weights = earned_weights(votes_of(current_acts(frame(acts))))
    assert weights["dee"] == 0.0
    # Agreed in 12 of 12 with the majority of bo, cy and dee.
    assert weights["ada"] == pytest.approx(math.log((13 / 14) / (1 / 14)))


@pytest.mark.parametrize("weights", [{}, {"ada": -1.0}, {"ada": float("nan")}, {"ada": float("inf")}])
def test_bad_weights_are_refused(weights: dict[str, float]) -> None:
    votes = votes_of(current_acts(frame([act(1)])))
    with pytest.raises(InputError, match="1 experts have no weight"):
        weighted.decide(votes, np.array([1]), weights)


def test_dawid_skene_believes_the_reliable() -> None:
    """Two careless experts outvote a careful one in a few pairs; the model sees it, the majority stays."""
    rng = np.random.default_rng(2)
    names = [f"careful-{n}" for n in range(3)] + [f"careless-{n}" for n in range(4)]
    true = rng.random(200) < 0.5
    acts = [
        act(
            7 * n + place,
            candidate_id=f"c{n:03d}",
            expert_id=name,
            value=int(true[n] ^ (rng.random() < (0.02 if name < "carel" else 0.45))),
        )
        for n in range(200)
        for place, name in enumerate(names)
    ]
    majority, model = labels_by("majority", acts, 7), labels_by("dawid-skene", acts, 7)
    wrong = [sum(label != true[int(pair[1][1:])] for pair, label in one.items()) for one in (majority, model)]
    assert wrong[1] < wrong[0]


def test_the_recipe_adds_a_rule_in_one_file(tmp_path: Path) -> None:
    copy = recipes.follow("Add a voting rule", tmp_path)
    values = {"a": (1, 1, 0), "b": (1, 0, 0), "c": (1, 1, 1)}
    acts = [
        act(3 * row + column, candidate_id=name, expert_id=expert, value=value)
        for row, (name, votes) in enumerate(values.items())
        for column, (expert, value) in enumerate(zip(("ada", "bo", "cy"), votes, strict=True))
    ]
    frame(acts).to_pickle(tmp_path / "labels.pickle")
    labels = json.loads(
        copy.python(
            "import json, pandas; from eds.truth import decide; from eds.registry import VOTING_RULES\n"
            "table = decide(pandas.read_pickle('labels.pickle'), 3, rule='two-thirds').truth\n"
            "print(json.dumps([VOTING_RULES.help('two-thirds'), table['value'].tolist(), table['rule'].tolist()]))"
        )
    )
    assert labels == ["At least two thirds of those who could tell say similar.", [1, 0, 1], ["two-thirds"] * 3]
