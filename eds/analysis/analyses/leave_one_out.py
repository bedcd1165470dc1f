"""Models' AUC without the labels of each pool model.

Also: whether the order of the models stays.
"""

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.paired import difference_interval
from eds.analysis.rank_correlation import spearman, tau_ap, tau_ap_b
from eds.analysis.reduced_pools import AREAS, OrderedScores, proposals
from eds.choices import LeaveOneOutMode
from eds.errors import InputError
from eds.intervals import RESAMPLES, Interval
from eds.metrics.auc_report import two_sided
from eds.metrics.measure import Measure
from eds.metrics.pair_scores import align_scores
from eds.metrics.single_list import mean
from eds.pairs import LabelledPairs, Reals

MODES: tuple[str, ...] = get_args(LeaveOneOutMode)
MEASURES = tuple(Measure(area, average=average) for average in ("macro", "micro") for area in AREAS)
MICRO = Measure("ROC-AUC", average="micro")
INPUTS = ("pool_lists", "labels", "scores")


@dataclass(frozen=True)
class Options:
    """What to compute."""

    measures: tuple[Measure, ...] = option(MEASURES, "Areas under the curve to compute.")
    modes: tuple[str, ...] = option(
        MODES, "unique: drop labels of pairs that the model alone proposed; all: of every pair that it proposed."
    )


@dataclass(frozen=True)
class LeaveOneOut:
    """A measure of every model with each generator's labels taken away; see `leave_one_out` for the formulas."""

    mode: str
    measure: str
    full: dict[str, float]  # by evaluated model, on all labels
    loo: dict[str, dict[str, float]]  # by removed model, then by evaluated model
    mean: dict[str, float]  # by evaluated model, over the removed ones
    std: dict[str, float]
    spearman: dict[str, dict[str, float]]  # by removed model: how far the order stays
    prevalence: dict[str, float]  # by evaluated model
    self_removal_shift: dict[str, float]  # by generator
    self_removal_interval: dict[str, Interval]
    n_labels: int
    n_labels_kept: dict[str, int]  # by removed model
    n_labels_nobody_proposed: int


def analyse(inputs: AnalysisInputs, options: Options) -> list[LeaveOneOut]:
    """`leave_one_out` for each mode and measure."""
    return [leave_one_out(inputs, measure, mode) for mode in options.modes for measure in options.measures]


def leave_one_out(
    inputs: AnalysisInputs,
    measure: Measure = MICRO,
    mode: str = "unique",
    ddof: int = 0,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> LeaveOneOut:
    """Every model's AUC with each generator's labels taken away.

    Formula: loo[r][m] is the measure of m on the labels kept without r: in mode `unique` all but those of pairs that r
    alone proposed, in mode `all` those of pairs that r did not propose; mean and std over r for each evaluated model m;
    Spearman, tau_AP and tau_AP,b between full and loo[r] for each removed model r; self_removal_shift[m] =
    loo[m][m] - full[m], with the interval of the bootstrap over queries; prevalence[m] = the share of positives that
    full[m] rests on, the chance level of a PR-AUC.
    Source: specification 6.1; 5.2 for the prevalence; 13.4 for tau_AP.
    Conventions: `pool_lists` are lists (model, query_id, candidate_id); full is over all labels; labels of pairs that
    nobody proposed (`n_labels_nobody_proposed`, of an imported or enlarged benchmark) stay in both modes, so that `all`
    lies within `unique` within full; undefined entries (NaN) are left out of mean and std and make that row's
    correlations undefined; every model with scores is evaluated, generator or not; prevalence of a macro measure is the
    mean over the queries it averages.
    Example: see tests/analysis/test_resampling.py, against loops, and the specification's vectors.
    """
    if measure.name not in AREAS or mode not in MODES:
        raise InputError(
            f"measure {measure}, mode {mode!r}", hint=f"Measures: {', '.join(AREAS)}; modes: {', '.join(MODES)}."
        )
    pool_lists, labels, scores = inputs.require(*INPUTS)
    labelled = LabelledPairs.from_frame(labels)
    removed, proposed = proposals(pool_lists, labelled)
    if not removed:
        raise InputError("no generator is named", where="suspects", hint="Give the lists that the pool was made of.")
    times = proposed.sum(axis=0)
    kept = ~(proposed & (times == 1)) if mode == "unique" else ~proposed
    full: dict[str, float] = {}
    prevalence: dict[str, float] = {}
    intervals: dict[str, Interval] = {}
    loo: dict[str, dict[str, float]] = {name: {} for name in removed}
    for model, score in align_scores(labelled, scores).items():
        ordered = OrderedScores.of(labelled, score)
        every = ordered.by_query(measure, np.ones(len(score), np.bool_))
        columns = [ordered.by_query(measure, part) for part in kept]
        full[model] = mean(every)
        values = [mean(column) for column in columns]
        if model in removed:
            own = columns[removed.index(model)]
            shares = np.ones(len(every)), np.ones(len(every))
            intervals[model] = difference_interval(every, own, shares, level, resamples, inputs.seed)
        prevalence[model] = _prevalence(labelled, score, measure)
        for name, value in zip(removed, values, strict=True):
            loo[name][model] = value
    table = np.array([list(row.values()) for row in loo.values()]).reshape(len(removed), len(full))
    return LeaveOneOut(
        mode=mode,
        measure=str(measure),
        full=full,
        loo=loo,
        mean=dict(zip(full, _column(table, 0, ddof), strict=True)),
        std=dict(zip(full, _column(table, 1, ddof), strict=True)),
        spearman={name: _order_kept(list(full.values()), list(row.values())) for name, row in loo.items()},
        prevalence=prevalence,
        self_removal_shift={name: loo[name][name] - full[name] for name in removed if name in full},
        self_removal_interval={name: intervals[name] for name in removed if name in full},
        n_labels=len(labelled.value),
        n_labels_kept=dict(zip(removed, kept.sum(axis=1).tolist(), strict=True)),
        n_labels_nobody_proposed=int((times == 0).sum()),
    )


def _prevalence(labelled: LabelledPairs, score: Reals, measure: Measure) -> float:
    """The share of positives among the pairs that the measure is computed on."""
    scored = np.isfinite(score)
    query, value, n = labelled.query[scored], labelled.value[scored], len(labelled.queries)
    if measure.parameters["average"] == "micro":
        return float(value.mean()) if len(value) else float("nan")
    used = two_sided(query, value, n)
    shares = np.bincount(query, value, n)[used] / np.bincount(query, minlength=n)[used]
    return float(shares.mean()) if used.any() else float("nan")


def _column(table: npt.NDArray[np.float64], which: int, ddof: int) -> list[float]:
    """Mean (0) or standard deviation (1) of each column, undefined entries left out."""
    result = []
    for column in table.T:
        defined = column[~np.isnan(column)]
        if which == 0:
            result.append(float(defined.mean()) if len(defined) else float("nan"))
        else:
            result.append(float(defined.std(ddof=ddof)) if len(defined) > ddof else float("nan"))
    return result


def _order_kept(full: list[float], reduced: list[float]) -> dict[str, float]:
    if np.isnan(full).any() or np.isnan(reduced).any():
        return dict.fromkeys(("rho", "p_t", "p_exact", "tau_ap", "tau_ap_b"), float("nan"))
    return {**spearman(full, reduced), "tau_ap": tau_ap(full, reduced), "tau_ap_b": tau_ap_b(full, reduced)}
