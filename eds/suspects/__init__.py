"""Suspects: pairs worth an expert's time. In: neighbors, images. Out: table suspects. See README.md."""

from eds.suspects.benchmark_labels import benchmark_labels, usable_labels
from eds.suspects.cost import expected_draws_for_positives, labelling_cost, n_pairs
from eds.suspects.gold_and_repeats import add_pairs, draw_gold, draw_repeats, without_orphans
from eds.suspects.lists import labels_frame, lists_frame, shared_ranks
from eds.suspects.negatives import NegativeRule, WindowPairs, draw_negatives, sampled_negatives
from eds.suspects.new_model_pairs import Delta, draw_delta
from eds.suspects.overlap import overlap, pool_growth
from eds.suspects.partial_estimates import prefix_weights
from eds.suspects.pool import Batching, pool, reorder, reversed_pairs, within_depth
from eds.suspects.positive_rates import pair_rate, positive_rates
from eds.suspects.random_pairs import RankWindow, draw_random, without_draw
from eds.suspects.relevance import Relevance, pair_features, relevance
from eds.suspects.sources import sources_frame
from eds.suspects.weighted_pairs import WeightedDraw, draw_weighted

__all__ = [
    "Batching",
    "Delta",
    "NegativeRule",
    "RankWindow",
    "Relevance",
    "WeightedDraw",
    "WindowPairs",
    "add_pairs",
    "benchmark_labels",
    "draw_delta",
    "draw_gold",
    "draw_negatives",
    "draw_random",
    "draw_repeats",
    "draw_weighted",
    "expected_draws_for_positives",
    "labelling_cost",
    "labels_frame",
    "lists_frame",
    "n_pairs",
    "overlap",
    "pair_features",
    "pair_rate",
    "pool",
    "pool_growth",
    "positive_rates",
    "prefix_weights",
    "relevance",
    "reorder",
    "reversed_pairs",
    "sampled_negatives",
    "shared_ranks",
    "sources_frame",
    "usable_labels",
    "within_depth",
    "without_draw",
    "without_orphans",
]
