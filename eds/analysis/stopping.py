"""How deep the pool must be to hold a share of all similar pairs, with a guarantee from the random draws there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from eds.analysis.totals import Estimate, outside_total, share_of, sum_of
from eds.analysis.weighted_draws import Draw, outside_sample
from eds.errors import InputError
from eds.pairs import Integers, sort_unique


@dataclass(frozen=True)
class Depth:
    """A pool of some depth: its units, and the share of all similar units that it holds."""

    depth: int
    units: int  # of the pool
    further: int  # of them, not in the pool of today
    recall: float
    low: float  # one-sided limit


def recall_by_depth(
    pool: Estimate,
    pool_units: Integers,
    added: Sequence[tuple[int, Integers]],
    size: int,
    draws: Sequence[Draw],
    confidence: float = 0.95,
) -> list[Depth]:
    """The recall of the pool and of deeper ones; `added` are depths, ascending, with the units that each adds.

    Formula: of a pool with the units S added, T_in and T_out by `outside_sample` of the draws' positives inside and
    outside S; recall = (T_pool + T_in) / (T_pool + T_in + T_out), and its lower limit at level 2 confidence - 1.
    Source: Horvitz and Thompson 1952; Zou and Donner 2008 for sums, Donner and Zou 2012 for ratios.
    Conventions: `pool` are the similar units of the pool of today; `size` is the whole universe's. T_in and T_out are
    no more than the units in S and outside the pool and S: a pool of all units holds all similar ones.
    """
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence is {confidence}", hint="Give a number above 0.5 and below 1, as 0.95.")
    level = 2 * confidence - 1
    result, inside = [], pool_units[:0]
    outside = size - len(pool_units)
    for depth, units in added:
        inside = sort_unique(inside, units)
        without = outside_sample(outside, [draw.within(inside, inside=False) for draw in draws])
        if without is None:
            raise InputError(
                "no random pair outside the pool has a label yet",
                where="random draws",
                hint="Draw some and have them judged: eds suspects draw -n 500.",
            )
        beyond = _at_most(outside_total([without], level, "simultaneous"), outside - len(inside))
        held = pool
        if len(inside):
            within = outside_sample(outside, [draw.within(inside, inside=True) for draw in draws])
            if within is not None:
                held = sum_of(pool, _at_most(outside_total([within], level, "simultaneous"), len(inside)))
        recall = share_of(held, beyond)
        result.append(Depth(depth, len(pool_units) + len(inside), len(inside), recall.value, recall.low))
    return result


def _at_most(total: Estimate, units: int) -> Estimate:
    """A number of similar units among so many units: no more than these."""
    most = float(units)
    return Estimate(min(total.value, most), min(total.low, most), min(total.high, most))


def stopping_depth(depths: Sequence[Depth], share: float) -> int | None:
    """The smallest depth whose recall is surely at least `share`; None where none of them is.

    Formula: from the deepest on, the last depth in a row whose lower limit is at least `share`.
    Source: the quantile bound of Lewis, Yang and Frieder 2021 (CIKM, QBCB), with draws of unequal probability: pools
    are nested, so that only the deepest one that holds less can be taken by mistake, and no correction for the number
    of depths is due (tests in a fixed order, Maurer, Hothorn and Lehmacher 1995).

    >>> low = [Depth(k, 0, 0, 0.9, limit) for k, limit in ((1, 0.91), (2, 0.85), (3, 0.9), (4, 0.95))]
    >>> stopping_depth(low, 0.9), stopping_depth(low, 0.96)
    (3, None)
    """
    result = None
    for one in sorted(depths, key=lambda item: -item.depth):
        if not one.low >= share:
            break
        result = one.depth
    return result
