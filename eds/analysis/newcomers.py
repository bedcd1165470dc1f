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


def new_models(models: Iterable[str], makers: Collection[str], strata: Iterable[object]) -> list[str]:
    """Of these models, in their order, the new ones; `strata` are those of the suspects.

    >>> new_models(["c", "b", "a"], ["a", "b"], ["delta:a"])
    ['c', 'a']
    """
    later = chosen_for(strata)
    return [name for name in models if name not in makers or name in later]
