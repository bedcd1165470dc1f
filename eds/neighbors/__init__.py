"""Stage `neighbors`: each model's most similar candidates for each query, and ranks of given pairs.

in: embeddings/<model>, images; out: table neighbors. Not here: which pairs are judged (suspects).
"""

from eds.neighbors.mine import Mined, mine, mine_with_recall
from eds.neighbors.ranks import pair_ranks, pair_scores
from eds.neighbors.rules import Rules, top_k

__all__ = ["Mined", "Rules", "mine", "mine_with_recall", "pair_ranks", "pair_scores", "top_k"]
