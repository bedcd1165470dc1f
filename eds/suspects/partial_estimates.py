"""What a judged part of the pool says of the whole pool, without bias, whatever the order was."""

import numpy as np
import pandas as pd

from eds.pairs import Flags, Reals, in_sorted, pair_keys, unique_ids
from eds.tables import SUSPECTS, check


def drawn_in_batches(suspects: pd.DataFrame) -> Flags:
    """Which rows a call of `pool` dealt into batches: their stratum is `pool@` and its first batch."""
    return suspects["stratum"].fillna("").str.startswith("pool@").to_numpy(np.bool_)


def prefix_weights(suspects: pd.DataFrame, judged_pairs: pd.DataFrame) -> Reals:
    """A weight for every suspect, float64, so that a judged part speaks for its stratum of the pool.

    The sum of weight x label over judged rows of one stratum is an unbiased estimate of its positives.

    Formula: for batch t, T_t = sum of labels in batches before t + sum over batch t of label / probability;
    every T_t is unbiased given the batches before it. The estimate is their mean, weighted with the
    rows judged in each batch. A batch of which m of n rows are judged counts with n / m.
    Source: Des Raj, JASA 51 (1956), for batches drawn one after another.
    Conventions: the weights of a stratum that is judged completely are 1 (a census). Batches count up
    to the first of which nothing is judged; rows behind it, unjudged rows and other origins weigh 0.
    Example, run by doctest:
    >>> two = pd.DataFrame({"query_id": "q", "candidate_id": ["a", "b"], "origin": "pool", "batch": [0, 1],
    ...     "position": [0, 1], "sources": "m:0", "stratum": "pool@0", "probability": [0.5, 1.0]})
    >>> prefix_weights(two, two.head(1)).tolist(), prefix_weights(two, two).tolist()
    ([2.0, 0.0], [1.0, 1.0])
    """
    check(suspects, SUSPECTS)
    queries, candidates = unique_ids(suspects["query_id"]), unique_ids(suspects["candidate_id"])
    done = np.sort(pair_keys(judged_pairs, queries, candidates))
    is_judged = in_sorted(done, pair_keys(suspects, queries, candidates))
    in_pool = drawn_in_batches(suspects)
    weights = np.zeros(len(suspects))
    batch, chance = suspects["batch"].to_numpy(), suspects["probability"].to_numpy()
    numbers, place = np.unique(batch[in_pool], return_inverse=True)
    size, part = np.bincount(place), np.bincount(place, is_judged[in_pool])
    for stratum in suspects.loc[in_pool, "stratum"].unique():
        rows = in_pool & (suspects["stratum"] == stratum).to_numpy()
        if is_judged[rows].all():
            weights[rows] = 1.0
            continue
        first = int(np.searchsorted(numbers, int(stratum.partition("@")[2])))
        behind = np.flatnonzero(part[first:] == 0)
        last = first + int(behind[0]) if len(behind) else len(numbers)
        if last == first:
            continue
        share = part[first:last] / part[first:last].sum()
        later = share.sum() - np.cumsum(share)
        used = rows & is_judged & (batch < numbers[last - 1] + 1)
        step = np.searchsorted(numbers[first:last], batch[used])
        scale = size[first:last] / part[first:last]
        weights[used] = scale[step] * (share[step] / chance[used] + later[step])
    return weights
