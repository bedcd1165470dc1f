"""The models' lists, checked once and kept as arrays: what pooling and its analyses start from."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import RankedLists, format_ids
from eds.suspects.codes import whole
from eds.tables import check_model_name

COLUMNS = ["model", "query_id", "candidate_id", "rank"]


def read_lists(
    frame: pd.DataFrame,
    k: int | None = None,
    models: Sequence[str] | None = None,
    *,
    rankings: bool = True,
    shared: Sequence[str] = (),
) -> RankedLists:
    """The lists of `frame` (columns model, query_id, candidate_id, rank), cut at depth k, checked.

    Refused: wrong columns or values, a missing model, a pair or a rank that occurs twice in one list, a query in its
    own list. With `rankings=False` (lists read back from sources) a rank may repeat, and in the lists of the models
    `shared` (see `shared_ranks`).
    """
    lists = RankedLists.from_frame(frame, None if k is None else whole(k, "k", 1), models)
    for name in lists.models:
        check_model_name(name)
    lists.check_ranks(shared if rankings else lists.models)
    return lists


def shared_ranks(lists: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """The lists, those of `models` with candidates of one score at one rank, that of the first of them.

    Formula: rank = |{candidates of the list with a larger score}|.
    Source: specification 0: ranks are by score, then by id; a cut through a group of ties would be by id alone.
    Conventions: needs the column score; a cut `rank < k` then takes a tie group whole, or leaves it.
    Example, run by doctest:
    >>> codes = pd.DataFrame({"model": "m", "query_id": "q", "candidate_id": list("abc"), "rank": [0, 1, 2],
    ...                       "score": [-1.0, -3.0, -3.0]})
    >>> shared_ranks(codes, ["m"])["rank"].tolist()
    [0, 1, 1]
    """
    if not len(models):
        return lists
    if "score" not in lists.columns:
        raise InputError("ties are unknown without scores", where="table neighbors", hint="Mine them again.")
    mine = lists["model"].isin(list(models))
    first = lists[mine].groupby(["model", "query_id", "score"], sort=False)["rank"].transform("min")
    rank = lists["rank"].copy()
    rank[mine] = first
    return lists.assign(rank=rank)


def check_comparable(lists: RankedLists, k: int) -> None:
    """Refuse models whose lists cover different queries, or end before depth k where others reach on."""
    if not lists.models:
        raise InputError("there are no lists to pool", where="table neighbors", hint="Make them: eds neighbors mine.")
    sizes = np.minimum(lists.sizes(), k)  # whole tie groups make a list longer
    faults = []
    for number, model in enumerate(lists.models):
        missing = np.flatnonzero(sizes[:, number] == 0)
        if len(missing):
            ids = format_ids(lists.queries, missing)
            faults.append(f"model {model} has no list for {len(missing):,} of {len(sizes):,} queries: {ids}")
    depth, deepest = sizes.max(axis=0), int(sizes.max())
    faults += [
        f"the lists of model {model} end at depth {depth[number]}, others reach {deepest}"
        for number, model in enumerate(lists.models)
        if depth[number] < deepest
    ]
    if faults:
        raise InputError(
            f"the models' lists cannot be pooled fairly at k = {k}",
            where="table neighbors",
            hint="Mine every model over the same queries and depth (eds neighbors mine), or leave models out: "
            "--models.",
            faults=faults,
        )


def lists_frame(lists: Mapping[str, Mapping[str, Iterable[str]]]) -> pd.DataFrame:
    """Plain lists {model: {query: [candidates in rank order]}} as a frame model, query_id, candidate_id, rank.

    >>> lists_frame({"m": {"q": ["b", "a"]}}).to_numpy().tolist()
    [['m', 'q', 'b', 0], ['m', 'q', 'a', 1]]
    """
    rows = [
        (model, query, candidate, rank)
        for model, by_query in lists.items()
        for query, candidates in by_query.items()
        for rank, candidate in enumerate(candidates)
    ]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(COLUMNS)}
    return pd.DataFrame({**columns, "rank": np.array(columns["rank"], np.int64)}).astype(
        dict.fromkeys(COLUMNS[:3], "str")
    )


def labels_frame(labels: Iterable[tuple[str, str, int]]) -> pd.DataFrame:
    """Plain labels [query, candidate, 0 or 1] as a frame query_id, candidate_id, value."""
    rows = list(labels)
    return pd.DataFrame(
        {
            "query_id": pd.Series([row[0] for row in rows], dtype="str"),
            "candidate_id": pd.Series([row[1] for row in rows], dtype="str"),
            "value": np.array([row[2] for row in rows], np.int64),
        }
    )
