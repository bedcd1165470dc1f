"""The specification's quantities that eds.metrics and eds.analysis answer, by name; inputs are keyword arguments."""

from collections.abc import Callable
from typing import Any

from eds import analysis, metrics
from eds.metrics import Measure, scores_frame
from eds.suspects import labels_frame, lists_frame

LOO, REUSABILITY = analysis.leave_one_out, analysis.reusability
AREAS = {
    f"{average}_{area.lower().replace('-', '_')}": Measure(area, average=average)
    for average in ("micro", "macro")
    for area in ("ROC-AUC", "PR-AUC")
}

QUANTITIES: dict[str, Callable[..., Any]] = {
    "p_lower_bound": analysis.p_lower_bound,
    "p_map": analysis.p_map,
    "p_posterior": analysis.p_posterior,
    "chebyshev_bound": analysis.chebyshev_bound,
    "chebyshev_sample_size": analysis.chebyshev_sample_size,
    "discovery_gain": analysis.discovery_gain,
    "absolute_rank_metrics": lambda rankings, labels, k: metrics.absolute_rank_metrics(
        lists_frame({"model": rankings}), labels_frame(labels), k
    ),
    "identity_metrics": lambda rankings, **given: metrics.identity_metrics(
        lists_frame({"model": rankings}), **given, queries=list(rankings)
    ),
    "roc_auc": metrics.roc_auc,
    "pr_auc": metrics.pr_auc,
    "auc_report": lambda scores, labels: metrics.auc_report(scores_frame({"model": scores}), labels_frame(labels)),
    "leave_one_out": lambda suspects, labels, scores, metric="micro_roc_auc", **given: vars(
        LOO(
            analysis.AnalysisInputs(
                pool_lists=lists_frame(suspects), labels=labels_frame(labels), scores=scores_frame(scores)
            ),
            AREAS[metric],
            **given,
        )
    ),
    "spearman": analysis.spearman,
    "sample_size": analysis.sample_size,
    "neyman_allocation": analysis.neyman_allocation,
    "stratified_estimate": analysis.stratified_estimate,
    "horvitz_thompson": analysis.horvitz_thompson,
    "pool_recall": analysis.pool_recall,
    "bootstrap_percentile": analysis.bootstrap_percentile,
    "bootstrap_micro_auc": lambda scores, labels, resamples: analysis.bootstrap_micro_auc(
        scores_frame({"model": scores}), labels_frame(labels), resamples
    ),
    "sign_flip_test": analysis.sign_flip_test,
    "holm": analysis.holm,
    "benjamini_hochberg": analysis.benjamini_hochberg,
    "kendall_tau": analysis.kendall_tau,
    "tau_ap": analysis.tau_ap,
    "tau_ap_b": analysis.tau_ap_b,
    "reusability": lambda suspects, labels, rankings, k: REUSABILITY(
        analysis.AnalysisInputs(
            pool_lists=lists_frame(suspects), labels=labels_frame(labels), rankings=lists_frame(rankings)
        ),
        Measure("VSD-HR", k),
    ),
    "incomplete_metrics": metrics.incomplete_metrics,
    "xinf_ap": metrics.xinf_ap,
    "unseen_positives": analysis.unseen_positives,
    "chapman_estimate": analysis.chapman_estimate,
}
