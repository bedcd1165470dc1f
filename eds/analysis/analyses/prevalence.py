"""How rare positives are, and how many the pool missed."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from eds.analysis.chao import unseen_positives
from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.prevalence_estimates import chebyshev_bound, p_lower_bound, p_map, p_posterior
from eds.analysis.totals import Estimate, Sampled, outside_total, ratio_of, share_of, sum_of, whole_pool
from eds.analysis.unit_labels import PAIR, RandomDraws, UnitLabels, random_draws, units_of
from eds.analysis.weighted_draws import Draw, outside_sample, uniform_draw, weighted_draws
from eds.intervals import clopper_pearson_interval
from eds.pairs import Flags, Reals
from eds.suspects import sources_frame
from eds.suspects.partial_estimates import pool_total
from eds.suspects.positive_rates import Rate, positive_rates
from eds.universe import Universe, UniverseSize

ENOUGH = 0.95  # of the draws; where fewer have a label, it is said and the limits are widened by those that have none

INPUTS = ("universe", "suspects", "truth")


@dataclass(frozen=True)
class Options:
    """How intervals are computed."""

    confidence: float = option(0.95, "Confidence level of the intervals.")
    limits: Literal["simultaneous", "squared"] = option(
        "simultaneous",
        "Pool recall from several strata: simultaneous intervals are safe and wide, squared about right.",
    )


@dataclass(frozen=True)
class PoolFacts:
    """The pool in units of the universe: what is judged of it, and what all of it is estimated to hold."""

    rate: Rate  # of the judged units: p_k
    positives: Estimate  # in the whole pool, by how its pairs were dealt
    positives_at_every_look: Estimate  # with limits that hold however often somebody looks
    whole_rate: Estimate  # `positives` over the pool's units
    image_pairs: int  # pairs of images that the pool has
    left_out: int  # pairs of the pool that are not in the universe
    several_images: int  # units of which several pairs of images are judged
    disagreeing: int  # of them, units whose images have different labels

    def to_dict(self) -> dict[str, Any]:
        """The rate's fields, then the others."""
        others = {name: value for name, value in vars(self).items() if name != "rate"}
        return self.rate.to_dict() | {
            name: value.to_dict() if isinstance(value, Estimate) else value for name, value in others.items()
        }


@dataclass(frozen=True)
class ModelFacts:
    """What one model contributed to the pool."""

    model: str
    rate: Rate
    pairs_only_here: int
    positives_only_here: int

    def to_dict(self) -> dict[str, Any]:
        """The rate's fields with the others."""
        alone = {"pairs_only_here": self.pairs_only_here, "positives_only_here": self.positives_only_here}
        return {"model": self.model, **self.rate.to_dict(), **alone}


@dataclass(frozen=True)
class UniformDraws:
    """Uniform random draws from the whole universe, and what they say of p."""

    size: float  # N: units that they stand for
    drawn: int
    left_out: int  # draws of another universe that are not in this one
    labelled: int
    positive: int
    effective: float  # equal draws that are as precise; `labelled` where draws are equally likely
    rate: float | None  # of positives: draws inside the pool and outside each by their share of the draws
    enough: bool  # whether at least 95 % of the draws have a label
    p_map: float | None
    posterior: Mapping[str, float] | None
    exact_low: float  # Clopper-Pearson; widened where not `enough`
    exact_high: float
    chebyshev_at_half: Mapping[str, float] | None

    def to_dict(self) -> dict[str, Any]:
        """The fields, with the specification's names N, n and a for size, labelled and positive."""
        return {"N": self.size, "n": self.labelled, "a": self.positive, **asdict(self)}


