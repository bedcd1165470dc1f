"""Agreement on grades against the definition by pairs of values, and the report's and the page's figures."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from eds.truth.grades import grade_agreement, mean_grades


def by_pairs_of_values(units: list[list[int]]) -> float:
    """Krippendorff's alpha for interval data as its definition says it: every ordered pair of values."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum((a - b) ** 2 / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / n
    expected = sum((a - b) ** 2 for a, b in permutations(values, 2)) / (n * (n - 1))
    return 1 - observed / expected


def as_votes(units: Sequence[Sequence[int | None]]) -> pd.DataFrame:
    rows = [("q", f"c{number}", grade) for number, unit in enumerate(units) for grade in unit]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id", "grade"])


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_every_pair_of_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = [[int(grade) for grade in rng.integers(0, 4, rng.integers(1, 5))] for _ in range(30)]
    found = grade_agreement(as_votes(units).sample(frac=1, random_state=seed))
    assert found is not None
    assert found.alpha == pytest.approx(by_pairs_of_values(units), abs=1e-12)
    several = [unit for unit in units if len(unit) > 1]
    assert (found.pairs, found.grades) == (len(several), sum(map(len, several)))
    apart = [abs(a - b) for unit in several for a, b in permutations(unit, 2)]
    assert found.difference == pytest.approx(sum(apart) / len(apart))
    assert found.within_one == pytest.approx(sum(one <= 1 for one in apart) / len(apart))


def test_votes_without_a_grade_do_not_count() -> None:
    votes = as_votes([[3, None, 1], [None], [2]])
    assert mean_grades(votes)[["candidate_id", "grade", "expert_grades"]].to_numpy().tolist() == [
        ["c0", 2.0, 2],
        ["c2", 2.0, 1],
    ]
    alike = grade_agreement(as_votes([[2, 2], [2, 2]]))
    assert alike is not None
    assert np.isnan(alike.alpha)
    assert grade_agreement(as_votes([[2], [None, 1]])) is None
