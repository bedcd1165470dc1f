"""The quantities of sections 7, 8 and 10, hashing, and the functions that compute them."""

from collections.abc import Callable
from typing import Any

from eds.hashing import code_usage, codes, collisions, single_ranking, ties

QUANTITIES: dict[str, Callable[..., Any]] = {
    "hamming": codes.hamming,
    "hamming_ranking": codes.hamming_ranking,
    "ap_at_p": single_ranking.ap_at_p,
    "map_at_p": single_ranking.map_at_p,
    "ndcg_at_p": single_ranking.ndcg_at_p,
    "radius_precision": single_ranking.radius_precision,
    "tie_metrics": ties.tie_metrics,
    "lgap": collisions.lgap,
    "mlgap": collisions.mlgap,
    "code_usage": code_usage.code_usage,
    "utilisation_bound": code_usage.utilisation_bound,
}
