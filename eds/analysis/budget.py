"""What judging costs, planned in advance: the pool against all pairs and against random ones."""

from dataclasses import dataclass

from eds.errors import InputError
from eds.suspects import expected_draws_for_positives, labelling_cost


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
    n_queries: int,
    n_gallery: int,
    n_models: int,
    k: int,
    judging: Judging = USUAL,
    *,
    n_queries_in_gallery: int = 0,
    pool_size: int | None = None,
    random: RandomTarget = NO_TARGET,
) -> tuple[Plan, ...]:
    """The plans: all pairs, the pool at most, the pool as it is, random pairs until they yield enough positives.

    Formula: judgements = pairs x experts; hours = judgements x seconds / 3600; money = hours x hourly.
    Pairs: |A|; |Q| |M| min(k, |D|); |S_k|; h (N + 1) / (R + 1) with R = prevalence x N, to the nearest.
    Source: specification 1.3 and 1.4.
    Conventions: hours are of judging alone, without pauses; every expert judges every pair; the pool as it
    is appears when `pool_size` is given, random pairs when `random` is; pay 0: no money.
    Example, run by doctest:
    >>> [(plan.name, plan.pairs, plan.hours) for plan in budget(1000, 10_000, 6, 6, Judging(experts=1))]
    [('all pairs', 10000000, 41666.666666666664), ('pool, at most', 36000, 150.0)]
    """
    wanted, prevalence = random.wanted, random.prevalence
    faults = judging.faults()
    faults += [] if pool_size is None or pool_size >= 1 else [f"pool_size is {pool_size}; give 1 or more"]
    if (wanted is None) != (prevalence is None):
        faults.append("random pairs need both: the positives wanted and the prevalence among all pairs")
    if prevalence is not None and not 0 < prevalence <= 1:
        faults.append(f"prevalence is {prevalence}; give a share above 0 and up to 1")
    if faults:
        raise InputError("invalid budget", where="budget", hint="Correct:", faults=faults)
    cost = labelling_cost(n_queries, n_gallery, n_queries_in_gallery, n_models, k, judging.seconds)
    everything = cost["n_pairs"]
    counts: dict[str, float] = {"all pairs": everything, "pool, at most": cost["eds_upper_bound"]}
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
        draws = expected_draws_for_positives(int(everything), positives, wanted)
        counts[f"random, {wanted:,} positives"] = draws["without_replacement"]

    def plan(name: str, pairs: float) -> Plan:
        judgements = pairs * judging.experts
        hours = judgements * judging.seconds / 3600
        money = hours * judging.hourly if judging.hourly else None
        return Plan(name, pairs, judgements, hours, money, everything / pairs)

    return tuple(plan(name, pairs) for name, pairs in counts.items())
