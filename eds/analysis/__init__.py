"""Stage `analysis`: what the tables say about cost, bias and certainty. See README.md."""

from eds.analysis.bias import Bias, bias, group_means, order_agreement, undecided_by_labels
from eds.analysis.bootstrap import bootstrap_aucs, bootstrap_micro_auc, bootstrap_percentile, draw_queries
from eds.analysis.budget import Plan, budget
from eds.analysis.chao import chapman_estimate, unseen_positives
from eds.analysis.compare import compare_models, indistinguishable
from eds.analysis.fairness import Fairness, Pooled, fair_to_new, fairness
from eds.analysis.interval_coverage import Labelling, coverage_study, covered
from eds.analysis.leave_one_out import leave_one_out
from eds.analysis.paired import benjamini_hochberg, holm, sign_flip_test
from eds.analysis.planning import neyman_allocation, sample_size, whole_allocation
from eds.analysis.prevalence import (
    chebyshev_bound,
    chebyshev_sample_size,
    discovery_gain,
    p_lower_bound,
    p_map,
    p_posterior,
)
from eds.analysis.rank_correlation import kendall_tau, spearman, tau_ap, tau_ap_b
from eds.analysis.recall import horvitz_thompson, pool_recall, stratified_estimate
from eds.analysis.reusability import reusability, reusability_table
from eds.analysis.score_intervals import score_limits

__all__ = [
    "Bias",
    "Fairness",
    "Labelling",
    "Plan",
    "Pooled",
    "benjamini_hochberg",
    "bias",
    "bootstrap_aucs",
    "bootstrap_micro_auc",
    "bootstrap_percentile",
    "budget",
    "chapman_estimate",
    "chebyshev_bound",
    "chebyshev_sample_size",
    "compare_models",
    "coverage_study",
    "covered",
    "discovery_gain",
    "draw_queries",
    "fair_to_new",
    "fairness",
    "group_means",
    "holm",
    "horvitz_thompson",
    "indistinguishable",
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