@dataclass(frozen=True)
class Prevalence:
    """What labels and random draws say of the universe. NaN in an `Estimate`, or None: cannot be computed."""

    universe: UniverseSize
    pool: PoolFacts
    models: list[ModelFacts]
    ranks: list[Rate]  # of all models' proposals at rank 0, 1, ...
    known: int  # positive units with a label, of the pool and of random draws
    p_lower_bound: float
    random: UniformDraws | None
    p: Estimate | None  # the most likely value by uniform draws; without them, by strata
    p_by_draws: bool  # whether p comes from `random` alone, not from the pool and what was drawn outside
    p_of_image_pairs: Estimate | None  # the same over all pairs of images; None where these are the units
    gain: Estimate | None
    strata: list[Sampled]  # outside the pool
    total: Estimate | None  # positives of the universe
    found: Estimate | None  # share of them that has been found so far
    recall: Estimate | None  # share of them that the pool holds, judged or not
    unseen: Mapping[str, Any] | None
    draws_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """The document that is stored and shown as JSON."""
        universe = {"unit": self.universe.unit, "size": self.universe.size, "image_pairs": self.universe.image_pairs}
        recall, gain, random = self.recall, self.gain, self.random
        return {
            "universe": universe | asdict(self.universe.rules),
            "pairs": self.universe.size,
            "pool_pairs_left_out": self.pool.left_out,
            "draws_left_out": self.draws_left_out,
            "pool": self.pool.to_dict(),
            "models": [row.to_dict() for row in self.models],
            "ranks": [{"rank": rank, **rate.to_dict()} for rank, rate in enumerate(self.ranks)],
            "known_positives": self.known,
            "p_lower_bound": self.p_lower_bound,
            "random": random.to_dict() if random else None,
            "p": _document(self.p),
            "p_of_image_pairs": _document(self.p_of_image_pairs),
            "gain": gain.to_dict() | {"at_least": gain.low} if gain else None,
            "strata": [
                {"stratum": part.stratum, "N": part.size, "n": part.labelled, "a": part.positive, "drawn": part.drawn}
                for part in self.strata
            ],
            "total": _document(self.total),
            "found": _document(self.found),
            "recall": {"recall": recall.to_dict()["value"], "lower": recall.low, "upper": recall.high}
            if recall
            else None,
            "unseen": self.unseen,
        }


def analyse(inputs: AnalysisInputs, options: Options) -> Prevalence:
    """`pool_report` of the tables."""
    universe, suspects, truth = inputs.require(*INPUTS)
    return pool_report(universe, suspects, truth, options.confidence, options.limits)


