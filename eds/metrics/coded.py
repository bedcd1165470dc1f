"""What measures on binary codes start from: how many candidates of each grade lie at each distance of each query."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from eds.errors import InputError
from eds.metrics.collisions import Balls
from eds.metrics.ties import TiedLists
from eds.pairs import Integers, Reals

GRADES = ("truth", "votes", "product", "category", "types", "attributes")


@dataclass(frozen=True, eq=False)
class Histograms:
    """Of one source of grades."""

    queries: pa.Array  # (queries,) ids
    counts: Integers  # (queries, bits + 1, levels)
    levels: tuple[int, ...]
    balls: Balls | None = None  # where a measure asks for a radius, as far as the largest one

    def lists(self, k: int | None) -> TiedLists:
        """As lists known up to ties, cut at k."""
        return TiedLists(self.counts, self.levels, k)


@dataclass(frozen=True, eq=False)
class Coded:
    """One model's codes."""

    bits: int
    n: int  # candidates
    graded: Mapping[str, Histograms] = field(default_factory=dict)  # by source of grades
    usage: Mapping[str, float] = field(default_factory=dict)  # `code_usage` of the candidates

    def of(self, grades: str) -> Histograms:
        """The histograms of a source."""
        if grades not in self.graded:
            raise InputError(f"grades {grades} were not counted", where="codes", do="Count them before.")
        return self.graded[grades]


def radius_terms(balls: Balls, r: int) -> Reals:
    """The value of `lgap` of each query, (queries,), of balls that reach at least to r."""
    found: Reals = (balls.precision * balls.fill)[:, : r + 1].mean(axis=1)
    return found
