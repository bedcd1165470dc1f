"""Small lists drawn with signs, for the examples in docstrings: + similar, - not, ? unlabelled."""

import numpy as np

from eds.metrics.judged_lists import JudgedLists
from eds.pairs import UNLABELLED

SIGNS = {"+": 1, "-": 0, "?": UNLABELLED}


def lists(*drawn: str) -> JudgedLists:
    """One query for each text; every labelled item is in the lists.

    >>> lists("+?", "-").label.tolist()
    [1, -1, 0]
    """
    label = np.array([SIGNS[sign] for text in drawn for sign in text], np.int64)
    query = np.repeat(np.arange(len(drawn)), [len(text) for text in drawn])
    place = np.array([place for text in drawn for place in range(1, len(text) + 1)], np.int64)
    counts = (np.bincount(query[label == value], minlength=len(drawn)) for value in (1, 0))
    return JudgedLists(query, place, label, label >= 0, *counts)
