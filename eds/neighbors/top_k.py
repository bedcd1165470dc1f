"""The list of one query, from plain lists: the definition that every engine is held against."""

import math
from collections.abc import Mapping, Sequence

from eds.errors import InputError


def top_k(
    query: str,
    gallery: Sequence[str],
    scores: Sequence[float],
    k: int,
    item_of: Mapping[str, str] | None = None,
    exclude_same_item: bool = False,
    one_per_item: bool = False,
) -> list[str]:
    """The first k ids of the gallery without the query.

    Formula: sort D_-q by (score descending, id ascending); drop images of the query's own item; keep
    the first image of each item; cut at k.
    Source: specification 1.1; the public evaluator's list is this with both options on (4.1).
    Conventions: ids compare by Unicode code point; an image that `item_of` does not know is its own
    item; k above what is left returns all that is left.
    Example, run by doctest:
    >>> top_k("q", ["d", "b", "a", "c"], [0.5, 0.9, 0.5, 0.5], 3)
    ['b', 'a', 'c']
    """
    if len(gallery) != len(scores):
        raise InputError(f"{len(gallery)} ids but {len(scores)} scores", where="top_k", do="Give one score per id.")
    faults = [] if k >= 1 else [f"k is {k}; give a number from 1 up"]
    seen: set[str] = set()
    faults += [f"id {name!r} stands there twice" for name in gallery if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    faults += [
        f"score of {name!r} is {float(score)}"
        for name, score in zip(gallery, scores, strict=True)
        if not math.isfinite(float(score))
    ]
    if faults:
        raise InputError("no list can be made of this", where="top_k", do="Mend:", faults=faults)
    items = item_of or {}
    # Tuples mark an image without an item: no item's name can equal them.
    own = items.get(query, (query,))
    found: list[str] = []
    taken: set[object] = set()
    for _, name in sorted((-float(score), name) for name, score in zip(gallery, scores, strict=True)):
        item = items.get(name, (name,))
        if name == query or (exclude_same_item and item == own) or (one_per_item and item in taken):
            continue
        taken.add(item)
        found.append(name)
        if len(found) == k:
            break
    return found
