"""Whether the limits hold what they promise: estimates on many drawn catalogues whose exact numbers are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.analysis.bootstrap import resampled_micro
from eds.analysis.prevalence_estimates import p_lower_bound, p_posterior
from eds.analysis.recall import pool_recall
from eds.errors import InputError
from eds.intervals import (
    Interval,
    bootstrap_interval,
    clopper_pearson_interval,
    mean_interval,
    wilson_interval,
)
from eds.metrics.auc import query_aucs
from eds.metrics.auc_report import AUCS, summary
from eds.pairs import Flags, LabelledPairs, Reals
from eds.synthetic.known_truth import Design, KnownTruth, draw_known_truth

PREVALENCE = ("p, Clopper-Pearson", "p, Wilson", "p, posterior")
RECALL = ("pool recall, one stratum", "pool recall, simultaneous", "pool recall, squared")


@dataclass(frozen=True)
class Labelling:
    """What is labelled of a catalogue: the pool, and uniform draws without replacement."""

    k: int = 5  # depth of the pool
    draws: int = 1500  # from all pairs, for p; as many from outside the pool, for its recall
    near: int = 600  # of the draws outside, so many from near the pool where there are two strata
    near_k: int = 40  # near: among the first so many of some generator
    resamples: int = 500
    level: float = 0.95


def coverage_study(
    design: Design,
    labelling: Labelling,
    replications: int = 200,
    population: int = 40,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Estimates, limits and exact numbers on freshly drawn catalogues: target, replication, exact, estimate, low, high.

    Formula: p, pool recall and each AUC of the first generator, estimated as the specification says (3, 13.1-13.3).
    Source: known truth: p and pool recall are counted in the catalogue itself; an AUC's exact value is what it would be
    over all queries of the kind, computed from `population` further catalogues of 1,000 queries.
    Conventions: AUCs are on the pool's labels. A uniform draw without replacement is one hypergeometric count of
    positives in each stratum: the same as drawing pairs.
    Example: notebooks/03_scores_and_bias.ipynb.
    """
    if replications < 1 or population < 1:
        raise InputError(f"{replications} replications, {population} populations", hint="Give at least one of each.")
    exact = exact_aucs(design, labelling, population, seed)
    rows = []
    for number in range(replications):
        known = draw_known_truth(design, [seed, number])
        rng = np.random.Generator(np.random.PCG64([seed, number, 1]))
        result = [*_shares(known, labelling, rng), *_aucs(known, labelling, exact, number)]
        rows += [(name, number, *values) for name, values in result]
        if progress:
            progress(number + 1, replications)
    return pd.DataFrame(rows, columns=["target", "replication", "exact", "estimate", "low", "high"])


def covered(study: pd.DataFrame) -> pd.DataFrame:
    """By target: how often the limits held the exact number, with Wilson limits of that; mean error and width."""
    inside = (study["low"] <= study["exact"]) & (study["exact"] <= study["high"])
    values = study.assign(inside=inside, error=study["estimate"] - study["exact"], width=study["high"] - study["low"])
    result = values.groupby("target", sort=False).agg(
        replications=("inside", "size"), covered=("inside", "mean"), error=("error", "mean"), width=("width", "mean")
    )
    low, high = wilson_interval((result["covered"] * result["replications"]).round(), result["replications"])
    return result.assign(low=low, high=high)[["replications", "covered", "low", "high", "error", "width"]]


def exact_aucs(design: Design, labelling: Labelling, population: int, seed: int) -> Reals:
    """The four AUCs (4,) of the first generator over very many queries of the kind."""
    wide = Design(**{**vars(design), "queries": 1000, "outsiders": 0})
    parts = [draw_known_truth(wide, [seed, number, 2]) for number in range(population)]
    result = [list(_report(*_labelled(known, known.proposed(labelling.k))).values()) for known in parts]
    return np.asarray(np.mean(result, axis=0))


def _shares(
    known: KnownTruth, labelling: Labelling, rng: np.random.Generator
) -> Sequence[tuple[str, tuple[float, float, float, float]]]:
    pool = known.proposed(labelling.k)
    near = known.proposed(labelling.near_k) & ~pool
    size, every = known.similar.size, int(known.similar.sum())
    positives = int(known.similar[pool].sum())
    a = int(rng.hypergeometric(every, size - every, labelling.draws))
    posterior = p_posterior(a, labelling.draws, p_lower_bound(positives, size), labelling.level)
    limits = (
        clopper_pearson_interval(a, labelling.draws, labelling.level),
        wilson_interval(a, labelling.draws, labelling.level),
        (posterior["lower"], posterior["upper"]),
    )
    estimates = (a / labelling.draws, a / labelling.draws, posterior["mean"])
    result = [
        (name, (known.prevalence, estimate, *pair))
        for name, estimate, pair in zip(PREVALENCE, estimates, limits, strict=True)
    ]
    item = [_drawn(known, ~pool, labelling.draws, rng)]
    two = [
        _drawn(known, near, labelling.near, rng),
        _drawn(known, ~pool & ~near, labelling.draws - labelling.near, rng),
    ]
    for name, strata, way in zip(RECALL, (item, two, two), ("simultaneous", "simultaneous", "squared"), strict=True):
        values = pool_recall(positives, strata, labelling.level, way)
        result.append((name, (positives / every, values["recall"], values["lower"], values["upper"])))
    return result


def _drawn(known: KnownTruth, stratum: Flags, draws: int, rng: np.random.Generator) -> dict[str, int]:
    size, positive = int(stratum.sum()), int(known.similar[stratum].sum())
    n = min(draws, size)
    return {"N": size, "n": n, "a": int(rng.hypergeometric(positive, size - positive, n)) if n else 0}


def _aucs(
    known: KnownTruth, labelling: Labelling, exact: Reals, seed: int
) -> Sequence[tuple[str, tuple[float, float, float, float]]]:
    labelled, score = _labelled(known, known.proposed(labelling.k))
    by_query = query_aucs(labelled.query, labelled.value, score, len(labelled.queries))

    def micro(place: int) -> Interval:
        return bootstrap_interval(
            lambda times: resampled_micro(labelled, score, times)[place],
            len(labelled.queries),
            labelling.level,
            labelling.resamples,
            seed,
        )

    limits = [micro(0), micro(1), *(mean_interval(area, level=labelling.level) for area in by_query)]
    estimates = _report(labelled, score)
    return [
        (name, (true, estimates[name], interval.low, interval.high))
        for name, true, interval in zip(AUCS, exact.tolist(), limits, strict=True)
    ]


def _report(labelled: LabelledPairs, score: Reals) -> dict[str, float]:
    result = summary(labelled, score)
    return {name: result[name] for name in AUCS}


def _labelled(known: KnownTruth, pairs: Flags) -> tuple[LabelledPairs, Reals]:
    """The flagged pairs' labels, and the first generator's scores of them in the same order."""
    return LabelledPairs.from_frame(known.truth(pairs)), known.score[0][pairs]
