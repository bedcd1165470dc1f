"""A promise of recall: how deep the pool must be judged to hold a share of all similar pairs, and its price."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.draw_design import lists_depth
from eds.project.inputs import PAIR, Inputs
from eds.project.mine import read_heads
from eds.project.models import generators
from eds.project.pool import pool_depth
from eds.project.prevalence import project_prevalence
from eds.project.price import judged_pairs, price_of
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.stopping import Depth
    from eds.pairs import Integers
    from eds.project import Project
    from eds.project.price import Price


@dataclass(frozen=True)
class PromiseResult(Result):
    """The depth that keeps the promise, and what judging so deep costs."""

    share: float  # of the similar units of the universe that the pool is to hold
    confidence: float
    universe: str
    depth_now: int
    kept_now: bool
    depth: int | None  # the smallest that keeps the promise; None: no depth of the lists surely does
    recall: float  # of the pool of that depth, or of the deepest
    low: float
    price: "Price | None"  # of what is not judged of that pool; None where no depth keeps it
    lists_depth: int
    next: str  # what to do
    by_depth: "pd.DataFrame" = field(repr=False)  # depth, units, further, recall, low


def promise_recall(project: "Project", share: float = 0.9, *, confidence: float = 0.95) -> PromiseResult:
    """How deep the pool must be judged to hold `share` of all similar pairs; see Project.promise_recall."""
    import pandas as pd

    from eds.analysis.stopping import stopping_depth

    if not 0 < share < 1:
        raise InputError(f"share is {share}", where="option --share", hint="Give a share above 0 and below 1, as 0.9.")
    inputs = Inputs(project)
    inputs.decided_pairs()
    now, deepest = pool_depth(project), lists_depth(project)
    if now is None:
        unlisted = bool((inputs.suspects["origin"] == "pool").any())
        what = "the pool was not made of stored lists, so its depth is unknown" if unlisted else "there is no pool yet"
        raise InputError(what, where=str(project.root), hint="Make it: eds suspects pool.")
    added = _added(inputs, now, max(deepest, now))
    depths = _depths(inputs, added, confidence)
    depth = stopping_depth(depths, share)
    chosen = next((one for one in depths if one.depth == depth), depths[-1])
    price = _price(inputs, depth) if depth else None
    words = f"at least {100 * share:g} % of the similar pairs, with {100 * confidence:g} % confidence"
    if depth == now:
        advice = f"The pool of depth {now} holds {words}: judge all of it, and stop."
    elif depth:
        advice = f"Deepen the pool and judge all of it: eds suspects pool -k {depth}."
    else:
        advice = (
            f"No depth of the lists surely holds {words}. More draws may show that one does (eds suspects draw), "
            f"and deeper lists may hold more: eds neighbors mine -k {2 * deepest}."
        )
    return PromiseResult(
        share=share,
        confidence=confidence,
        universe=inputs.universe.described.text,
        depth_now=now,
        kept_now=depth == now,
        depth=depth,
        recall=chosen.recall,
        low=chosen.low,
        price=price,
        lists_depth=deepest,
        next=advice,
        by_depth=pd.DataFrame([vars(one) for one in depths]),
    )


def _depths(inputs: Inputs, added: "list[tuple[int, Integers]]", confidence: float) -> "list[Depth]":
    """The recall of every depth from that of the pool on."""
    from eds.analysis.analyses.prevalence import uniform_outside
    from eds.analysis.stopping import recall_by_depth
    from eds.analysis.unit_labels import UnitLabels, random_draws, units_of
    from eds.analysis.weighted_draws import weighted_draws

    universe, suspects = inputs.universe, inputs.suspects
    facts = project_prevalence(inputs)
    if facts is None or not facts.known:
        raise InputError(
            "no label is similar yet, and a share of nothing cannot be promised",
            where=str(inputs.project.path("truth")),
            hint="Have the pool judged first.",
        )
    labels = UnitLabels.of(universe, inputs.decided_pairs())
    pool = units_of(universe, suspects[suspects["origin"] == "pool"])
    outside = universe.size - len(pool)
    uniform = uniform_outside(random_draws(universe, suspects, labels, pool), outside)
    draws = [*uniform, *weighted_draws(universe, suspects, labels, pool)[0]]
    return recall_by_depth(facts.pool.positives, pool, added, universe.size, draws, confidence)


def _added(inputs: Inputs, now: int, deepest: int) -> "list[tuple[int, Integers]]":
    """The units that each depth adds to the pool; the first, of today, adds none."""
    import numpy as np

    from eds.analysis.unit_labels import units_of
    from eds.pairs import in_sorted
    from eds.suspects.sampling_order import ABSENT
    from eds.suspects.unit_features import ListedUnits

    project, suspects = inputs.project, inputs.suspects
    pool = units_of(inputs.universe, suspects[suspects["origin"] == "pool"])
    listed = ListedUnits.of(inputs.universe, read_heads(project, generators(project, "neighbors"), deepest))
    best = np.where(listed.ranks == ABSENT, np.iinfo(np.int64).max, listed.ranks).min(axis=1)
    new = ~in_sorted(pool, listed.unit)
    unit, best = listed.unit[new], best[new]
    return [(now, unit[:0]), *((k, unit[best == k - 1]) for k in range(now + 1, deepest + 1))]


def _price(inputs: Inputs, depth: int) -> "Price":
    """The price of what nobody has judged yet of the pool of this depth."""
    import pandas as pd

    heads = read_heads(inputs.project, generators(inputs.project, "neighbors"), depth)
    suspects = inputs.suspects
    pooled = pd.concat([heads[PAIR], suspects.loc[suspects["origin"] == "pool", PAIR]], ignore_index=True)
    pairs = pd.MultiIndex.from_frame(pooled.drop_duplicates().astype(str))
    open_pairs = pairs.difference(pd.MultiIndex.from_frame(judged_pairs(inputs).astype(str)))
    return price_of(inputs.project, len(open_pairs))
