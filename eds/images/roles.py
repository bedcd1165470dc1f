"""Which images are queries: all of them, a sample, or a separate (wild) set.

Formula
    Stratum c (a category; images without one form a stratum of their own) with N_c of N images gives
    n_c queries of n: floor(n N_c / N), and the queries left over go to the largest remainders.
    Within a stratum those with the smallest sha256(seed, image_id) are drawn.
Conventions
    The draw depends on ids, categories and seed only, never on the order of rows. A query that is
    drawn from the catalogue stays a candidate (`both`); an image of a wild phase is a `query` only.
"""

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError


def assign_roles(
    images: pd.DataFrame,
    *,
    queries: Literal["all"] | int | float = "all",
    wild_phases: Sequence[str] = (),
    seed: int = 0,
    chosen: Collection[str] | None = None,
) -> pd.DataFrame:
    """The images with new roles: `queries` is "all", a number of images or a share between 0 and 1.

    With `wild_phases` only images of those phases can be queries, and all others are candidates. `chosen` are the ids
    of the queries where they are not to be drawn.

    >>> images = pd.DataFrame({"image_id": list("abcd"), "category": ["x", "x", "y", "y"], "phase": None})
    >>> sorted(assign_roles(images, queries=2)["role"])
    ['both', 'both', 'candidate', 'candidate']
    """
    phases = images["phase"]
    unknown = sorted(set(wild_phases) - set(phases.dropna()))
    if unknown:
        known = ", ".join(sorted(phases.dropna().unique())) or "none"
        raise InputError(f"no image has phase {', '.join(unknown)}", hint=f"Phases of these images: {known}.")
    wild = phases.isin(list(wild_phases)).to_numpy(dtype=bool) if wild_phases else np.ones(len(images), dtype=bool)
    if wild_phases and wild.all():
        raise InputError(
            "every image would be a query and none a candidate", hint="Leave out a phase that holds the catalogue."
        )
    if chosen is not None:
        drawn = wild & images["image_id"].isin(list(chosen)).to_numpy(dtype=bool)
    else:
        wanted = count_queries(queries, int(wild.sum()))
        drawn = np.zeros(len(images), dtype=bool)
        drawn[np.flatnonzero(wild)[_draw(images[wild], wanted, seed)]] = True
    roles = np.where(drawn, "query" if wild_phases else "both", "candidate")
    kept = drawn | ~wild | (not wild_phases)  # a wild image that was not drawn is left out of the project
    assigned: pd.DataFrame = images.assign(role=roles).loc[kept].reset_index(drop=True)
    return assigned


def count_queries(queries: Literal["all"] | int | float, among: int) -> int:
    """How many of so many images are queries; refused where that cannot be."""
    if queries == "all":
        return among
    if isinstance(queries, bool) or not isinstance(queries, (int, float)):
        raise InputError(f"queries is {queries!r}", hint='Use "all", a number of images, or a share such as 0.1.')
    if isinstance(queries, float) and 0 < queries < 1:
        return max(1, round(queries * among))
    if isinstance(queries, int) and 1 <= queries <= among:
        return queries
    raise InputError(f"queries is {queries}", hint=f"Use a number from 1 to {among:,}, or a share between 0 and 1.")


def _draw(images: pd.DataFrame, wanted: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw `wanted` rows, stratified by category: int64 positions."""
    names = images["category"].astype(object).where(images["category"].notna(), "").astype(str).to_numpy(dtype=object)
    kinds, codes = np.unique(names.astype(str), return_inverse=True)
    sizes = np.bincount(codes, minlength=len(kinds))
    quotas = wanted * sizes // max(len(images), 1)
    remainders = wanted * sizes - quotas * len(images)  # whole numbers, so that ties are exact
    largest = np.argsort(-remainders, kind="stable")[: wanted - int(quotas.sum())]  # ties by category name
    quotas[largest] += 1
    ids = images["image_id"].tolist()
    lots = np.array([hashlib.sha256(f"{seed}\0{name}".encode()).digest() for name in ids], dtype="S32")
    order = np.lexsort((lots, codes))
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(quotas, sizes)])
