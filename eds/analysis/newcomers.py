"""Which models are new: they had no part in selecting the judged pairs, or only selected pairs were added later."""

from collections.abc import Collection, Iterable

import pandas as pd

from eds.suspects.new_model_pairs import STRATUM

# The makers' lists where it is not known who made the pool.
UNMADE = pd.DataFrame({name: pd.Series([], dtype="str") for name in ("model", "query_id", "candidate_id")})


def chosen_for(strata: Iterable[object]) -> list[str]:
    """The models for which pairs were chosen: their judged pairs are their own finds.

    >>> chosen_for(["outside", "delta:b", None, "delta:a", "delta:b"])
    ['a', 'b']
    """
    return sorted({item.removeprefix(STRATUM) for item in strata if isinstance(item, str) and item.startswith(STRATUM)})


def less_judged(proposals: pd.DataFrame, labels: pd.DataFrame, makers: Collection[str]) -> list[str]:
    """Of the models that made the pool, those whose own finds are judged less than half as far as another maker's.

    Formula: own finds of a maker are the pairs that no other maker proposed (`proposals`: model, query_id,
    candidate_id); it is less judged if (labelled + 1) / own < max over the makers of labelled / own / 2.
    Source: own. Pairs that also others found were judged for them; one's own finds are what labels favour a maker by.
    Conventions: `labels` (query_id, candidate_id) have a label; the 1 keeps a handful of pairs from deciding.
    Example, run by doctest:
    >>> pairs = pd.DataFrame({"model": list("aaaaaabbbbbb"), "query_id": "q", "candidate_id": list("abcdefghijkl")})
    >>> less_judged(pairs, pairs.head(6), ["a", "b"])
    ['b']
    """
    pair = ["query_id", "candidate_id"]
    made = proposals.loc[proposals["model"].isin(makers), ["model", *pair]].drop_duplicates()
    own = made[~made.duplicated(pair, keep=False)]
    labelled = own.merge(labels[pair].drop_duplicates(), on=pair).groupby("model").size()
    counts = own.groupby("model").size()
    judged = labelled.reindex(counts.index, fill_value=0)
    most = float((judged / counts).max()) if len(counts) else 0.0
    return sorted(counts.index[(judged + 1) / counts < most / 2])


def new_models(models: Iterable[str], makers: Collection[str], strata: Iterable[object]) -> list[str]:
    """Of these models, in their order, the new ones; `strata` are those of the suspects.

    >>> new_models(["c", "b", "a"], ["a", "b"], ["delta:a"])
    ['c', 'a']
    """
    later = chosen_for(strata)
    return [name for name in models if name not in makers or name in later]
