"""Which labels models are measured on."""

import pandas as pd

from eds.suspects import benchmark_labels
from eds.suspects.benchmark_labels import PAIR


def test_random_draws_serve_p_alone() -> None:
    """A pair that is there as a random draw only is not a label of the benchmark; one that is of the pool, too, is."""
    names = ["pool", "both", "random", "gold"]
    pairs = pd.DataFrame({"query_id": ["q"] * 4, "candidate_id": names, "value": [1, 0, 0, 1]})
    origins = [
        ("pool", "pool"),
        ("both", "pool"),
        ("both", "random"),
        ("random", "random"),
        ("random", "negative"),
        ("gold", "gold"),
    ]
    suspects = pd.DataFrame([("q", name, origin) for name, origin in origins], columns=[*PAIR, "origin"])
    assert benchmark_labels(pairs, suspects)["candidate_id"].tolist() == ["pool", "both", "gold"]
    assert benchmark_labels(pairs, None)["candidate_id"].tolist() == names
