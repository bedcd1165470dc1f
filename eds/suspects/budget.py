"""What judging costs, planned in advance: the pool against all pairs and against random ones."""

from dataclasses import dataclass

import numpy as np

from eds.errors import InputError
from eds.suspects.codes import whole
from eds.suspects.cost import expected_draws_for_positives, labelling_cost
from eds.universe import UNIT_NAMES, Unit, Universe


@dataclass(frozen=True)
class Judging:
    """Who judges: how many experts, seconds for a pair, and pay by the hour (0: unknown)."""

    experts: int = 3
    seconds: float = 15.0
    hourly: float = 0.0

    def faults(self) -> list[str]:
        """What is out of range."""
        faults = [] if self.experts >= 1 else [f"experts is {self.experts}; give 1 or more"]
        faults += [] if self.seconds > 0 else [f"seconds is {self.seconds}; give more than 0"]
        return faults + ([] if self.hourly >= 0 else [f"hourly is {self.hourly}; give 0 or more"])


@dataclass(frozen=True)
class RandomTarget:
    """How many positives random pairs should yield, and the share of positives among all pairs; both or neither."""

    wanted: int | None = None
    prevalence: float | None = None


@dataclass(frozen=True)
class Scope:
    """How many pairs there are to judge: all of them, and the pool at most."""

    pairs: int
    pool_at_most: int
    unit: Unit = "image"

    @classmethod
    def of_universe(cls, universe: Universe, models: int, k: int) -> "Scope":
        """The universe of a project: |U|, and |M| sum over q of min(k, length of the list of q) (specification 1.2)."""
        lengths = np.minimum(universe.list_lengths, whole(k, "k", 1))
        return cls(universe.size, whole(models, "models", 1) * int(lengths.sum()), universe.unit)

    @classmethod
    def of_counts(cls, queries: int, gallery: int, both: int, models: int, k: int) -> "Scope":
        """A catalogue of which only counts are known: |A|, and |Q| |M| min(k, |D|) (specification 1.3)."""
        cost = labelling_cost(queries, gallery, both, models, k, 1.0)
        return cls(int(cost["n_pairs"]), int(cost["eds_upper_bound"]))

    @property
    def text(self) -> str:
        """Size and unit in words."""
        return f"{self.pairs:,} {UNIT_NAMES[self.unit]}"


USUAL, NO_TARGET = Judging(), RandomTarget()


@dataclass(frozen=True)
class Plan:
    """One way to spend experts' time."""

    name: str
    pairs: float  # judged by every expert
    judgements: float  # of all experts together
    hours: float  # of all experts together
    money: float | None  # None where no pay is given
    times_fewer: float  # than all pairs


def budget(
    scope: Scope,
    judging: Judging = USUAL,
    *,
    pool_size: int | None = None,
    random: RandomTarget = NO_TARGET,
) -> tuple[Plan, ...]:
    """The plans: all pairs, the pool at most, the pool as it is, random pairs until they yield enough positives.

    Formula: judgements = pairs x experts; hours = judgements x seconds / 3600; money = hours x hourly.
    Pairs: those of `scope`; |S_k|; h (N + 1) / (R + 1) with R = prevalence x N, to the nearest.
    Source: specification 1.2 to 1.4, 18.1.
    Conventions: hours are of judging alone, without pauses; every expert judges every pair; the pool as it
    is appears when `pool_size` is given, random pairs when `random` is; pay 0: no money.
    Example, run by doctest:
    >>> scope = Scope.of_counts(1000, 10_000, 0, models=6, k=6)
    >>> [(plan.name, plan.pairs, plan.hours) for plan in budget(scope, Judging(experts=1))]
    [('all pairs', 10000000, 41666.666666666664), ('pool, at most', 36000, 150.0)]
    """
    wanted, prevalence = random.wanted, random.prevalence
    faults = judging.faults()
    faults += [] if scope.pairs >= 1 else ["there are no pairs to judge"]
    faults += [] if pool_size is None or pool_size >= 1 else [f"pool_size is {pool_size}; give 1 or more"]
    if (wanted is None) != (prevalence is None):
        faults.append("random pairs need both: the positives wanted and the prevalence among all pairs")
    if prevalence is not None and not 0 < prevalence <= 1:
        faults.append(f"prevalence is {prevalence}; give a share above 0 and up to 1")
    if faults:
        raise InputError("invalid budget", where="budget", hint="Correct:", faults=faults)
    everything = scope.pairs
    counts: dict[str, float] = {"all pairs": everything, "pool, at most": scope.pool_at_most}
    if pool_size is not None:
        counts["pool, as it is"] = pool_size
    if wanted is not None and prevalence is not None:
        positives = round(prevalence * everything)
        if wanted > positives:
            raise InputError(
                f"{wanted:,} positives are wanted, a prevalence of {prevalence} means {positives:,} among all pairs",
                where="budget",
                hint="Ask for fewer.",
            )
        draws = expected_draws_for_positives(everything, positives, wanted)
        counts[f"random, {wanted:,} positives"] = draws["without_replacement"]

    def plan(name: str, pairs: float) -> Plan:
        judgements = pairs * judging.experts
        hours = judgements * judging.seconds / 3600
        money = hours * judging.hourly if judging.hourly else None
        return Plan(name, pairs, judgements, hours, money, everything / pairs if pairs else float("nan"))

    return tuple(plan(name, pairs) for name, pairs in counts.items())
