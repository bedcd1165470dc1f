"""Bounds that need no project: random pairs for an estimate of p, and the share of the code space classes can use."""

from dataclasses import dataclass

from eds.project.results import Result


@dataclass(frozen=True)
class DrawsResult(Result):
    """How many random pairs bound the error of p, by Chebyshev."""

    draws: int  # b
    error: float  # eps
    failure: float  # q, the chance of a larger error
    prevalence: float | None  # None: any p below the error
    formula: str


@dataclass(frozen=True)
class UtilisationResult(Result):
    """The largest share of any great circle of the code space that compact classes can use."""

    diameter: int  # h, the smallest of the classes, in bits
    bound: float
    formula: str


def plan_draws(error: float, failure: float = 0.05, prevalence: float | None = None) -> DrawsResult:
    """Return how many uniform random pairs keep the error of p below `error`, but for a chance of `failure`.

    >>> plan_draws(0.001).draws
    20000
    """
    from eds.analysis import chebyshev_sample_size

    formula = "b = 1 / (eps q), for p < eps" if prevalence is None else "b = p (1 - p) / (q eps^2)"
    return DrawsResult(chebyshev_sample_size(error, failure, prevalence), error, failure, prevalence, formula)


def bound_utilisation(diameter: int) -> UtilisationResult:
    """Return the bound for classes whose smallest diameter is `diameter` bits.

    >>> bound_utilisation(2).bound
    0.6
    """
    from eds.hashing.code_usage import utilisation_bound

    return UtilisationResult(diameter, utilisation_bound(diameter), "(h + 1) / (2 h + 1)")
