"""Which function of the library computes which quantity of the specification's vectors; no arithmetic here."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from eds import suspects
from eds.neighbors.rules import top_k
from eds.suspects import labels_frame, lists_frame
from eds.suspects.positive_rates import Rate, positive_rates
from tests import spec_hashing, spec_metrics, spec_truth

if find_spec("torch"):  # an install without it does everything but train
    from tests.spec_training import QUANTITIES as TRAINING
else:
    TRAINING = {}


def evaluate(quantity: str, inputs: Mapping[str, Any]) -> Any:
    """The quantity for these keyword arguments; "nan" and "inf" as text stand for such scores."""
    return QUANTITIES[quantity](**{name: _numbers(value) for name, value in inputs.items()})


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(part) for part in value]
    return float(value) if isinstance(value, str) and value in ("nan", "inf", "-inf") else value


def _suspect_pool(
    queries: Sequence[str], gallery: Sequence[str], scores: Mapping[str, Sequence[Sequence[float]]], k: int
) -> Any:
    lists = {
        model: {query: top_k(query, gallery, row, k) for query, row in zip(queries, rows, strict=True)}
        for model, rows in scores.items()
    }
    frame = lists_frame(lists)
    pairs = suspects.pool(frame, k).sort_values(["query_id", "candidate_id"], ignore_index=True)
    by_pair = suspects.sources_frame(pairs).groupby(["query_id", "candidate_id"])[["model", "rank"]]
    cut = frame[frame["rank"] < k]
    return {
        "per_model": {name: cut.loc[cut["model"] == name, cut.columns[1:]].to_numpy().tolist() for name in lists},
        "pool": pairs[["query_id", "candidate_id"]].to_numpy().tolist(),
        "size": len(pairs),
        "size_upper_bound": len(lists) * sum(min(k, len(set(gallery) - {query})) for query in queries),
        "provenance": [[*pair, proposed.to_numpy().tolist()] for pair, proposed in by_pair],
    }


OVERLAP, GROWTH = suspects.overlap, suspects.pool_growth


def _positive_rate(suspects: Any, labels: Any) -> dict[str, Any]:
    rates = positive_rates(lists_frame(suspects), labels_frame(labels))

    def counts(rate: Rate) -> dict[str, Any]:
        return {"size": rate.pairs, "labelled": rate.labelled, "positive": rate.positive, "rate": rate.value}

    return {"by_model": {name: counts(rate) for name, rate in rates.by_model.items()}, "pool": counts(rates.pool)}


def _positive_rate_by_rank(suspects: Any, labels: Any) -> dict[str, list[list[int]]]:
    rates = positive_rates(lists_frame(suspects), labels_frame(labels)).by_model_and_rank
    return {name: [[rate.positive, rate.labelled] for rate in ranks] for name, ranks in rates.items()}


QUANTITIES: dict[str, Callable[..., Any]] = {
    "top_k": top_k,
    "official_ranking": lambda max_k, **inputs: top_k(k=max_k, exclude_same_item=True, one_per_item=True, **inputs),
    "suspect_pool": _suspect_pool,
    "n_pairs": suspects.n_pairs,
    "labelling_cost": suspects.labelling_cost,
    "expected_draws_for_positives": suspects.expected_draws_for_positives,
    "overlap": lambda suspects: OVERLAP(
        lists_frame(suspects), n_queries=len({query for told in suspects.values() for query in told})
    ),
    "pool_growth": lambda suspects, k_max: GROWTH(lists_frame(suspects), k_max),
    "positive_rate": _positive_rate,
    "positive_rate_by_rank": _positive_rate_by_rank,
    "sampled_negatives": lambda query, rankings, lo=100, hi=500, n=5, seed=0, exclude_top=True, **inputs: (
        suspects.sampled_negatives(query, rankings, suspects.NegativeRule(lo, hi, n, seed, exclude_top), **inputs)
    ),
    **spec_truth.QUANTITIES,
    **spec_metrics.QUANTITIES,
    **spec_hashing.QUANTITIES,
    **TRAINING,
}