def pool_report(
    universe: Universe,
    suspects: pd.DataFrame,
    truth: pd.DataFrame,
    level: float = 0.95,
    limits: str = "simultaneous",
    *,
    image_pairs: bool = True,
) -> Prevalence:
    """p_k of the pool and of each model, bounds and estimates of p, recall of the pool, positives not found.

    Formula: those of eds.analysis.prevalence_estimates, totals and chao, of eds.suspects.positive_rates and
    partial_estimates. found = known positives / T, pool recall = T_pool / T, T = T_pool + T_outside; gain = rate of the
    whole pool / p.
    Source: specification 1.6, 3, 13.1, 13.2, 13.9, 18.1, 18.3.
    Conventions: everything counts units of the universe; pairs outside it count nowhere (`left_out`). T_pool and its
    limits come from the design by which the pool was dealt into batches; a pool that is judged throughout is a census.
    Random draws count where their unit has a label, inside the pool as well; draws inside and outside each stand for
    their share of the draws, whatever part of them is labelled. Where more than 5 % of the draws lack a label, limits
    are widened by these, all negative and all positive. Draws from all of the universe that lie outside the pool are
    uniform draws from outside, and so serve the recall, unless strata of the outside were drawn themselves; what no
    stratum covers is one that was not drawn from. With labelled weighted draws all draws are one sample of the outside
    (`weighted_draws.outside_sample`), and p is total / N. By uniform draws p's limits are Clopper and Pearson's, not
    below p_LB.
    `image_pairs=False` leaves out p among pairs of images, where units are products.
    Example: see tests/analysis/test_pool_report.py, against loops over the pairs.
    """
    labels = UnitLabels.of(universe, truth[[*PAIR, "value"]])
    pooled = suspects[suspects["origin"] == "pool"].drop_duplicates(PAIR)
    units = units_of(universe, pooled)
    pool = _pool(universe, pooled, truth, labels, level)
    lists = unit_lists(universe, pooled)
    models, ranks, unseen = _by_model(lists, _unit_truth(lists, labels), level)
    lower = p_lower_bound(labels.positives, universe.size) if universe.size else float("nan")
    draws = random_draws(universe, suspects, labels, units)
    uniform = _uniform(draws.get("all"), lower, level)
    outside = universe.size - len(units)
    weighted, left_out = weighted_draws(universe, suspects, labels, units)
    judged = any((draw.value >= 0).any() for draw in weighted)
    sample = outside_sample(outside, [*uniform_outside(draws, outside), *weighted]) if judged else None
    strata = [sample] if sample else _strata(draws, outside)
    total = sum_of(pool.positives, outside_total(strata, level, limits)) if strata else None
    by_draws = uniform is not None and sample is None
    p = _p(uniform if by_draws else None, total, universe.size)
    return Prevalence(
        universe=universe.described,
        pool=pool,
        models=models,
        ranks=ranks,
        known=labels.positives,
        p_lower_bound=lower,
        random=uniform,
        p=p,
        p_by_draws=by_draws,
        p_of_image_pairs=_p_of_image_pairs(universe, suspects, truth, level)
        if image_pairs and universe.unit == "product"
        else None,
        gain=_gain(pool.whole_rate, p) if p and len(units) else None,
        strata=strata,
        total=total,
        found=_found(labels.positives, total) if total else None,
        recall=share_of(pool.positives, outside_total(strata, level, limits)) if strata and len(units) else None,
        unseen=unseen,
        draws_left_out=left_out + sum(part.left_out for part in draws.values()),
    )


def _pool(universe: Universe, pooled: pd.DataFrame, truth: pd.DataFrame, labels: UnitLabels, level: float) -> PoolFacts:
    """The pool's units; its rows are pairs of images."""
    number = universe.numbers(pooled)
    rows, number = pooled[number >= 0], number[number >= 0]
    units, place, count = np.unique(number, return_inverse=True, return_counts=True)
    value = labels.of_units(units)
    judged = _is_labelled(rows, truth)
    whole_judged = np.bincount(place, judged, minlength=len(units)) == count  # every image pair of the unit
    rate = Rate.from_values(universe.query_of(units), value, level)
    estimate = pool_total(rows, judged, np.maximum(value, 0)[place] / count[place], 1 / count[place])
    known = int((value == 1).sum()), int(((value == 0) & whole_judged).sum())
    positives, always = (
        whole_pool(estimate, len(units), known, int(whole_judged.sum()), level, every_look=each)
        for each in (False, True)
    )
    over = [part / len(units) if len(units) else float("nan") for part in vars(positives).values()]
    return PoolFacts(
        rate, positives, always, Estimate(*over), len(rows), len(pooled) - len(rows), labels.several, labels.disagreeing
    )


def _is_labelled(rows: pd.DataFrame, truth: pd.DataFrame) -> Flags:
    keys = pd.MultiIndex.from_frame(rows[PAIR])
    return np.asarray(keys.isin(pd.MultiIndex.from_frame(truth[PAIR])))


def unit_lists(universe: Universe, rows: pd.DataFrame) -> pd.DataFrame:
    """The models' proposals as units: each once for a model, at its best rank there."""
    lists = sources_frame(rows)
    lists = lists.assign(unit=universe.numbers(lists))
    best = lists[lists["unit"] >= 0].sort_values("rank", kind="stable").drop_duplicates(["model", "unit"])
    return best.assign(candidate_id="unit " + best["unit"].astype(str)).reset_index(drop=True)


