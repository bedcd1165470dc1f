"""The models' lists, checked once and kept as arrays: what pooling and its analyses start from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError
from eds.pairs import Flags, Integers, distinct, encode
from eds.schema import Table, to_arrow
from eds.suspects.codes import whole
from eds.tables import NEIGHBORS, check_model_name

COLUMNS = ["model", "query_id", "candidate_id", "rank"]
LISTS = Table(
    "neighbors", NEIGHBORS.row, NEIGHBORS.key, tuple(item for item in NEIGHBORS.columns if item.name in COLUMNS)
)


@dataclass(frozen=True, eq=False)
class Lists:
    """Rows of the models' lists as codes; each array is int64 with one entry per row."""

    models: list[str]
    queries: pa.Array  # distinct ids, ascending
    candidates: pa.Array
    model: Integers
    query: Integers
    candidate: Integers
    rank: Integers

    @property
    def keys(self) -> Integers:
        """The pair key of every row."""
        return self.query * max(len(self.candidates), 1) + self.candidate

    def sizes(self) -> Integers:
        """Length of every list: queries x models."""
        shape = (len(self.queries), len(self.models))
        return np.bincount(self.query * shape[1] + self.model, minlength=shape[0] * shape[1]).reshape(shape)


def read_lists(
    frame: pd.DataFrame,
    k: int | None = None,
    models: Sequence[str] | None = None,
    *,
    rankings: bool = True,
    shared: Sequence[str] = (),
) -> Lists:
    """The lists of `frame` (columns model, query_id, candidate_id, rank), cut at depth k, checked.

    Refused: wrong columns or values, a model that is not there, a pair or a rank that stands twice in
    one list, a query in its own list. With `rankings=False` (what sources tell of several times) a rank
    may stand twice, and in the lists of the models `shared` (see `shared_ranks`).
    """
    kept = frame[[name for name in COLUMNS if name in frame.columns]]
    if k is not None:
        whole(k, "k", 1)
        if "rank" in kept.columns and pd.api.types.is_numeric_dtype(kept["rank"]):
            kept = kept[~(kept["rank"] >= k)]
    if models is not None and "model" in frame.columns:
        _check_models(models, frame["model"])
        kept = kept[kept["model"].isin(list(models))]
    arrow = to_arrow(kept, LISTS)
    names = {name: distinct(arrow[name]) for name in COLUMNS[:3]}
    model, query, candidate = (encode(arrow[name], names[name]) for name in COLUMNS[:3])
    found = Lists(
        [check_model_name(name) for name in names["model"].to_pylist()],
        names["query_id"],
        names["candidate_id"],
        model,
        query,
        candidate,
        arrow["rank"].to_numpy().astype(np.int64),
    )
    _check_rows(found, set(found.models if not rankings else shared))
    return found


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
        raise InputError("ties cannot be told without scores", where="table neighbors", do="Mine them again.")
    mine = lists["model"].isin(list(models))
    first = lists[mine].groupby(["model", "query_id", "score"], sort=False)["rank"].transform("min")
    rank = lists["rank"].copy()
    rank[mine] = first
    return lists.assign(rank=rank)


def check_comparable(lists: Lists, k: int) -> None:
    """Refuse models whose lists cover different queries, or end before depth k where others reach on."""
    if not lists.models:
        raise InputError("there are no lists to pool", where="table neighbors", do="Make them: eds neighbors mine.")
    sizes = np.minimum(lists.sizes(), k)  # whole tie groups make a list longer
    faults = []
    for number, model in enumerate(lists.models):
        missing = np.flatnonzero(sizes[:, number] == 0)
        if len(missing):
            shown = ", ".join(repr(lists.queries[row].as_py()) for row in missing[:3].tolist())
            more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            faults.append(f"model {model} has no list for {len(missing):,} of {len(sizes):,} queries: {shown}{more}")
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
            do="Mine every model over the same queries and depth (eds neighbors mine), or leave models out: --models.",
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


def _check_models(models: Sequence[str], column: "pd.Series[str]") -> None:
    known = set(column.unique())
    unknown = [name for name in models if name not in known]
    if unknown or not models:
        raise InputError(
            f"no lists of model {', '.join(unknown)}" if unknown else "no model is named",
            where="table neighbors",
            do=f"Known: {', '.join(sorted(map(str, known))) or 'none'}.",
        )


def _check_rows(lists: Lists, shared: set[str]) -> None:
    own = pc.fill_null(pc.index_in(lists.candidates, value_set=lists.queries), -1).to_numpy(zero_copy_only=False)
    themselves = (own[lists.candidate] == lists.query) if len(lists.query) else np.zeros(0, np.bool_)
    depth = int(lists.rank.max(initial=0)) + 1
    place = (lists.query * max(len(lists.models), 1) + lists.model) * depth + lists.rank
    strict = np.array([name not in shared for name in lists.models], np.bool_)[lists.model]
    again = np.zeros(len(place), np.bool_)
    again[strict] = _again(place[strict])
    faults = [
        *_told(lists, np.asarray(themselves), "lists the query itself"),
        *_told(lists, again, "has two candidates at one rank"),
    ]
    if faults:
        raise InputError(
            "the models' lists are not rankings", where="table neighbors", do="Mine them again.", faults=faults
        )


def _again(place: Integers) -> Flags:
    """Rows whose place stood there before; (rows,) bool."""
    if int(place.max(initial=-1)) < 4 * len(place) and np.bincount(place).max(initial=0) < 2:
        return np.zeros(len(place), np.bool_)  # the usual case, without a hash of all rows
    return pd.Series(place).duplicated().to_numpy()


def _told(lists: Lists, bad: Flags, what: str) -> list[str]:
    rows = np.flatnonzero(bad)
    return [
        f"row {row}: model {lists.models[lists.model[row]]}, query {lists.queries[lists.query[row]].as_py()!r} {what}"
        f" (rank {lists.rank[row]})"
        for row in rows[:3].tolist()
    ] + ([f"and {len(rows) - 3:,} more rows"] if len(rows) > 3 else [])
