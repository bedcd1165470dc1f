"""Stage `analysis`: what the tables say about cost, bias and certainty. See README.md."""

from typing import Any

from eds.analysis.analyses.bias import Bias, bias, group_means, order_agreement
from eds.analysis.analyses.leave_one_out import leave_one_out
from eds.analysis.analyses.reusability import reusability, reusability_table
from eds.analysis.bootstrap import bootstrap_micro_auc, bootstrap_percentile
from eds.analysis.chao import chapman_estimate, unseen_positives
from eds.analysis.compare import compare
from eds.analysis.comparison import Comparison, MeasureComparison
from eds.analysis.fairness import MeasureFairness, grade_fairness
from eds.analysis.inputs import AnalysisInputs, make_options
from eds.analysis.label_bounds import undecided_by_labels
from eds.analysis.paired import benjamini_hochberg, holm, sign_flip_test
from eds.analysis.planning import neyman_allocation, sample_size, whole_allocation
from eds.analysis.prevalence_estimates import (
    chebyshev_bound,
    chebyshev_sample_size,
    discovery_gain,
    p_lower_bound,
    p_map,
    p_posterior,
)
from eds.analysis.rank_correlation import kendall_tau, spearman, tau_ap, tau_ap_b
from eds.analysis.recall import horvitz_thompson, pool_recall, stratified_estimate
from eds.analysis.score_intervals import score_interval, score_limits
from eds.registry import ANALYSES

__all__ = [
    "AnalysisInputs",
    "Bias",
    "Comparison",
    "MeasureComparison",
    "MeasureFairness",
    "analyse",
    "benjamini_hochberg",
    "bias",
    "bootstrap_micro_auc",
    "bootstrap_percentile",
    "chapman_estimate",
    "chebyshev_bound",
    "chebyshev_sample_size",
    "compare",
    "discovery_gain",
    "grade_fairness",
    "group_means",
    "holm",
    "horvitz_thompson",
    "kendall_tau",
    "leave_one_out",
    "neyman_allocation",
    "order_agreement",
    "p_lower_bound",
    "p_map",
    "p_posterior",
    "pool_recall",
    "reusability",
    "reusability_table",
    "sample_size",
    "score_interval",
    "score_limits",
    "sign_flip_test",
    "spearman",
    "stratified_estimate",
    "tau_ap",
    "tau_ap_b",
    "undecided_by_labels",
    "unseen_positives",
    "whole_allocation",
]


def analyse(name: str, inputs: AnalysisInputs, **options: Any) -> Any:
    """Run the analysis of that name (a file of eds/analysis/analyses/) and return its document."""
    analysis = ANALYSES.load(name)
    return analysis.analyse(inputs, make_options(analysis.Options, options, f"analysis {name}"))