def _unit_truth(lists: pd.DataFrame, labels: UnitLabels) -> pd.DataFrame:
    """The labels of the proposed units, as pairs of a query and a unit."""
    once = lists.drop_duplicates("unit")
    value = labels.of_units(once["unit"].to_numpy(np.int64))
    return once.assign(value=value).loc[value >= 0, [*PAIR, "value"]]


def _by_model(
    lists: pd.DataFrame, truth: pd.DataFrame, level: float
) -> tuple[list[ModelFacts], list[Rate], dict[str, Any] | None]:
    """Rates by model and by rank, and an estimate of what no model found; nothing where sources are not known."""
    if not len(lists):
        return [], [], None
    rates = positive_rates(lists[["model", *PAIR, "rank"]], truth, level)
    positive = truth.loc[truth["value"] == 1, PAIR]
    once = lists.drop_duplicates(PAIR, keep=False)
    alone, similar = once["model"].value_counts(), once.merge(positive, on=PAIR)["model"].value_counts()
    models = [
        ModelFacts(name, rate, int(alone.get(name, 0)), int(similar.get(name, 0)))
        for name, rate in rates.by_model.items()
    ]
    times = lists.groupby(PAIR).size().rename("times").reset_index().merge(positive, on=PAIR)
    exactly = np.bincount(times["times"], minlength=len(models) + 1)[1:].tolist()
    unseen = None
    if len(models) > 1:
        unseen = {"found_by_exactly": exactly, **unseen_positives(exactly, len(models))}
    return models, list(rates.by_rank), unseen


def _strata(draws: Mapping[str, RandomDraws], outside: int) -> list[Sampled]:
    """The parts of what lies outside the pool, with the labelled draws from each."""
    result = [_outside(*part) for part in _outside_parts(draws, outside)]
    if result and not _covered(draws):
        result.append(Sampled("not drawn from", max(outside - sum(part.size for part in result), 1.0), 0, 0.0, 0.0))
    return result


def _outside_parts(draws: Mapping[str, RandomDraws], outside: int) -> list[tuple[str, RandomDraws, Flags, float]]:
    """The strata outside the pool that were drawn from: name, draws, which of these count, and size."""
    own = {name: part for name, part in draws.items() if name != "all"}
    if own or "all" not in draws:
        return [(name, part, np.ones(len(part.unit), np.bool_), part.size) for name, part in own.items()]
    part = draws["all"]
    share = float(part.weight[~part.in_pool].sum() / part.weight.sum()) if len(part.weight) else 0.0
    size = float(outside) if part.covers else part.size * share
    return [("outside (of draws from all)", part, ~part.in_pool, size)]


def _covered(draws: Mapping[str, RandomDraws]) -> bool:
    """Whether every unit outside the pool could have been drawn."""
    own = {name: part for name, part in draws.items() if name != "all"}
    return all(part.covers for part in (own or draws).values()) and set(own) != {"near"} and set(own) != {"rest"}


def uniform_outside(draws: Mapping[str, RandomDraws], outside: int) -> list[Draw]:
    """The uniform draws before the weighted ones, as one draw from outside; none where they do not cover it."""
    parts = [(part, rows, size) for _, part, rows, size in _outside_parts(draws, outside)]
    return [uniform_draw(parts)] if _covered(draws) and any(rows.any() for _, rows, _ in parts) else []


def _outside(name: str, part: RandomDraws, rows: Flags, size: float) -> Sampled:
    """A stratum; a draw that lies inside the pool is none of what is outside."""
    weight = part.weight[rows]
    value = np.where(part.in_pool[rows], 0, part.value[rows])
    labelled, missing = value >= 0, value < 0
    scale = _effective_scale(weight)
    n, a, lost = (float(weight[chosen].sum()) * scale for chosen in (labelled, value == 1, missing))
    relevant = missing.sum() > (1 - ENOUGH) * len(value)
    return Sampled(
        name, float(size), len(value), _tidy(min(n, size)), _tidy(min(a, size)), _tidy(lost) if relevant else 0.0
    )


