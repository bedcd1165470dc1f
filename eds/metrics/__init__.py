"""Metrics: what a model's lists and scores are worth against the truth. See README.md."""

from eds.metrics.auc import pr_auc, roc_auc
from eds.metrics.auc_report import auc_report
from eds.metrics.inputs import ScoringInputs
from eds.metrics.measure import Measure, definitions
from eds.metrics.pair_scores import scores_frame
from eds.metrics.presets import PRESETS, Preset, preset
from eds.metrics.product_retrieval import identity_metrics
from eds.metrics.score import Result, evaluate, score, scores_table
from eds.metrics.single_list import absolute_rank_metrics, incomplete_metrics
from eds.metrics.xinf_ap import xinf_ap

__all__ = [
    "PRESETS",
    "Measure",
    "Preset",
    "Result",
    "ScoringInputs",
    "absolute_rank_metrics",
    "auc_report",
    "definitions",
    "evaluate",
    "identity_metrics",
    "incomplete_metrics",
    "pr_auc",
    "preset",
    "roc_auc",
    "score",
    "scores_frame",
    "scores_table",
    "xinf_ap",
]
