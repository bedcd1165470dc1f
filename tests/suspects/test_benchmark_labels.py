"""Which labels models are measured on."""

import pandas as pd

from eds.suspects import benchmark_labels
from eds.suspects.benchmark_labels import PAIR


def test_labels_of_draws_are_no_labels_of_the_benchmark() -> None:
    """A random draw or sampled negative alone is none; a pair that is of the pool, too, is."""
    names = ["pool", "both", "random", "negative", "gold"]
    pairs = pd.DataFrame({"query_id": ["q"] * 5, "candidate_id": names, "value": [1, 0, 0, 0, 1]})
    origins = [
        ("pool", "pool"),
        ("both", "pool"),
        ("both", "random"),
        ("random", "random"),
        ("random", "negative"),
        ("negative", "negative"),
        ("gold", "gold"),
    ]
    suspects = pd.DataFrame([("q", name, origin) for name, origin in origins], columns=[*PAIR, "origin"])
    assert benchmark_labels(pairs, suspects)["candidate_id"].tolist() == ["pool", "both", "gold"]
    assert benchmark_labels(pairs, None)["candidate_id"].tolist() == names