def _effective_scale(weight: Reals) -> float:
    """Effective draws over the sum of the weights: 1 where all are 1."""
    return float(weight.sum() / (weight @ weight)) if len(weight) else 1.0


def _tidy(count: float) -> float:
    """A count without the last bits of rounding, so that equal draws give whole numbers."""
    return float(round(count)) if abs(count - round(count)) < 1e-9 * max(count, 1) else count


def _uniform(part: RandomDraws | None, lower: float, level: float) -> UniformDraws | None:
    """What uniform draws from all of the universe say of p; None without draws, or where they do not cover it."""
    if part is None or not part.covers or not len(part.unit):
        return None
    weight, value = part.weight, part.value
    labelled = value >= 0
    sides = [side for side in (part.in_pool, ~part.in_pool) if side.any()]
    parts = [
        float(weight[side].sum()) * float(weight[side & (value == 1)].sum()) / float(weight[side & labelled].sum())
        if (side & labelled).any()
        else float("nan")
        for side in sides
    ]
    rate = math.fsum(parts) / float(weight.sum())
    scale = _effective_scale(weight)
    n, missing = _tidy(float(weight[labelled].sum()) * scale), float(weight[~labelled].sum()) * scale
    enough = float(labelled.sum()) >= ENOUGH * len(value)
    if enough:
        a = _tidy(rate * n) if not math.isnan(rate) else 0.0
        low, high = clopper_pearson_interval(a, n, level, weighted=True)
    else:
        a = _tidy(float(weight[value == 1].sum()) * scale)
        low, _ = clopper_pearson_interval(a, n + missing, level, weighted=True)
        _, high = clopper_pearson_interval(a + missing, n + missing, level, weighted=True)
    known = not math.isnan(rate) and n > 0
    likely = max(lower, rate) if known else None
    return UniformDraws(
        size=part.size,
        drawn=len(value),
        left_out=part.left_out,
        labelled=int(labelled.sum()),
        positive=int((value == 1).sum()),
        effective=n,
        rate=rate if known else None,
        enough=enough,
        p_map=likely if not known else p_map(a, n, lower) if enough else likely,
        posterior=p_posterior(a, n, lower, level) if enough and known else None,
        exact_low=max(low, lower),
        exact_high=max(high, lower),
        chebyshev_at_half=chebyshev_bound(likely, round(n), likely / 2) if enough and known and likely else None,
    )


def _p(uniform: UniformDraws | None, total: Estimate | None, size: int) -> Estimate | None:
    if uniform is not None:
        value = float("nan") if uniform.p_map is None else uniform.p_map
        return Estimate(value, uniform.exact_low, uniform.exact_high)
    return None if total is None else Estimate(*(part / size for part in vars(total).values()))


def _p_of_image_pairs(universe: Universe, suspects: pd.DataFrame, truth: pd.DataFrame, level: float) -> Estimate | None:
    """The share of similar pairs among all pairs of images that the units consist of."""
    images = universe.of_images
    labels = UnitLabels.of(images, truth[[*PAIR, "value"]])
    pool = units_of(images, suspects[suspects["origin"] == "pool"])
    draws = random_draws(images, suspects, labels, pool)
    uniform = _uniform(draws.get("all"), p_lower_bound(labels.positives, images.size) if images.size else 0.0, level)
    return _p(uniform, None, images.size)


def _gain(pool: Estimate, p: Estimate) -> Estimate | None:
    """How many times more positives a judgement of the pool finds than one of a random unit."""
    gain = ratio_of(pool, p)
    return None if math.isnan(gain.low) and math.isnan(gain.value) else gain


def _found(known: int, total: Estimate) -> Estimate:
    """Known positives over all of them; never more than all, and anything where there may be none."""
    value, low, high = (min(known / part, 1.0) if part else math.nan for part in (total.value, total.high, total.low))
    return Estimate(value, 0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)


def _document(estimate: Estimate | None) -> dict[str, float | None] | None:
    return estimate.to_dict() if estimate else None
