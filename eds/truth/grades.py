"""Grades that experts give beside their votes: the mean grade of each pair, and how far experts agree on grades."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

KEY = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class GradeAgreement:
    """How far experts agree on grades, over the pairs that two or more of them graded."""

    pairs: int
    grades: int
    alpha: float  # NaN if all grades are the same
    difference: float  # mean distance of two grades of one pair
    within_one: float  # share of these distances that are 1 at most


def mean_grades(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the mean grade of each graded pair (query_id, candidate_id, grade), and how many experts gave one.

    Formula:      grade = mean of the grades in force; expert_grades = how many
    Source:       plain mean
    Conventions:  a vote without a grade does not count; pairs without any grade are left out

    Example:
    >>> votes = pd.DataFrame({"query_id": ["q"] * 3, "candidate_id": ["a", "a", "b"], "grade": [3, 2, None]})
    >>> mean_grades(votes).to_dict("records")
    [{'query_id': 'q', 'candidate_id': 'a', 'grade': 2.5, 'expert_grades': 2}]

    """
    given = votes[votes["grade"].notna()]
    groups = given.assign(grade=given["grade"].astype(float)).groupby(KEY)["grade"]
    return groups.agg(grade="mean", expert_grades="size").reset_index()


def grade_agreement(votes: pd.DataFrame) -> GradeAgreement | None:
    """Return how far experts agree on grades, None where no pair has two.

    Formula:      alpha = 1 - D_o / D_e with the squared difference: D_o = 1/n sum_u 2 m_u SS_u / (m_u - 1) over pairs u
                  with m_u grades, D_e = 2 SS / (n - 1) over all n grades, SS the sum of squares around the mean
    Source:       Krippendorff, Content Analysis (2004), chapter 11: interval data
    Conventions:  pairs with one grade are left out; undefined (NaN) if all grades are the same

    Example:
    >>> votes = pd.DataFrame({"query_id": list("qqrr"), "candidate_id": list("aabb"), "grade": [3, 3, 0, 1]})
    >>> grade_agreement(votes)
    GradeAgreement(pairs=2, grades=4, alpha=0.888..., difference=0.5, within_one=1.0)

    """
    given = votes[votes["grade"].notna()]
    size = given.groupby(KEY)["grade"].transform("size")
    given = given[size > 1]
    if given.empty:
        return None
    grade = given["grade"].to_numpy(dtype=float)
    groups = [part.to_numpy(dtype=float) for _, part in given.groupby(KEY)["grade"]]
    observed = sum(2 * len(part) * _squares(part) / (len(part) - 1) for part in groups) / len(grade)
    expected = 2 * _squares(grade) / (len(grade) - 1)
    apart = np.concatenate([_distances(part) for part in groups])
    alpha = 1 - observed / expected if expected > 0 else float("nan")
    return GradeAgreement(len(groups), len(grade), alpha, float(apart.mean()), float((apart <= 1).mean()))


def _squares(grades: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    return float(((grades - grades.mean()) ** 2).sum())


def _distances(
    grades: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The distance of every two of them."""
    one, other = np.triu_indices(len(grades), 1)
    distances: np.ndarray[tuple[int], np.dtype[np.float64]] = np.abs(grades[one] - grades[other])
    return distances
